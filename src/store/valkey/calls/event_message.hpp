// Changes as the function library reports them: in the reply to the caller, and to all processes on the
// partition's channel.
#pragma once

#include "core/execution/event.hpp"
#include "store/valkey/caches/ready_cache.hpp"

namespace ff::valkey_store {

struct EventMessage {
  std::string origin;  // who made the change
  core::ExecutionChange change;
  IndexedReady indexed;  // what to know of it if it is claimable
  // Counts the changes of the execution. None: it is new, or the message is of an older program.
  std::optional<Version> version = {};
  bool is_event = true;  // false: it only tells of effects
};

// The changes of one call. What is not known, because it is of a newer version, is left out.
std::vector<EventMessage> parse_events(std::string_view text);

// The execution whose streams have new frames, if the message tells that.
std::optional<ExecutionId> parse_frames(std::string_view text);

CapabilitySet capabilities_in(std::string_view csv);
core::Needs needs_in(std::string_view capabilities, std::string_view budgets,
                     std::string_view quota, std::string_view fairness = {});
// The three, joined by byte 31, and weight and key of the fourth if it has one.
core::Needs needs_in(std::string_view joined);

std::vector<std::string> split_csv(std::string_view csv);
// Those that are ids; others count for nothing.
template <class Id>
std::vector<Id> ids_in(std::string_view csv) {
  std::vector<Id> ids;
  for (const auto& text : split_csv(csv))
    if (auto id = Id::parse(text)) ids.push_back(*id);
  return ids;
}

// Other programs may write a fraction; the whole part counts, but for the score.
std::int32_t priority_in(const std::string& text);
std::int64_t score_in(const std::string& priority, TimePoint queued_at);
std::optional<core::TimerKind> timer_kind_from(std::string_view name);
std::string_view name_of(core::TimerKind kind);

}  // namespace ff::valkey_store
