#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

// Two budgets and a quota, none of which refuses anything.
Result<Policy> with_room(Engine& engine) {
  Policy policy;
  for (int i = 0; i < 2; ++i) {
    const auto budget = run_blocking(
        engine, CreateBudget{.spec = {.hard_limits = {{"tokens", limits::amount_max}}}});
    FF_TRY(budget);
    policy.budgets.push_back(budget->id);
  }
  const auto quota =
      run_blocking(engine, CreateQuota{.spec = {.window = std::chrono::seconds{1},
                                                .max_per_window = limits::quota_starts_max,
                                                .max_concurrent = limits::quota_starts_max}});
  FF_TRY(quota);
  policy.quota = quota->id;
  return policy;
}

Result<BudgetId> used_up(Engine& engine) {
  const auto budget = run_blocking(engine, CreateBudget{.spec = {.hard_limits = {{"tokens", 1}}}});
  FF_TRY(budget);
  ReportUsage report{.id = budget->id, .amounts = {{"tokens", 1}}};
  FF_TRY(run_blocking(engine, std::move(report)));
  return budget->id;
}

// One execution at a time, beside whatever waits.
Result<double> claim_us(Engine& engine, int count = 2'000) {
  const auto lane = *LaneId::parse("bench");
  Steady::duration claiming{};
  for (int i = 0; i < count; ++i) {
    Submit submit{.lane = lane, .kind = *Kind::parse("bench")};
    FF_TRY(run_blocking(engine, std::move(submit)));
    const auto start = Steady::now();
    Claim claim{.worker = *WorkerId::parse("bench"), .lanes = {lane}};
    const auto claimed = run_blocking(engine, std::move(claim));
    claiming += Steady::now() - start;
    FF_TRY(claimed);
    if (claimed->executions.size() != 1)
      return fail(Errc::internal, "what was submitted cannot be claimed");
    const auto& execution = claimed->executions.front();
    Complete complete{.id = execution.id, .fence = execution.fence};
    FF_TRY(run_blocking(engine, std::move(complete)));
  }
  return std::chrono::duration<double, std::micro>(claiming).count() / count;
}

}  // namespace

Result<Figures> admission(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  const auto meter = ValkeyMeter::open(settings.store);
  FF_TRY(meter);

  const auto plain = end_to_end_per_s(**engine, settings);
  FF_TRY(plain);
  auto admitted = settings;
  const auto policy = with_room(**engine);
  FF_TRY(policy);
  admitted.policy = *policy;
  const auto before = *meter ? (*meter)->read() : ValkeyUse{};
  FF_TRY(before);
  const auto rate = end_to_end_per_s(**engine, admitted);
  FF_TRY(rate);
  Figures figures{{"plain_end_to_end_per_s", *plain},
                  {"end_to_end_per_s", *rate},
                  {"share_of_plain", *rate / *plain}};
  if (*meter) FF_TRY(add_use(figures, **meter, *before, settings.tasks));

  const auto alone = claim_us(**engine);
  FF_TRY(alone);
  figures["claim_us"] = *alone;
  const auto budget = used_up(**engine);
  FF_TRY(budget);
  auto blocked = settings;
  blocked.policy.budgets = {*budget};
  constexpr std::uint32_t few = 1'000;
  const std::uint32_t many = std::max(settings.tasks, few);
  std::uint32_t submitted = 0;
  for (const auto& [name, count] : {std::pair{"claim_us_beside_1000_blocked", few},
                                    std::pair{"claim_us_beside_all_blocked", many}}) {
    FF_TRY(submit_all(**engine, blocked, count - submitted));
    submitted = count;
    // The first claim finds the budget used up.
    FF_TRY(claim_us(**engine, 1));
    const auto beside = claim_us(**engine);
    FF_TRY(beside);
    figures[name] = *beside;
  }
  return figures;
}

}  // namespace ff::cli::bench
