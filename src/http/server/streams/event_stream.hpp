// Lifecycle events as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include <optional>

#include "http/server/streams/sent_events.hpp"

namespace ff::http {

// The text of an event stream, part by part. Each event carries its place as `id`; a client that
// reconnects with the same query sends the last one it received, and continues after it.
//   id := place | place '~' count      (`count` events of the query after the place)
class EventStream final : public SentEvents {
 public:
  EventStream(Engine& engine, ReadEvents query);

  // The place to begin at, before anything has happened.
  Async<std::string> begin(std::size_t bytes_max) override;
  Async<std::string> next(Millis silence_max, std::size_t bytes_max) override;
  void step_back() override;

 private:
  Async<std::string> read(Millis wait);

  Engine& engine_;
  ReadEvents query_;
  std::uint32_t seen_ = 0;                   // of the events after the query's place
  std::optional<std::string> after_before_;  // the last call
  std::uint32_t seen_before_ = 0;
};

}  // namespace ff::http
