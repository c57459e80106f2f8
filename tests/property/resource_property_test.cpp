// Random work under one budget and one quota, compared with a model that only counts.
#include <deque>
#include <map>

#include <fmt/format.h>

#include "tests/property/check.hpp"
#include "tests/property/world.hpp"

namespace ff::property {

using namespace std::chrono_literals;

enum class Admitted : std::uint8_t {
  submit,
  claim,
  grant,
  complete,
  fail,
  cancel,
  delay,
  hand_back,
  renew,
  revoke,
  wait,
  report,
  release,
  reset,
  restart,
  last = restart,
};
struct ResourceStep {
  Admitted what{};
  unsigned which = 0;   // execution
  unsigned amount = 0;  // of usage, of executions
  Millis time{};
};

void showValue(const ResourceStep& step, std::ostream& out) {
  constexpr std::array names{"submit", "claim",  "grant",     "complete", "fail",
                             "cancel", "delay",  "hand_back", "renew",    "revoke",
                             "wait",   "report", "release",   "reset",    "restart"};
  out << fmt::format("{}({}, {}, {} ms)", names[static_cast<std::size_t>(step.what)], step.which,
                     step.amount, step.time.count());
}

namespace {

constexpr std::uint64_t slots = 3;
constexpr std::uint64_t starts = 5;
constexpr Millis window = 20s;
constexpr std::uint64_t budget_limit = 40;
constexpr Millis reset_interval = 60s;
constexpr Millis lease_ttl = 30s;
constexpr Millis grant_ttl = 5s;

class ResourceWorld {
 public:
  ResourceWorld() : world_({}) {
    budget_ = must(world_.run(CreateBudget{.spec = {.on_hard_limit = OnHardLimit::reject,
                                                    .hard_limits = {{"tokens", budget_limit}},
                                                    .reset_interval = reset_interval}}))
                  .id;
    quota_ =
        must(world_.run(CreateQuota{
                 .spec = {.window = window, .max_per_window = starts, .max_concurrent = slots}}))
            .id;
    next_reset_ = world_.now() + reset_interval;
  }

  void carry_out(const ResourceStep& step) {
    switch (step.what) {
      case Admitted::submit: return submit();
      case Admitted::claim: return claim(1 + step.amount % 4);
      case Admitted::grant: return grant();
      case Admitted::report: return report(step);
      case Admitted::release: return release(step.which);
      case Admitted::reset:
        must(world_.run(ResetBudget{budget_}));
        usage_ = 0;
        ledgers_.clear();
        return;
      case Admitted::wait: return wait(step.time);
      case Admitted::restart: return world_.restart(1 + step.which % 3);
      default: return change(step);
    }
  }

  void compare() {
    const auto quota = must(world_.run(GetQuota{quota_}));
    RC_ASSERT(quota.running == held());
    RC_ASSERT(quota.running <= slots);
    RC_ASSERT(quota.in_window == in_window());
    RC_ASSERT(quota.in_window <= starts);
    const auto budget = must(world_.run(GetBudget{budget_}));
    RC_ASSERT((budget.usage.contains("tokens") ? budget.usage.at("tokens") : 0) == usage_);
    RC_ASSERT(usage_ <= budget_limit);
  }

 private:
  enum class Is : std::uint8_t { waiting, granted, running, delayed, ended };
  struct Work {
    ExecutionId id;
    Is is = Is::waiting;
    Fence fence = {};
    TimePoint until = {};  // of a lease, a grant, a delay
  };

  std::uint64_t held() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        works_, [](const Work& work) { return work.is == Is::granted || work.is == Is::running; }));
  }
  std::uint64_t in_window() {
    std::erase_if(starts_, [&](TimePoint at) { return at <= world_.now() - window; });
    return starts_.size();
  }
  std::uint64_t room() {
    if (usage_ >= budget_limit) return 0;
    return std::min(slots - held(), starts - in_window());
  }
  std::uint64_t waiting() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(works_, [](const Work& work) { return work.is == Is::waiting; }));
  }
  Work& find(const ExecutionId& id) { return *std::ranges::find(works_, id, &Work::id); }

  void submit() {
    Submit submit{.kind = *Kind::parse("k"), .policy = {.budgets = {budget_}, .quota = quota_}};
    works_.push_back({must(world_.run(std::move(submit))).id});
  }

  void claim(std::uint32_t max) {
    const auto expected = std::min({std::uint64_t{max}, waiting(), room()});
    Claim claim{.worker = *WorkerId::parse("w"), .max = max, .lease_ttl = lease_ttl};
    const auto claimed = must(world_.run(std::move(claim))).executions;
    RC_ASSERT(claimed.size() == expected);
    for (const auto& each : claimed) {
      auto& work = find(each.id);
      RC_ASSERT(work.is == Is::waiting);
      work = {each.id, Is::running, each.fence, each.lease_expires_at};
      starts_.push_back(world_.now());
    }
  }

  void grant() {
    const bool expected = waiting() > 0 && room() > 0;
    Grant grant{.worker = *WorkerId::parse("w"), .grant_ttl = grant_ttl};
    const auto granted = must(world_.run(std::move(grant))).execution;
    RC_ASSERT(granted.has_value() == expected);
    if (!granted) return;
    auto& work = find(granted->id);
    work.is = Is::granted;
    work.until = granted->grant_expires_at;
    starts_.push_back(world_.now());
  }

  void change(const ResourceStep& step) {
    if (works_.empty()) return;
    auto& work = works_[step.which % works_.size()];
    if (step.what == Admitted::cancel) {
      if (world_.run(Cancel{.id = work.id})) work.is = Is::ended;
      return;
    }
    if (work.is != Is::running) return;
    switch (step.what) {
      case Admitted::complete:
        must(world_.run(Complete{.id = work.id, .fence = work.fence}));
        work.is = Is::ended;
        break;
      case Admitted::fail:
        must(world_.run(Fail{.id = work.id, .fence = work.fence, .reason = "no"}));
        work.is = Is::ended;
        break;
      case Admitted::delay:
        work.until = world_.now() + step.time + 1ms;
        must(world_.run(Delay{.id = work.id, .fence = work.fence, .until = work.until}));
        work.is = Is::delayed;
        break;
      case Admitted::hand_back:
        must(world_.run(HandBack{.id = work.id, .fence = work.fence}));
        work.is = Is::waiting;
        break;
      case Admitted::renew:
        must(world_.run(Renew{.id = work.id, .fence = work.fence, .lease_ttl = lease_ttl}));
        work.until = world_.now() + lease_ttl;
        break;
      case Admitted::revoke:
        must(world_.run(RevokeLease{.id = work.id}));
        work.is = Is::waiting;
        break;
      default: break;
    }
  }

  void wait(Millis time) {
    world_.advance(time);
    world_.run_scanners();
    for (auto& work : works_)
      if (work.is != Is::waiting && work.is != Is::ended && work.until <= world_.now())
        work.is = Is::waiting;
    if (next_reset_ > world_.now()) return;
    while (next_reset_ <= world_.now()) next_reset_ += reset_interval;
    usage_ = 0;
    ledgers_.clear();
  }

  void report(const ResourceStep& step) {
    ReportUsage report{.id = budget_, .amounts = {{"tokens", step.amount}}};
    const auto key = fmt::format("k{}", step.which % 6);
    if (step.which % 2 == 0) report.dedup_key = *DedupKey::parse(key);
    if (!works_.empty()) report.execution = works_[step.which % works_.size()].id;
    const auto reply = world_.run(report);
    const bool known = report.dedup_key && reported_.contains(key);
    if (known) {
      const bool same = reported_.at(key) == std::pair(report.amounts, report.execution);
      RC_ASSERT(reply.has_value() == same);
      if (reply) RC_ASSERT(reply->outcome == UsageOutcome::already_applied);
      return;
    }
    const bool fits = usage_ + step.amount <= budget_limit;
    RC_ASSERT(must(reply).outcome == (fits ? UsageOutcome::applied : UsageOutcome::hard_breach));
    if (!fits) return;
    usage_ += step.amount;
    if (report.execution) ledgers_[*report.execution] += step.amount;
    if (report.dedup_key) reported_.emplace(key, std::pair(report.amounts, report.execution));
  }

  void release(unsigned which) {
    if (works_.empty()) return;
    const auto id = works_[which % works_.size()].id;
    const auto released = must(world_.run(ReleaseUsage{.id = budget_, .execution = id})).released;
    const auto spent = std::exchange(ledgers_[id], 0);
    RC_ASSERT((released.contains("tokens") ? released.at("tokens") : 0) == spent);
    usage_ -= spent;
  }

  World world_;
  BudgetId budget_;
  QuotaId quota_;
  std::vector<Work> works_;
  std::deque<TimePoint> starts_;
  std::uint64_t usage_ = 0;
  std::map<ExecutionId, std::uint64_t> ledgers_;
  std::map<std::string, std::pair<Amounts, std::optional<ExecutionId>>> reported_;
  TimePoint next_reset_;
};

rc::Gen<std::vector<ResourceStep>> steps() {
  namespace gen = rc::gen;
  const auto kind = gen::map(
      gen::weightedOneOf<int>({{3, gen::element(0, 1)},
                               {2, gen::inRange(2, static_cast<int>(Admitted::restart))},
                               {1, gen::inRange(0, static_cast<int>(Admitted::last) + 1)}}),
      [](int what) { return static_cast<Admitted>(what); });
  return gen::container<std::vector<ResourceStep>>(gen::build<ResourceStep>(
      gen::set(&ResourceStep::what, kind),
      gen::set(&ResourceStep::which, gen::resize(100, gen::inRange(0u, 40u))),
      gen::set(&ResourceStep::amount, gen::resize(100, gen::inRange(0u, 12u))),
      gen::set(&ResourceStep::time, gen::map(gen::resize(100, gen::inRange(0, 25)),
                                             [](int s) -> Millis { return s * 1s; }))));
}

// Sums, windows and slots are what they should be after every step.
TEST(ResourceProperty, CountsAsTheModelDoes) {
  check(40, steps(), [](const std::vector<ResourceStep>& all) {
    ResourceWorld world;
    for (const auto& step : all) {
      world.carry_out(step);
      world.compare();
    }
  });
}

}  // namespace
}  // namespace ff::property
