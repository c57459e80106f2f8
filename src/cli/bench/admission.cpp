#include <future>

#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

// Submits and works at the same time.
Result<double> end_to_end_per_s(Engine& engine, const Settings& settings) {
  const auto start = Steady::now();
  auto submitting =
      std::async(std::launch::async, [&] { return submit_all(engine, settings, settings.tasks); });
  const auto drained = drain(engine, settings, settings.tasks);
  const auto submitted = submitting.get();
  if (!submitted) return std::unexpected(submitted.error());
  if (!drained) return std::unexpected(drained.error());
  return settings.tasks / seconds_since(start);
}

// Two budgets and a quota, none of which refuses anything.
Result<Policy> with_room(Engine& engine) {
  Policy policy;
  for (int i = 0; i < 2; ++i) {
    const auto budget = run_blocking(
        engine, CreateBudget{.spec = {.hard_limits = {{"tokens", limits::amount_max}}}});
    if (!budget) return std::unexpected(budget.error());
    policy.budgets.push_back(budget->id);
  }
  const auto quota =
      run_blocking(engine, CreateQuota{.spec = {.window = std::chrono::seconds{1},
                                                .max_per_window = limits::quota_starts_max,
                                                .max_concurrent = limits::quota_starts_max}});
  if (!quota) return std::unexpected(quota.error());
  policy.quota = quota->id;
  return policy;
}

Result<BudgetId> used_up(Engine& engine) {
  const auto budget = run_blocking(engine, CreateBudget{.spec = {.hard_limits = {{"tokens", 1}}}});
  if (!budget) return std::unexpected(budget.error());
  ReportUsage report{.id = budget->id, .amounts = {{"tokens", 1}}};
  if (auto reported = run_blocking(engine, std::move(report)); !reported)
    return std::unexpected(reported.error());
  return budget->id;
}

// One execution at a time, beside whatever waits.
Result<double> claim_us(Engine& engine, int count = 2'000) {
  const auto lane = *LaneId::parse("bench");
  Steady::duration claiming{};
  for (int i = 0; i < count; ++i) {
    Submit submit{.lane = lane, .kind = *Kind::parse("bench")};
    if (auto submitted = run_blocking(engine, std::move(submit)); !submitted)
      return std::unexpected(submitted.error());
    const auto start = Steady::now();
    Claim claim{.worker = *WorkerId::parse("bench"), .lanes = {lane}};
    const auto claimed = run_blocking(engine, std::move(claim));
    claiming += Steady::now() - start;
    if (!claimed) return std::unexpected(claimed.error());
    if (claimed->executions.size() != 1)
      return fail(Errc::internal, "what was submitted cannot be claimed");
    const auto& execution = claimed->executions.front();
    Complete complete{.id = execution.id, .fence = execution.fence};
    if (auto completed = run_blocking(engine, std::move(complete)); !completed)
      return std::unexpected(completed.error());
  }
  return std::chrono::duration<double, std::micro>(claiming).count() / count;
}

}  // namespace

Result<Figures> admission(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  if (!engine) return std::unexpected(engine.error());
  const auto meter = ValkeyMeter::open(settings.store);
  if (!meter) return std::unexpected(meter.error());

  const auto plain = end_to_end_per_s(**engine, settings);
  if (!plain) return std::unexpected(plain.error());
  auto admitted = settings;
  const auto policy = with_room(**engine);
  if (!policy) return std::unexpected(policy.error());
  admitted.policy = *policy;
  const auto before = *meter ? (*meter)->read() : ValkeyUse{};
  if (!before) return std::unexpected(before.error());
  const auto rate = end_to_end_per_s(**engine, admitted);
  if (!rate) return std::unexpected(rate.error());
  Figures figures{{"plain_end_to_end_per_s", *plain},
                  {"end_to_end_per_s", *rate},
                  {"share_of_plain", *rate / *plain}};
  if (*meter)
    if (auto added = add_use(figures, **meter, *before, settings.tasks); !added)
      return std::unexpected(added.error());

  const auto alone = claim_us(**engine);
  if (!alone) return std::unexpected(alone.error());
  figures["claim_us"] = *alone;
  const auto budget = used_up(**engine);
  if (!budget) return std::unexpected(budget.error());
  auto blocked = settings;
  blocked.policy.budgets = {*budget};
  constexpr std::uint32_t few = 1'000;
  const std::uint32_t many = std::max(settings.tasks, few);
  std::uint32_t submitted = 0;
  for (const auto& [name, count] : {std::pair{"claim_us_beside_1000_blocked", few},
                                    std::pair{"claim_us_beside_all_blocked", many}}) {
    if (auto done = submit_all(**engine, blocked, count - submitted); !done)
      return std::unexpected(done.error());
    submitted = count;
    // The first claim finds the budget used up.
    if (auto first = claim_us(**engine, 1); !first) return std::unexpected(first.error());
    const auto beside = claim_us(**engine);
    if (!beside) return std::unexpected(beside.error());
    figures[name] = *beside;
  }
  return figures;
}

}  // namespace ff::cli::bench
