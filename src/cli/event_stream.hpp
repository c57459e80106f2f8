// Following the events of an engine until SIGINT or SIGTERM.
#pragma once

#include <flowfabric/engine.hpp>

#include <csignal>

#include "cli/command.hpp"

namespace ff::cli {

class EventStream {
 public:
  // Takes SIGINT and SIGTERM from here on.
  EventStream(Engine& engine, ReadEvents query);

  struct Page {
    std::uint32_t limit = 0;  // 0: any
    bool wait = true;         // for the first event, for a second or so
  };
  // The next events, if there are any. Says on standard error when some are missing.
  Result<EventPage> next(Page page);

  // A signal came.
  bool stopped() const;

 private:
  Engine& engine_;
  ReadEvents query_;
};

// One line, for a person or a program.
void print_event(const Context& context, const Event& event);

}  // namespace ff::cli
