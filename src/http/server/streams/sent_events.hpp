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

  // The events known at the start. Like next(), it ends with the event that reaches `bytes_max`.
  virtual Async<std::string> begin(std::size_t bytes_max) = 0;

  // The next events. Waits for the first of them; if there is none for `silence_max`, a comment that keeps the
  // connection alive.
  virtual Async<std::string> next(Millis silence_max, std::size_t bytes_max) = 0;

  // The events of the last call were not sent: the next call returns them again.
  virtual void step_back() = 0;

  // Nothing comes after what was returned last.
  virtual bool is_over() const { return false; }
};

inline constexpr std::string_view still_here = ": still here\n\n";

}  // namespace ff::http
