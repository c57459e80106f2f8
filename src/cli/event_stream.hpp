// Following the events of an engine.
#pragma once

#include <flowfabric/engine.hpp>

#include <stop_token>

#include "cli/command.hpp"

namespace ff::cli {

class EventStream {
 public:
  EventStream(Engine& engine, ReadEvents query, std::stop_token stop)
      : engine_(engine), query_(std::move(query)), stop_(std::move(stop)) {}

  struct Page {
    std::uint32_t limit = 0;  // 0: any
    bool wait = true;         // for the first event, until it is stopped
  };
  // The next events, maybe none. Says on standard error when some are missing.
  Result<EventPage> next(Page page);

 private:
  Engine& engine_;
  ReadEvents query_;
  std::stop_token stop_;
};

// One line, for a person or a program.
void print_event(const Context& context, const Event& event);

}  // namespace ff::cli
