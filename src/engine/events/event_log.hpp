// The latest lifecycle events, for those who follow them.
#pragma once

#include <flowfabric/operations.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution/event.hpp"

namespace ff {

// Whether an event is one of those that a query asks for.
bool matches(const Event& event, const ReadEvents& query);

// Keeps so many events in memory; a reader that is slower than that hears that some are missing. A place in
// the log is "<name of the log>-<number>": after a restart, old places are known to be old. Thread-safe.
class EventLog {
 public:
  EventLog(std::string name, std::size_t events_max) : name_(std::move(name)), max_(events_max) {}

  void append(std::span<const core::ExecutionChange> changes);

  // Events may be missing here: whoever reads on hears of it.
  void note_gap();

  // The matching events after the query's place, without waiting. invalid_input if the place is invalid.
  Result<EventPage> read(const ReadEvents& query) const;

  std::string end() const { return place(end_number()); }

  // Events are numbered from 0.
  std::uint64_t end_number() const;
  std::string place(std::uint64_t number) const;
  std::uint64_t number_of(std::string_view place) const;  // of a place that this log gave

  struct Slice {
    std::uint64_t first;  // later than asked for if those before it are gone
    std::vector<std::shared_ptr<const Event>> events;
  };
  // The events from `number` on, at most `max`.
  Slice since(std::uint64_t number, std::size_t max) const;

 private:
  struct Position {
    bool of_this_log;
    std::uint64_t number;
  };
  Result<Position> parse(std::string_view text) const;

  const std::string name_;
  const std::size_t max_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Event>> events_;
  std::uint64_t end_ = 0;  // the number of the next event
};

}  // namespace ff
