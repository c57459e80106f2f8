// Lifecycle events as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include <string>
#include <string_view>

namespace ff::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// Whether a request with this Accept header asks for a stream rather than for JSON.
bool prefers_event_stream(std::string_view accept);

// The text of an event stream, part by part. Each event carries its place as `id`; a client that
// reconnects with the same query sends the last one it received, and continues after it.
//   id := place | place '~' count      (`count` events of the query after the place)
class EventStream {
 public:
  EventStream(Engine& engine, ReadEvents query);

  // The place to begin at, before anything has happened.
  Async<std::string> begin();

  // The next events. Waits for the first of them; if there is none for `silence_max`, a comment that
  // keeps the connection alive.
  Async<std::string> next(Millis silence_max);

 private:
  Async<std::string> read(Millis wait);

  Engine& engine_;
  ReadEvents query_;
  std::uint32_t seen_ = 0;  // of the events after the query's place
};

}  // namespace ff::http
