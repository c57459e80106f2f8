// A source of server-sent events, read part by part.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/time.hpp>

#include <string>
#include <string_view>

namespace ff::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// Whether a request with this Accept header asks for a stream rather than for JSON.
bool prefers_event_stream(std::string_view accept);

class SentEvents {
 public:
  virtual ~SentEvents() = default;

  // The events known at the start. An empty text means that the source has ended.
  virtual Async<std::string> begin() = 0;

  // The next events. Waits for the first of them; if there is none for `silence_max`, a comment that keeps the
  // connection alive.
  virtual Async<std::string> next(Millis silence_max) = 0;

  // Nothing comes after what was returned last.
  virtual bool is_over() const { return false; }
};

inline constexpr std::string_view still_here = ": still here\n\n";

}  // namespace ff::http
