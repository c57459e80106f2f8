#include "tests/property/invariants.hpp"

#include <algorithm>

#include "tests/property/agreement.hpp"
#include "tests/property/derived_state.hpp"

namespace ff::property {
namespace {

using LaneState = std::pair<LaneId, ExecutionState>;
using Counts = std::map<LaneState, std::uint64_t>;

std::string show(const Counts& counts) {
  std::string text;
  for (const auto& [where, count] : counts)
    text += fmt::format(" {}/{}={}", where.first.str(), to_string(where.second), count);
  return text;
}

}  // namespace

void Invariants::check_touched(bool replayed) {
  // An id can be submitted anew, even in the millisecond of its removal.
  for (const auto& id : driver_.model().removed()) seen_.erase(id);
  for (const auto& id : driver_.take_touched())
    if (id.partition() < Model::partition_count) check_execution(id, replayed);
}

void Invariants::check_execution(const ExecutionId& id, bool replayed) {
  auto& world = driver_.world();
  const auto info = world.run(GetExecution{id});
  const auto* modelled = driver_.model().find(id);
  if (!modelled) {
    seen_.erase(id);
    expect(!info && info.error().code == Errc::execution_not_found,
           "it should not exist: " + property::show(info));
    return;
  }
  expect(info.has_value(), id.str() + " should exist: " + property::show(info));
  check_info(*info, *modelled);
  if (const auto before = seen_.find(id); before != seen_.end())
    check_change(before->second, *info, replayed);
  seen_.insert_or_assign(id, *info);
  check_attempts(*modelled);
}

namespace {

// Neither the model nor a store that was just opened knows the live workers: the lack of a capable one
// changes nothing but this label.
ExecutionInfo without_label(ExecutionInfo info) {
  auto& vector = info.state_vector;
  if (vector.blocking_reason != BlockingReason::waiting_for_capable_worker) return info;
  vector.blocking_reason = BlockingReason::waiting_for_worker;
  vector.eligibility_state = EligibilityState::eligible_now;
  info.blocking_detail.reset();
  return info;
}

}  // namespace

void Invariants::check_info(const ExecutionInfo& info, const Modelled& modelled) {
  const auto expected = info_of(modelled, info);
  if (without_label(info) != expected)
    disagree(fmt::format("engine {}\n  model  {}", property::show(info), property::show(expected)));
  expect(derived_state(info.state_vector) == info.state && is_sound(info.state_vector),
         "its states do not fit together: " + property::show(info));
}

void Invariants::check_change(const ExecutionInfo& before, const ExecutionInfo& after,
                              bool replayed) {
  expect(after.created_at == before.created_at, "it was created again: " + property::show(after));
  expect(after.lease_epoch >= before.lease_epoch && after.attempts >= before.attempts &&
             after.replays >= before.replays,
         "a count went back: " + property::show(after));
  if (!is_terminal(before.state) || replayed) return;
  auto but_for_tags = before;
  but_for_tags.tags = after.tags;
  expect(after == but_for_tags, "it changed after its end: " + property::show(after));
}

void Invariants::check_attempts(const Modelled& modelled) {
  const auto attempts = must(driver_.world().run(GetAttempts{modelled.id})).attempts;
  std::vector<AttemptOutcome> outcomes;
  for (const auto& each : attempts) {
    expect(each.index == outcomes.size(), "an attempt is missing");
    const bool open =
        each.outcome == AttemptOutcome::running || each.outcome == AttemptOutcome::paused;
    expect(open != each.ended_at.has_value(), "an attempt's end and outcome do not fit together");
    outcomes.push_back(each.outcome);
  }
  expect(outcomes == modelled.attempts,
         fmt::format("{} has other attempts than the model: {} and {}", modelled.id.str(),
                     outcomes.size(), modelled.attempts.size()));
}

// Leases follow each other: the next is acquired when the one before has ended.
void Invariants::check_leases(const Modelled& modelled) {
  const auto history = must(driver_.world().run(GetLeaseHistory{modelled.id})).events;
  std::uint64_t epoch = 0;
  bool held = false;
  for (const auto& event : history) {
    if (event.type == LeaseEventType::replay_initiated) continue;
    const bool acquired = event.type == LeaseEventType::acquired;
    expect(acquired != held, modelled.id.str() + " has two leases at once");
    held = acquired;
    epoch += acquired ? 1 : 0;
    expect(event.lease_epoch == LeaseEpoch{epoch}, modelled.id.str() + " has a gap in its epochs");
    expect(event.lease_id == modelled.fences.at(epoch - 1).lease_id, "the lease is another one");
  }
  expect(epoch == modelled.fences.size(), modelled.id.str() + " has forgotten a lease");
  expect(held == (modelled.phase == Phase::active), "the newest lease has no end, or two");
}

void Invariants::check_result(const Modelled& modelled) {
  const auto result = driver_.world().run(GetResult{modelled.id});
  if (modelled.phase != Phase::ended)
    return expect(!result && result.error().code == Errc::execution_not_terminal,
                  modelled.id.str() + " has a result before its end");
  if (modelled.end_state != ExecutionState::completed)
    return expect(!result && result.error().code == Errc::execution_failed,
                  modelled.id.str() + " has a result although it did not complete");
  expect(
      result && result->absent == !modelled.result && result->bytes == modelled.result.value_or(""),
      modelled.id.str() + " has another result");
  const auto payload = must(driver_.world().run(GetPayload{modelled.id}));
  expect(payload.bytes == modelled.submit.payload, modelled.id.str() + " has another payload");
}

void Invariants::check_one_lease() {
  for (const auto& [id, modelled] : driver_.model().executions()) {
    if (modelled.fences.size() < 2) continue;
    const auto now = driver_.world().now();
    for (const auto& fence : modelled.fences) {
      const bool holds = modelled.phase == Phase::active && modelled.until > now &&
                         fence == modelled.fences.back();
      // Renewing for what is left of it changes nothing.
      const auto left = holds ? modelled.until - now : Millis{1000};
      const auto renewed = driver_.world().run(Renew{.id = id, .fence = fence, .lease_ttl = left});
      expect(renewed.has_value() == holds,
             fmt::format("{} and lease {}: {}", id.str(), property::show(fence),
                         property::show(renewed)));
    }
  }
}

// ---- Everything ------------------------------------------------------------------------------------

void Invariants::check_all(bool replayed) {
  for (const auto& id : driver_.model().removed()) check_execution(id, replayed);
  for (const auto& [id, modelled] : driver_.model().executions()) {
    check_execution(id, replayed);
    check_leases(modelled);
    check_result(modelled);
  }
  check_one_lease();
  for (unsigned n = 0; n < namespace_count; ++n) {
    check_lists(namespace_of(n));
    for (unsigned tag = 0; tag < tag_count; ++tag)
      check_tag(namespace_of(n), tag_key(tag), tag_value(tag % 2));
  }
}

std::vector<ExecutionInfo> Invariants::list(ListExecutions query) {
  std::vector<ExecutionInfo> all;
  do {
    auto page = must(driver_.world().run(query));
    std::ranges::move(page.executions, std::back_inserter(all));
    query.cursor = std::move(page.next);
  } while (query.cursor);
  return all;
}

// Each execution is in exactly one place: what is counted is what is listed, and what the model says.
void Invariants::check_lists(const Namespace& ns) {
  Counts counted;
  for (const auto& each : must(driver_.world().run(CountExecutions{.ns = ns})).counts)
    counted[{each.lane, each.state}] = each.count;
  Counts modelled;
  for (const auto& [id, each] : driver_.model().executions())
    if (each.submit.ns == ns) ++modelled[{each.submit.lane, state_of(each)}];
  Counts listed;
  const auto all = list({.ns = ns, .limit = 7});
  for (const auto& each : all) {
    ++listed[{each.lane, each.state}];
    const auto* known = driver_.model().find(each.id);
    expect(known, "a list has what does not exist: " + property::show(each));
    check_info(each, *known);
  }
  if (counted != modelled || listed != modelled)
    disagree(fmt::format("counted{}\n  listed{}\n  model{}", show(counted), show(listed),
                         show(modelled)));
  expect(std::ranges::is_sorted(all, std::greater{}, &ExecutionInfo::created_at),
         "the list does not begin with the newest");
}

void Invariants::check_tag(const Namespace& ns, const std::string& key, const std::string& value) {
  std::set<ExecutionId> expected;
  for (const auto& [id, each] : driver_.model().executions())
    if (const auto tag = each.tags.find(key);
        each.submit.ns == ns && tag != each.tags.end() && tag->second == value)
      expected.insert(id);
  std::set<ExecutionId> listed;
  for (const auto& each : list({.ns = ns, .tag = key + "=" + value, .limit = 3}))
    expect(listed.insert(each.id).second, "a list by tag has an execution twice");
  expect(listed == expected, fmt::format("the list of {}={} has {} executions instead of {}", key,
                                         value, listed.size(), expected.size()));
}

void Invariants::check_indexes() {
  const auto repaired = driver_.world().repaired();
  expect(repaired == 0, fmt::format("{} entries of the indexes had to be repaired", repaired));
}

void Invariants::check_directory() {
  const auto everything = [this] {
    std::vector<ExecutionInfo> all;
    for (unsigned n = 0; n < namespace_count; ++n)
      for (auto& info : list({.ns = namespace_of(n)})) all.push_back(without_label(std::move(info)));
    return all;
  };
  const auto before = everything();
  const auto report = driver_.world().check();
  expect(report.problem_count == 0,
         fmt::format("the data directory is not sound: {}", fmt::join(report.problems, "; ")));
  expect(report.live + report.ended == driver_.model().executions().size(),
         "the data directory has more or fewer executions");
  expect(everything() == before, "an engine that opens the directory anew lists something else");
}

}  // namespace ff::property
