// The latest lifecycle events, for those who follow them.
#pragma once

#include <flowfabric/operations.hpp>

#include <deque>
#include <mutex>
#include <span>
#include <string>

#include "core/execution/event.hpp"

namespace ff {

// Keeps so many events in memory; who is slower than that is told that some are missing. A place in the
// log is "<name of the log>-<number>": after a restart, old places are known to be old. Thread-safe.
class EventLog {
 public:
  EventLog(std::string name, std::size_t events_max) : name_(std::move(name)), max_(events_max) {}

  void append(std::span<const core::Happening> happenings);

  // What matches after the query's place, without waiting. invalid_input if the place is none.
  Result<EventPage> read(const ReadEvents& query) const;

  std::string end() const;

 private:
  struct Place {
    bool of_this_log;
    std::uint64_t number;
  };
  Result<Place> parse(const std::string& text) const;
  std::string place(std::uint64_t number) const;

  const std::string name_;
  const std::size_t max_;
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::uint64_t end_ = 0;  // the number of the next event
};

}  // namespace ff
