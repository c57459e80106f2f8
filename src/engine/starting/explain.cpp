#include "engine/starting/explain.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.hpp"
#include "base/text/rfc3339.hpp"
#include "base/try.hpp"
#include "engine/starting/start_gate.hpp"

namespace ff {
namespace {

std::string time_text(const std::optional<TimePoint>& time) {
  return time ? to_rfc3339(*time) : std::string("an unknown time");
}

Obstacle missing_worker(const ExecutionInfo& info, const std::vector<WorkerInfo>& workers) {
  const auto& required = info.policy.required_capabilities;
  if (workers.empty() && !required.empty())
    return {
        .reason = BlockingReason::waiting_for_capable_worker,
        .detail = fmt::format("no worker is alive in namespace {}; it needs the capabilities {}",
                              info.ns.str(), required.csv()),
        .remedy = fmt::format("start one for lane {} with the capabilities {}", info.lane.str(),
                              required.csv())};
  if (workers.empty())
    return {.reason = BlockingReason::waiting_for_worker,
            .detail = fmt::format("no worker is alive in namespace {}", info.ns.str()),
            .remedy = fmt::format("start one for lane {}", info.lane.str())};
  const bool capable = std::ranges::any_of(
      workers, [&](const WorkerInfo& each) { return each.capabilities.covers(required); });
  if (!capable)
    return {.reason = BlockingReason::waiting_for_capable_worker,
            .detail = fmt::format("none of the {} live workers has all of: {}", workers.size(),
                                  required.csv()),
            .remedy = fmt::format("start a worker with the capabilities {}", required.csv())};
  return {.reason = BlockingReason::waiting_for_worker,
          .detail = fmt::format("no live worker that could run it serves lane {}", info.lane.str()),
          .remedy = fmt::format("start one for lane {}, or end the draining of those that do",
                                info.lane.str())};
}

Obstacle missing_kind(const ExecutionInfo& info, std::ptrdiff_t others) {
  return {.reason = BlockingReason::waiting_for_worker,
          .detail = fmt::format("{} live {} lane {}, but {} kind {}", others,
                                others == 1 ? "worker serves" : "workers serve", info.lane.str(),
                                others == 1 ? "it does not claim" : "none of them claims",
                                info.kind.str()),
          .remedy = fmt::format("start a worker for lane {} with a handler for kind {} (ff work "
                                "--kinds {})",
                                info.lane.str(), info.kind.str(), info.kind.str())};
}

bool serves(const WorkerInfo& worker, const ExecutionInfo& info) {
  return !worker.draining && worker.capabilities.covers(info.policy.required_capabilities) &&
         std::ranges::find(worker.lanes, info.lane) != worker.lanes.end();
}

std::string remedy_of(const BudgetId& budget, const Result<core::BudgetCheck>& check) {
  if (!check)
    return fmt::format(
        "create it again with this id (ff budgets create --id {} --hard DIMENSION=LIMIT), "
        "or cancel the execution",
        budget.str());
  if (check->next_reset_at)
    return fmt::format("it resets at {}; to go on now: ff budgets reset {}",
                       to_rfc3339(*check->next_reset_at), budget.str());
  return fmt::format("ff budgets reset {}, or make it anew with a higher limit", budget.str());
}

Async<void> add_budgets(store::Store& store, const Policy& policy, std::vector<Obstacle>& found) {
  for (const auto& budget : policy.budgets) {
    const auto check = co_await store.run(core::CheckBudget{budget});
    if (!check && check.error().code != Errc::budget_not_found)
      co_return std::unexpected(check.error());
    if (auto refused = refusal_of(budget, check))
      found.push_back({.reason = refused->reason,
                       .detail = std::move(refused->detail),
                       .remedy = remedy_of(budget, check)});
  }
  co_return Result<void>{};
}

Async<void> add_quota(store::Store& store, const QuotaId& quota, std::vector<Obstacle>& found) {
  const auto info = co_await store.run(GetQuota{quota});
  if (!info && info.error().code != Errc::quota_not_found) co_return std::unexpected(info.error());
  constexpr auto reason = BlockingReason::waiting_for_quota;
  if (!info) {
    found.push_back({.reason = reason,
                     .detail = fmt::format("quota {} does not exist", quota.str()),
                     .remedy = fmt::format(
                         "create it again with this id (ff quotas create --id {} --max-concurrent "
                         "LIMIT, or --max-per-window LIMIT --window DURATION), or cancel the "
                         "execution",
                         quota.str())});
    co_return Result<void>{};
  }
  const auto& spec = info->spec;
  if (spec.max_per_window && info->in_window >= *spec.max_per_window)
    found.push_back(
        {.reason = reason,
         .detail = core::rate_detail(quota, spec),
         .remedy = fmt::format("the window has room again at {}", time_text(info->next_start_at))});
  if (spec.max_concurrent && info->running >= *spec.max_concurrent)
    found.push_back(
        {.reason = reason,
         .detail = core::concurrency_detail(quota, spec),
         .remedy = fmt::format("one of the {} that run under it has to end first", info->running)});
  co_return Result<void>{};
}

// As a word of a shell.
std::string shell_quoted(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+";
  if (text.find_first_not_of(plain) == text.npos && !text.starts_with('-')) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Obstacle paused_lane(const ExecutionInfo& info, const LanePause& pause) {
  const auto in_namespace =
      info.ns == default_namespace() ? std::string{} : " --namespace " + info.ns.str();
  return {.reason = BlockingReason::paused_by_policy,
          .detail = core::pause_detail(info.lane, pause),
          .remedy = fmt::format("ff lanes resume {}{}", shell_quoted(info.lane.str()), in_namespace)};
}

std::string_view lost_lease(OwnershipState ownership) {
  switch (ownership) {
    case OwnershipState::unowned:
    case OwnershipState::leased: break;
    case OwnershipState::lease_expired_reclaimable: return "the lease of its last worker expired";
    case OwnershipState::lease_revoked: return "the lease of its last worker was revoked";
  }
  return {};
}

Async<void> add_pause(store::Store& store, const ExecutionInfo& info,
                      std::vector<Obstacle>& obstacles) {
  auto reason = info.state_vector.blocking_reason;
  auto detail = info.blocking_detail.value_or("");
  if (reason != BlockingReason::paused_by_operator && reason != BlockingReason::paused_by_policy)
    co_return Result<void>{};
  std::string remedy = "whoever paused it has to let it go";
  if (info.flow) {
    const auto flow = co_await store.run(core::ReadFlow{*info.flow});
    FF_CO_TRY(flow);
    if (flow->state == FlowState::paused) {
      remedy = fmt::format("ff flow resume {}", info.flow->str());
      if (!flow->reason.empty()) detail += ": " + flow->reason;
      if (is_breach_reason(flow->reason)) reason = BlockingReason::paused_by_policy;
    }
  }
  obstacles.push_back({.reason = reason, .detail = std::move(detail), .remedy = std::move(remedy)});
  co_return Result<void>{};
}

// Of one that nobody has and that is not kept back by itself.
Async<void> explain_waiting(store::Store& store, WorkerCache& workers, const ExecutionInfo& info,
                            Why& why) {
  const auto live = co_await workers.live(info.ns);
  FF_CO_TRY(live);
  const auto paused = store.paused_lanes();
  if (const auto* pause = paused->find(info.ns, info.lane))
    why.obstacles.push_back(paused_lane(info, *pause));
  std::ptrdiff_t able = 0;
  std::ptrdiff_t of_other_kinds = 0;
  for (const auto& each : *live)
    if (serves(each, info))
      ++(workers.takes(info.ns, each.worker, info.kind) ? able : of_other_kinds);
  if (able == 0)
    why.obstacles.push_back(of_other_kinds > 0 ? missing_kind(info, of_other_kinds)
                                               : missing_worker(info, *live));
  if (auto added = co_await add_budgets(store, info.policy, why.obstacles); !added) co_return added;
  if (info.policy.quota)
    if (auto added = co_await add_quota(store, *info.policy.quota, why.obstacles); !added)
      co_return added;
  // What is shown of a paused lane is no pause of the execution's own.
  const bool is_shown = paused->has(info.ns, info.lane) &&
                        info.state_vector.blocking_reason == BlockingReason::paused_by_policy;
  if (!is_shown)
    if (auto added = co_await add_pause(store, info, why.obstacles); !added) co_return added;
  if (why.obstacles.empty())
    why.summary =
        fmt::format("nothing is in its way: it waits for its turn, and {} live {} can run it", able,
                    able == 1 ? "worker" : "workers");
  else
    why.summary = fmt::format("it waits: {}", why.obstacles.front().detail);
  if (const auto lost = lost_lease(info.state_vector.ownership_state); !lost.empty())
    why.summary = fmt::format("{}, and no worker has claimed it again; {}", lost, why.summary);
  co_return Result<void>{};
}

// ---- Suspended ------------------------------------------------------------------------------------

// The form of an id that needs no quotes in a shell.
std::string shell_id(const ExecutionId& id) {
  return fmt::format("{}-{}", id.partition(), id.uuid().str());
}

// The first name that a condition asks for, of signals that are sent to the execution itself.
std::optional<SignalName> wanted_signal(const Condition& condition) {
  const auto first_of = [](const std::vector<Condition>& parts) -> std::optional<SignalName> {
    for (const auto& part : parts)
      if (auto name = wanted_signal(part)) return name;
    return std::nullopt;
  };
  return std::visit(
      Overloaded{
          [](const OneSignal& one) { return one.waitpoint ? std::nullopt : one.name; },
          [](const CountOf& count) { return count.waitpoints.empty() ? count.name : std::nullopt; },
          [&](const AllOf& all) { return first_of(all.of); },
          [&](const AnyOf& any) { return first_of(any.of); },
          [](const auto&) { return std::optional<SignalName>(); }},
      condition.is);
}

// "; ada, bob have not answered", if the people that are asked have names. A closed waitpoint is named.
Async<std::string> missing_answers(store::Store& store, const ExecutionId& id,
                                   const WaitpointInfo& waitpoint) {
  if (waitpoint.state == WaitpointState::closed)
    co_return fmt::format("; its waitpoint {} is closed ({}) and takes no answers",
                          waitpoint.key.str(), waitpoint.close_reason.value_or(""));
  if (!waitpoint.question || waitpoint.question->approvers.empty()) co_return std::string();
  auto missing = waitpoint.question->approvers;
  GetSignals get{.id = id, .limit = limits::list_page_max};
  for (std::optional<std::uint32_t> from = 0; from && !missing.empty();) {
    get.from = *from;
    const auto page = co_await store.run(get);
    FF_CO_TRY(page);
    for (const auto& signal : page->signals)
      if (signal.waitpoint == waitpoint.id) std::erase(missing, signal.source.identity);
    from = page->next;
  }
  if (missing.empty()) co_return std::string();
  co_return fmt::format("; {} {} not answered", fmt::join(missing, ", "),
                        missing.size() == 1 ? "has" : "have");
}

std::string timeout_text(const SuspensionInfo& suspension) {
  if (suspension.escalated) return "; it timed out and waits for an operator";
  if (!suspension.timeout_at) return "";
  return fmt::format("; times out at {} ({})", to_rfc3339(*suspension.timeout_at),
                     to_string(suspension.on_timeout));
}

std::string remedy_of(const ExecutionId& id, const SuspensionInfo& suspension) {
  const auto resume = fmt::format("ff resume {} --reason WHY", shell_id(id));
  if (suspension.escalated) return resume;
  const auto open = std::ranges::find_if(suspension.waitpoints, [](const WaitpointInfo& each) {
    return each.state != WaitpointState::closed;
  });
  if (open != suspension.waitpoints.end())
    return fmt::format(
        "the holders of its tokens answer (ff waitpoints {} --tokens, then {}); to go on without: "
        "{}",
        shell_id(id), open->question ? "ff approve TOKEN" : "ff answer TOKEN SIGNAL", resume);
  if (const auto signal = wanted_signal(suspension.condition))
    return fmt::format("ff signal {} {}; to go on without: {}", shell_id(id), signal->str(),
                       resume);
  return resume;
}

Async<void> explain_suspended(store::Store& store, const ExecutionInfo& info, Why& why) {
  const auto reply = co_await store.run(GetSuspension{info.id});
  FF_CO_TRY(reply);
  if (!reply->suspension) co_return Result<void>{};
  const auto& suspension = *reply->suspension;
  auto detail = fmt::format("it waits for {}", suspension.progress);
  for (const auto& waitpoint : suspension.waitpoints) {
    const auto missing = co_await missing_answers(store, info.id, waitpoint);
    FF_CO_TRY(missing);
    detail += *missing;
  }
  detail += timeout_text(suspension);
  why.summary = fmt::format("it is suspended since {}: {}", to_rfc3339(suspension.since), detail);
  why.obstacles.push_back({.reason = info.state_vector.blocking_reason,
                           .detail = std::move(detail),
                           .remedy = remedy_of(info.id, suspension)});
  co_return Result<void>{};
}

// ---- Nodes of flows --------------------------------------------------------------------------------

Async<void> explain_dependencies(store::Store& store, const ExecutionInfo& info, Why& why) {
  constexpr std::size_t named_max = 10;
  const auto inputs = co_await store.run(GetInputs{.id = info.id});
  FF_CO_TRY(inputs);
  std::vector<std::string> names;
  std::size_t open = 0;
  for (const auto& input : inputs->inputs) {
    if (input.state == ExecutionState::completed) continue;
    if (!is_terminal(input.state)) ++open;
    if (names.size() < named_max)
      names.push_back(fmt::format("{} ({})", input.node.str(), to_string(input.state)));
  }
  core::ReadFlow read{info.flow.value_or(FlowId{})};
  const auto flow = co_await store.run(read);
  if (names.empty() && flow && flow->state == FlowState::running)
    why.summary = "it waits for its turn among the items of its list, or is about to start";
  else if (names.empty())
    why.summary = "it waits for its flow to be sealed or resumed";
  else
    why.summary = fmt::format("it waits for {}{}", fmt::join(names, ", "),
                              open > names.size() ? " and others" : "");
  why.obstacles.push_back(
      {.reason = info.state_vector.blocking_reason,
       .detail = why.summary,
       .remedy = info.flow
                     ? fmt::format("ff flow get {} shows the nodes of its flow", info.flow->str())
                     : "they have to end first"});
  co_return Result<void>{};
}

void explain_subflow(const ExecutionInfo& info, Why& why) {
  const auto flow = info.subflow->str();
  why.summary = fmt::format("it waits for the end of flow {}", flow);
  why.obstacles.push_back({.reason = info.state_vector.blocking_reason,
                           .detail = why.summary,
                           .remedy = fmt::format("ff flow get {} shows its nodes", flow)});
}

std::string summary_of_end(const ExecutionInfo& info) {
  const auto why = info.failure_reason ? info.failure_reason : info.cancel_reason;
  return fmt::format("it ended ({}{}{}) at {}; ff replay runs it again", to_string(info.state),
                     why && !why->empty() ? ": " : "", why.value_or(""),
                     time_text(info.completed_at));
}

bool is_overdue(const ExecutionInfo& info, TimePoint now) {
  return std::ranges::any_of(
      std::array{info.delay_until, info.lease_expires_at, info.deadline},
      [&](const std::optional<TimePoint>& due) { return due && *due <= now; });
}

}  // namespace

void explain_overdue(Why& why, const ExecutionInfo& info, const ScannerFilter& filter,
                     TimePoint now) {
  if (is_terminal(info.state) || filter.matches(info) || !is_overdue(info, now)) return;
  const auto detail = fmt::format(
      "it is overdue, and the scanners of this server look only after executions with {}",
      filter.str());
  why.summary += "; " + detail;
  why.obstacles.push_back(
      {.reason = info.state_vector.blocking_reason,
       .detail = detail,
       .remedy = "run a server without a scanner filter, or with one that matches it"});
}

std::string breach_reason(const BudgetId& budget, const Breach& breach) {
  return fmt::format("budget {} exceeded: {} {}/{}", budget.str(), breach.dimension, breach.usage,
                     breach.limit);
}

bool is_breach_reason(std::string_view text) {
  return text.starts_with("budget ") && text.contains(" exceeded: ");
}

Async<Why> explain(store::Store& store, WorkerCache& workers, const ExecutionInfo& info) {
  Why why{.id = info.id, .state = info.state, .summary = {}};
  const auto reason = info.state_vector.blocking_reason;
  if (is_terminal(info.state)) {
    why.summary = summary_of_end(info);
  } else if (info.worker) {
    why.summary = fmt::format("it runs: worker {} has it, under a lease until {}",
                              info.worker->str(), time_text(info.lease_expires_at));
  } else if (info.granted_to) {
    why.summary = fmt::format("it is set aside for worker {}, which is about to claim it",
                              info.granted_to->str());
  } else if (info.state == ExecutionState::delayed) {
    const auto until = time_text(info.delay_until);
    why.summary = fmt::format("it is delayed until {}", until);
    const bool retries = reason == BlockingReason::waiting_for_retry_backoff;
    why.obstacles.push_back(
        {.reason = reason,
         .detail = retries ? fmt::format("it failed ({}) and is tried again at {}",
                                         info.failure_reason.value_or("no reason given"), until)
                           : why.summary,
         .remedy = "it starts by itself then"});
  } else if (info.state == ExecutionState::waiting_children && info.subflow) {
    explain_subflow(info, why);
  } else if (info.state == ExecutionState::waiting_children) {
    if (auto told = co_await explain_dependencies(store, info, why); !told)
      co_return std::unexpected(told.error());
  } else if (info.state == ExecutionState::suspended) {
    if (auto told = co_await explain_suspended(store, info, why); !told)
      co_return std::unexpected(told.error());
  } else if (auto told = co_await explain_waiting(store, workers, info, why); !told) {
    co_return std::unexpected(told.error());
  }
  co_return why;
}

}  // namespace ff
