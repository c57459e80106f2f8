// Conditions: which signals resume a suspended execution. Pure functions, mirrored in Lua
// (store/valkey/lua/lib/conditions.lua).
#pragma once

#include <flowfabric/operations.hpp>

#include <set>
#include <string>
#include <vector>

namespace ff::core {

// A signal as a condition sees it.
struct Arrival {
  SignalId id;
  SignalName name;
  std::optional<WaitpointKey> waitpoint = {};  // none: sent to the execution itself
  SignalSource source = {};
};

// The signals that have counted so far, for each part that takes signals (OneSignal, CountOf), in the order in which a
// reader meets them. A part keeps no more than it needs.
struct Tally {
  std::vector<std::vector<std::string>> parts;
  bool operator==(const Tally&) const = default;
};

// Whether a condition took a signal; of several parts, the best answer.
enum class Match : std::uint8_t {
  not_asked,   // no part asks for signals of this waitpoint
  other_name,  // some do, of other names
  repeated,    // an equal one has counted before, or enough have
  counted,
};

Match count_signal(const Condition& condition, Tally& tally, const Arrival& arrival);
bool is_satisfied(const Condition& condition, const Tally& tally);

// One phrase: what the condition waits for, and how far it is.
std::string describe_progress(const Condition& condition, const Tally& tally);

// Refuses a condition that is too large, or that signals could never satisfy, with the path of the offending
// part (`condition.all[1]`).
struct ConditionTerms {
  std::vector<WaitpointKey> waitpoints = {};  // keys of those that the suspension binds
  bool has_timeout = false;
  std::uint32_t signals_max = limits::signals_max;  // that the execution takes
};
Result<void> check_condition(const Condition& condition, const ConditionTerms& terms);
ConditionTerms terms_of(const Suspend& command);

}  // namespace ff::core
