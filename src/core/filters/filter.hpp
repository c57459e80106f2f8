// The filter language of lists and bulk jobs: terms, all of which must hold.
//
//   filter := term (blanks term)*
//   term   := key ':' value            state:failed,expired   lane:gpu   tag:app.user=42   priority:>5
//   value  := text, or "text" with \" and \\ in it
//
//   state     names, comma-separated: any of them
//   lane, kind, flow, worker
//   tag       key=value; may be repeated
//   priority  N, >N, >=N, <N, <=N
//   created, ended   >T, >=T, <T, <=T; T is 2026-01-31T12:00:00Z, 2026-01-31 or -2h: so long ago
//
// Every term is decided by the record of an execution, so that a look costs the same for each record; nothing
// else (payloads, results, texts of failures) can be asked for.
#pragma once

#include "core/execution/execution.hpp"

namespace ff::core {

// Either bound may be missing; `before` is exclusive.
struct TimeRange {
  std::optional<TimePoint> from = {};
  std::optional<TimePoint> before = {};

  bool is_open() const { return !from && !before; }
  bool is_empty() const { return from && before && *from >= *before; }
  bool contains(TimePoint time) const {
    return (!from || time >= *from) && (!before || time < *before);
  }
  bool operator==(const TimeRange&) const = default;
};

struct Filter {
  std::vector<ExecutionState> states = {};  // any of them, each once; none: all states
  std::optional<LaneId> lane = {};
  std::optional<Kind> kind = {};
  Tags tags = {};
  std::optional<FlowId> flow = {};
  std::optional<WorkerId> worker = {};  // that holds the lease
  std::int32_t priority_from = 0;
  std::int32_t priority_to = limits::priority_max;  // inclusive
  TimeRange created = {};
  TimeRange ended = {};
  bool operator==(const Filter&) const = default;

  bool is_empty() const { return *this == Filter{}; }
  bool shows(ExecutionState state) const;  // by `states` alone
};

// `now` is what relative times count from. Fails with invalid_input, whose message names the position (from 1) and
// what is allowed there: unknown terms, malformed values, terms that contradict each other, and what is not in the
// record of an execution.
Result<Filter> parse_filter(std::string_view text, TimePoint now);

// The filter as text, with absolute times; parse_filter reads it back.
std::string to_text(const Filter& filter);

// The filter of a list: `where` and the fields beside it. Fails as parse_filter does.
Result<Filter> filter_of(const ListExecutions& list, TimePoint now);

// Whether an execution may match: which of `waiting` and `rate_limited` it is may have to be derived.
bool may_match(const Filter& filter, const Execution& execution);

}  // namespace ff::core
