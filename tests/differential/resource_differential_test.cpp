// Random operations on budgets, quotas, workers and the executions that need them, the same into both stores
// themselves: they must answer the same.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include <fmt/format.h>

#include "tests/differential/both_stores.hpp"
#include "tests/support/seeds.hpp"

namespace ff::differential {
namespace {

using namespace std::chrono_literals;

bool same(const auto& one, const auto& other) { return one == other; }
bool same(const BudgetList& one, const BudgetList& other) {
  return one.budgets == other.budgets && one.next == other.next;
}
bool same(const QuotaList& one, const QuotaList& other) {
  return one.quotas == other.quotas && one.next == other.next;
}
bool same(const store::EffectPage& one, const store::EffectPage& other) {
  const auto texts = [](const store::EffectPage& page) {
    std::multiset<std::pair<PartitionIndex, std::string>> all;
    for (const auto& [partition, effect] : page.effects)
      all.emplace(partition, core::to_text(effect));
    return all;
  };
  return texts(one) == texts(other);
}
bool same(const core::BudgetsDue& one, const core::BudgetsDue& other) {
  return one.due == other.due && one.next == other.next;
}

struct SameReplies {
  bool operator()(const auto& one, const auto& other) const { return same(one, other); }
};

class RandomWalk {
 public:
  explicit RandomWalk(std::uint64_t seed) : source_(seed) {}

  void step() {
    const auto what = below(26);
    switch (what) {
      case 0: return check("create budget", create_budget());
      case 1: return check("create quota", create_quota());
      case 2:
      case 3:
      case 4:
      case 5: return check("report", report());
      case 6: return check("release usage", ReleaseUsage{.id = budget(), .execution = execution()});
      case 7: return check("reset", ResetBudget{budget()});
      case 8: return check("reset if due", core::ResetIfDue{budget()});
      case 9: return check("forget", core::ForgetSpending{budget(), execution()});
      case 10: return maybe_delete();
      case 11:
      case 12:
      case 13: return admit();
      case 14:
      case 15:
        return check("release", core::ReleaseToken{
                                    .quota = quota(), .token = token(), .unused = below(2) == 0});
      case 16: return check("register", registration());
      case 17: return change_worker();
      case 18: return check("create", create());
      case 19: return grant();
      case 20: return lease();
      case 21: return complete();
      case 22:
        return check("timer", core::TimerFire{.id = execution(),
                                              .kind = static_cast<core::TimerKind>(below(5))});
      case 23:
      case 24: return cancel();
      default:
        stores_.advance(Millis{below(4) == 0 ? below(40'000) : below(3)});
        return settle_effects();
    }
  }

  // Those that both stores keep.
  void settle_effects() {
    const auto page = stores_.run("effects", store::FindEffects{.max = 1'000});
    if (!page) return;
    effects_ += page->effects.size();
    for (const auto& [partition, effect] : page->effects)
      check("settle", store::SettleEffects{.partition = partition, .effects = {effect}});
  }
  std::size_t effects() const { return effects_; }

  void compare_all() {
    for (std::uint8_t number = 0; number < things; ++number) {
      const auto id = BudgetId{uuid('b', number)};
      check("budget", GetBudget{id});
      check("check", core::CheckBudget{id});
      check("quota", GetQuota{QuotaId{uuid('c', number)}});
      check("held",
            core::HeldTokens{.quota = QuotaId{uuid('c', number)}, .before = stores_.now() + 1ms});
      check("ledger", core::LedgerOf{.budget = id});
      const auto each = ExecutionId{number, uuid('e', number)};
      check("execution", GetExecution{each});
      for (std::uint8_t i = 0; i < tokens; ++i) check("holds", core::HoldsToken{each, token(i)});
    }
    check("budgets", ListBudgets{.limit = 2});
    check("quotas", ListQuotas{.limit = 2});
    check("all budgets", core::AllBudgets{});
    check("all quotas", core::AllQuotas{});
    check("resets", core::ResetsDue{2});
    check("workers", core::LiveWorkers{default_namespace()});
    check("waiting", store::CountWaiting{});
  }

 private:
  static constexpr std::uint8_t things = 4;  // of each kind
  static constexpr std::uint8_t tokens = 8;
  static constexpr Millis window = 5s;

  template <class Op>
  void check(std::string_view what, const Op& operation) {
    stores_.run(what, operation);
  }

  unsigned below(unsigned end) { return static_cast<unsigned>(source_() % end); }
  static Uuid uuid(char kind, std::uint8_t number) {
    Uuid::Bytes bytes{};
    bytes[0] = static_cast<std::uint8_t>(kind);
    bytes[7] = static_cast<std::uint8_t>(number * 37);  // for the partition
    bytes[15] = number;
    return Uuid{bytes};
  }
  std::uint8_t number() { return static_cast<std::uint8_t>(below(things)); }
  BudgetId budget() { return BudgetId{uuid('b', number())}; }
  QuotaId quota() { return QuotaId{uuid('c', number())}; }
  QuotaTokenId token() { return token(static_cast<std::uint8_t>(below(tokens))); }
  // Tokens are used once: when a window is over there are others.
  QuotaTokenId token(std::uint8_t which) const {
    auto bytes = uuid('d', which).bytes();
    const auto turn = stores_.now().time_since_epoch() / window;
    for (std::size_t i = 0; i < 4; ++i) bytes[8 + i] = static_cast<std::uint8_t>(turn >> (8 * i));
    return QuotaTokenId{Uuid{bytes}};
  }
  ExecutionId execution() {
    const auto which = number();
    return {which, uuid('e', which)};
  }
  WorkerId worker() { return *WorkerId::parse(fmt::format("w{}", below(3))); }
  CreateBudget create_budget() {
    CreateBudget create{.id = budget(), .spec = {.hard_limits = {{"tokens", 10 + below(2)}}}};
    create.spec.on_hard_limit = static_cast<OnHardLimit>(below(4));
    if (below(2) == 0) create.spec.soft_limits = {{"tokens", 5}, {"cost", 3}};
    if (below(3) == 0) create.spec.enforcement = Enforcement::advisory;
    if (below(2) == 0) create.spec.reset_interval = 10s;
    return create;
  }
  CreateQuota create_quota() {
    CreateQuota create{.id = quota(), .spec = {.window = window}};
    if (below(2) == 0) create.spec.max_concurrent = 1 + below(2);
    if (!create.spec.max_concurrent || below(2) == 0) create.spec.max_per_window = 1 + below(3);
    create.spec.jitter = Millis{below(5)};
    return create;
  }
  ReportUsage report() {
    ReportUsage report{.id = budget(), .amounts = {{"tokens", below(7)}}};
    if (below(3) == 0) report.amounts["cost"] = below(3);
    if (below(20) == 0) report.amounts["cost"] = limits::amount_max - 1;
    if (below(3) == 0) report.execution = execution();
    if (below(4) == 0) report.dedup_key = *DedupKey::parse(fmt::format("k{}", below(4)));
    return report;
  }
  RegisterWorker registration() {
    return {.worker = worker(),
            .lanes = {default_lane(), *LaneId::parse("a,b c")},
            .capabilities = *CapabilitySet::parse({"gpu"}),
            .ttl = 10s};
  }
  core::Create create() {
    Submit submit{.kind = *Kind::parse("k"), .payload = "in"};
    if (below(4) > 0) submit.policy.budgets = {budget()};
    if (below(2) == 0) submit.policy.quota = quota();
    submit.policy.retention = Millis{1'000 * below(2)};
    return {.id = execution(), .submit = submit};
  }

  void maybe_delete() {
    if (below(4) > 0) return;
    if (below(2) == 0) return check("delete budget", DeleteBudget{budget()});
    check("delete quota", DeleteQuota{quota()});
  }
  void admit() {
    check("admit", core::Admit{.quota = quota(), .token = token(), .execution = execution()});
  }
  void change_worker() {
    if (below(2) == 0) return check("heartbeat", HeartbeatWorker{.worker = worker()});
    if (below(2) == 0) return check("deregister", DeregisterWorker{.worker = worker()});
    check("drain", DrainWorker{.worker = worker(), .draining = below(2) == 0});
  }
  std::optional<core::QuotaToken> maybe_token() {
    if (below(3) == 0) return std::nullopt;
    return core::QuotaToken{.id = token(), .valid_until = stores_.now() + Millis{below(2)}};
  }
  void grant() {
    check("grant",
          core::GrantIssue{
              .id = execution(), .worker = worker(), .token = maybe_token(), .grant_ttl = 5s});
  }
  void lease() {
    const auto source = below(3) == 0 ? core::LeaseSource::grant : core::LeaseSource::ready;
    auto claimed =
        stores_.run("lease", core::LeaseGrant{.id = execution(),
                                              .source = source,
                                              .worker = worker(),
                                              .token = maybe_token(),
                                              .lease_id = LeaseId{uuid('f', ++leases_)},
                                              .attempt_id = AttemptId{uuid('a', leases_)},
                                              .lease_ttl = 10s});
    if (claimed) fences_[claimed->id] = claimed->fence;
  }
  void complete() {
    const auto id = execution();
    const auto fence = fences_[id];
    check("check lease", core::CheckLease{id, fence});
    if (below(2) == 0) return check("hand back", HandBack{.id = id, .fence = fence});
    check("complete", Complete{.id = id, .fence = fence});
    check("replay", Replay{.id = id, .reason = "again", .requested_by = "test"});
  }

  // Makes room for another one under the same id.
  void cancel() {
    const auto id = execution();
    check("cancel", Cancel{.id = id, .reason = "enough"});
    check("remove", core::Remove{id});
  }

  std::mt19937_64 source_;
  std::uint8_t leases_ = 0;
  std::map<ExecutionId, Fence> fences_;
  std::size_t effects_ = 0;
  BothStores<SameReplies> stores_;
};

constexpr const char* resource_seeds_file = "tests/differential/resource_seeds.txt";

TEST(ResourceDifferential, BothStoresAnswerTheSame) {
  constexpr int steps = 500;
  std::size_t effects = 0;
  for (const auto seed : test::seeds(resource_seeds_file)) {
    SCOPED_TRACE(test::how_to_repeat(seed, resource_seeds_file));
    RandomWalk walk(seed);
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      walk.step();
      if (i % 20 == 0) walk.compare_all();
    }
    if (testing::Test::HasFailure()) return;
    effects += walk.effects();
  }
  EXPECT_GT(effects, 0u) << "some of the changes had effects";
}

}  // namespace
}  // namespace ff::differential
