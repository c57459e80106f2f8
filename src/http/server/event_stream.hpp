// Lifecycle events as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include <string>

namespace ff::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// What to send next, as text of the stream. Each event carries its place as `id`; a client that comes
// back says the last one it saw, and goes on behind it.
class EventStream {
 public:
  EventStream(Engine& engine, ReadEvents query, Millis silence_max)
      : engine_(engine), query_(std::move(query)), silence_max_(silence_max) {}

  // The place to begin at, before anything has happened.
  Async<std::string> begin();

  // The next events. Waits for the first of them; if there is none for `silence_max`, a comment that
  // keeps the connection alive.
  Async<std::string> next();

 private:
  Async<EventPage> read(Millis wait);

  Engine& engine_;
  ReadEvents query_;
  const Millis silence_max_;
};

}  // namespace ff::http
