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
// reconnects sends the last one it received, and continues after it.
class EventStream {
 public:
  EventStream(Engine& engine, ReadEvents query) : engine_(engine), query_(std::move(query)) {}

  // The place to begin at, before anything has happened.
  Async<std::string> begin();

  // The next events. Waits for the first of them; if there is none for `silence_max`, a comment that
  // keeps the connection alive.
  Async<std::string> next(Millis silence_max);

 private:
  Async<EventPage> read(Millis wait);

  Engine& engine_;
  ReadEvents query_;
};

}  // namespace ff::http
