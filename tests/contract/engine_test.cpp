// An engine of ours on a store that programs of the contract use, too.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/contract/fixture.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/blocking_store.hpp"

namespace ff::test {
namespace {

using namespace std::chrono_literals;

const auto main_lane = *LaneId::parse("main");
const auto gpu = *CapabilitySet::parse({"gpu"});

class EngineOnContract : public Contract {
 protected:
  void open() {
    engine_.reset();
    auto store = must(valkey_store::open({.client = client_options(), .sweep = false}));
    store_ = store.get();
    engine_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
  }
  // Blocked executions are found by their events alone, or by a scanner, which does not run here.
  void await_listening() {
    await("the engine listens", [this] {
      const auto reply = command({"PUBSUB", "SHARDCHANNELS", "ff:events:" + tag});
      return !reply.as_array()->empty();
    });
  }
  Engine& engine() {
    if (!engine_) open();
    return *engine_;
  }

  template <class Op>
  typename Op::Reply ask(Op operation) {
    return must(test::run(engine(), std::move(operation)));
  }
  template <class Op>
  typename Op::Reply ask_store(Op operation) {
    engine();
    return must(test::run(*store_, std::move(operation)));
  }
  void run_scanners() { must(run_blocking(engine_->executor(), engine_->scanners().run_once())); }

  void ok(const Call& call) {
    const auto reply = run(call);
    ASSERT_TRUE(reply.starts_with("1 ")) << call.name << ": " << reply;
  }
  void create_many(int first, int last, const std::string& policy) {
    for (int i = first; i <= last; ++i) ok(create().of(numbered(i)).with(7, policy));
  }

  std::string claim(CapabilitySet capabilities = {}) {
    const auto claimed = ask(Claim{.worker = *WorkerId::parse("w9"),
                                   .lanes = {main_lane},
                                   .capabilities = std::move(capabilities)});
    return claimed.executions.empty() ? "" : claimed.executions.front().id.str();
  }
  // How often something was looked up since the last time. A few looks come by themselves when the engine
  // has just begun to hear of events, later on a slow machine.
  int looks() {
    const auto text = *command({"INFO", "commandstats"}).as_text();
    command({"CONFIG", "RESETSTAT"});
    const auto at = text.find("cmdstat_fcall_ro:calls=");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + 23));
  }
  std::string counts() {
    std::string text;
    for (const auto& each : ask_store(store::CountWaiting{}))
      text += fmt::format("{} {} {} {}\n", each.ns.str(), each.lane.str(),
                          each.needs.capabilities.csv(), each.count);
    return text;
  }
  EligibilityState eligibility(const std::string& id = E) {
    return ask(GetExecution{*ExecutionId::parse(id)}).state_vector.eligibility_state;
  }

  store::Store* store_ = nullptr;
  std::unique_ptr<LocalEngine> engine_;
};

const std::string for_gpu = R"({"routing_requirements":{"required_capabilities":["gpu"]}})";

// ---- Work behind work that is held back ----------------------------------------------------------

TEST_F(EngineOnContract, FindsPlainWorkBehindMuchThatItMayNotHave) {
  create_many(1, 3'000, for_gpu);
  ok(create());
  open();
  looks();
  EXPECT_EQ(claim(), E);
  EXPECT_LE(looks(), 10) << "each goes past a thousand";
  EXPECT_EQ(claim(gpu), numbered(1));
}

TEST_F(EngineOnContract, AnIdleWorkerBesideHeldBackWorkLooksNothingUp) {
  create_many(1, 3'000, for_gpu);
  open();
  EXPECT_EQ(claim(), "");
  looks();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(claim(), "");
  EXPECT_LE(looks(), 1);
}

TEST_F(EngineOnContract, HeardOfWorkBehindMuchIsFoundToo) {
  open();
  create_many(1, 1'500, for_gpu);
  ok(create());
  await("the plain one", [&] { return claim() == E; });
  for (int i = 1; i <= 1'500; ++i) ASSERT_EQ(claim(gpu), numbered(i));
  EXPECT_EQ(claim(gpu), "");
}

TEST_F(EngineOnContract, FindsAllOfALongBacklogInOrder) {
  create_many(1, 300, "");
  open();
  for (int i = 1; i <= 300; ++i) ASSERT_EQ(claim(), numbered(i));
  EXPECT_EQ(claim(), "");
  looks();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(claim(), "");
  EXPECT_LE(looks(), 1);
}

TEST_F(EngineOnContract, FindsLostWorkBehindLostWorkThatItMayNotHave) {
  create_many(1, 80, for_gpu);
  create_many(81, 81, "");
  for (int i = 1; i <= 81; ++i) {
    ok(grant_and_claim().of(numbered(i)));
    ok(revoke().of(numbered(i)));
  }
  open();
  EXPECT_EQ(claim(), numbered(81));
  for (int i = 1; i <= 80; ++i) ASSERT_EQ(claim(gpu), numbered(i));
}

// A granted execution stays in the index, but is not work for other workers.
TEST_F(EngineOnContract, GrantedWorkCausesNoEndlessLooks) {
  create_many(1, 200, for_gpu);
  ok(create());
  ok(issue_claim_grant().with(6, "600000"));
  open();
  EXPECT_EQ(claim(), "");
  looks();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(claim(), "");
  EXPECT_LE(looks(), 2);
}

TEST_F(EngineOnContract, FindsWorkOfOtherNamespacesInTheContractsQueue) {
  for (int i = 1; i <= 100; ++i) ok(create().of(numbered(i)).with(2, "acme"));
  open();
  for (int i = 1; i <= 100; ++i) {
    const auto claimed = ask(Claim{
        .worker = *WorkerId::parse("w9"), .ns = *Namespace::parse("acme"), .lanes = {main_lane}});
    ASSERT_EQ(claimed.executions.size(), 1u) << i;
    EXPECT_EQ(claimed.executions.front().id.str(), numbered(i));
  }
}

TEST_F(EngineOnContract, FindsWorkOfOtherNamespacesBehindThatOfTheDefaultOne) {
  create_many(1, 1'200, "");
  for (int i = 1'201; i <= 1'300; ++i) ok(create().of(numbered(i)).with(2, "acme"));
  open();
  for (int i = 1'201; i <= 1'300; ++i) {
    const auto claimed = ask(Claim{
        .worker = *WorkerId::parse("w9"), .ns = *Namespace::parse("acme"), .lanes = {main_lane}});
    ASSERT_EQ(claimed.executions.size(), 1u) << i;
    EXPECT_EQ(claimed.executions.front().id.str(), numbered(i));
  }
  const Claim idle{
      .worker = *WorkerId::parse("w9"), .ns = *Namespace::parse("acme"), .lanes = {main_lane}};
  looks();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ask(idle).executions.empty());
  EXPECT_LE(looks(), 2);
}

// ---- States that our engine does not make --------------------------------------------------------

TEST_F(EngineOnContract, ShowsWorkThatTheEndOfItsFlowPaused) {
  ok(create());
  ok(block("paused_by_policy"));
  command({"HSET", exec_key("core"), "blocking_reason", "paused_by_flow_cancel"});
  const auto shown = ask(GetExecution{*ExecutionId::parse(E)});
  EXPECT_EQ(shown.state_vector.blocking_reason, BlockingReason::paused_by_flow_cancel);
  EXPECT_EQ(claim(), "");
}

// ---- Partitions -----------------------------------------------------------------------------------

TEST_F(EngineOnContract, IsRefusedWithAnotherNumberOfPartitions) {
  open();
  const auto refusal = [&](valkey_store::PartitionCounts counts) {
    const auto store = valkey_store::open({.client = client_options(), .partitions = counts});
    return store ? "" : store.error().message;
  };
  EXPECT_EQ(refusal({.executions = 256, .budgets = 32, .quotas = 32}), "");
  EXPECT_THAT(refusal({.executions = 8}), testing::HasSubstr("partitions=256"));
  EXPECT_THAT(refusal({.budgets = 8}), testing::HasSubstr("budget_partitions=32"));
  EXPECT_THAT(refusal({.quotas = 8}), testing::HasSubstr("quota_partitions=32"));
}

TEST_F(EngineOnContract, IsRefusedWhereANewerLibraryWasLost) {
  open();
  engine_.reset();
  EXPECT_TRUE(command({"HGET", "ff:config:partitions", "library_version"}).as_text());
  command({"HSET", "ff:config:partitions", "library_version", "1.99"});
  command({"FUNCTION", "FLUSH"});
  const auto store = valkey_store::open({.client = client_options()});
  command({"HDEL", "ff:config:partitions", "library_version"});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::store_too_new);
  EXPECT_THAT(store.error().message, testing::HasSubstr("1.99"));
  open();  // loads the library for other tests
}

// ---- Counts ---------------------------------------------------------------------------------------

TEST_F(EngineOnContract, CountsWorkThatWaitsByItsNeeds) {
  create_many(1, 5, for_gpu);
  ok(create());
  EXPECT_EQ(counts(), "default main gpu 5\n");
  claim(gpu);
  ok(issue_claim_grant().of(numbered(2)).with(9, "gpu"));
  EXPECT_EQ(counts(), "default main gpu 3\n");
  Submit submit{.ns = *Namespace::parse("acme"), .lane = main_lane, .kind = *Kind::parse("job")};
  submit.policy.required_capabilities = gpu;
  ask(std::move(submit));
  EXPECT_EQ(counts(), "acme main gpu 1\ndefault main gpu 3\n");
}

TEST_F(EngineOnContract, CountsAStoreOfAnOlderLibraryWhenItOpensIt) {
  create_many(1, 5, for_gpu);
  command({"DEL", lane_key("waiting_by_needs")});
  EXPECT_EQ(counts(), "default main gpu 5\n");
  EXPECT_EQ(claim(gpu), numbered(1));
  EXPECT_EQ(counts(), "default main gpu 4\n");
}

TEST_F(EngineOnContract, FindsPlainWorkInAStoreOfAnOlderLibrary) {
  create_many(1, 200, for_gpu);
  ok(create());
  command({"DEL", lane_key("waiting_by_needs")});
  EXPECT_EQ(claim(), E);
}

TEST_F(EngineOnContract, PutsWrongCountsRight) {
  create_many(1, 5, for_gpu);
  command({"HSET", lane_key("waiting_by_needs"), "gpu\x1f\x1f", "9"});
  EXPECT_EQ(ask_store(store::Reconcile{7}).repaired, 1u);
  EXPECT_EQ(counts(), "default main gpu 5\n");
  EXPECT_EQ(ask_store(store::Reconcile{7}).repaired, 0u);
}

// ---- Workers of the contract ----------------------------------------------------------------------

TEST_F(EngineOnContract, WorkForARegisteredWorkerIsNotBlocked) {
  ok(create().with(7, for_gpu));
  EXPECT_EQ(ask(GetExecution{*ExecutionId::parse(E)}).state_vector.blocking_reason,
            BlockingReason::waiting_for_capable_worker);
  ok(register_worker());
  open();
  EXPECT_EQ(ask(GetExecution{*ExecutionId::parse(E)}).state_vector.blocking_reason,
            BlockingReason::waiting_for_worker);
}

TEST_F(EngineOnContract, BlockedWorkIsLetGoForARegisteredWorker) {
  ok(create().with(7, for_gpu));
  ok(block("waiting_for_capable_worker"));
  open();
  run_scanners();
  EXPECT_EQ(core("eligibility_state"), "blocked_by_route");
  ok(register_worker());
  open();
  run_scanners();
  EXPECT_EQ(core("eligibility_state"), "eligible_now");
}

TEST_F(EngineOnContract, BlockedWorkIsLetGoForAnAdvertisedWorker) {
  ok(create().with(7, for_gpu));
  ok(block("waiting_for_capable_worker"));
  command({"SET", "ff:worker:w2-i1:caps", "gpu"});
  command({"SADD", "ff:idx:workers", "w2-i1"});
  open();
  run_scanners();
  EXPECT_EQ(core("eligibility_state"), "eligible_now");
}

TEST_F(EngineOnContract, ADeadWorkerDoesNotCount) {
  ok(create().with(7, for_gpu));
  ok(block("waiting_for_capable_worker"));
  ok(register_worker());
  command({"DEL", "ff:worker:default:w1-i1:alive"});
  open();
  run_scanners();
  EXPECT_EQ(core("eligibility_state"), "blocked_by_route");
}

TEST_F(EngineOnContract, ListsWorkersOfTheContract) {
  ok(register_worker());
  ask(RegisterWorker{.worker = *WorkerId::parse("ours"), .capabilities = gpu});
  std::string text;
  for (const auto& [info, running] : ask(ListWorkers{}).workers)
    text += fmt::format("{} {}\n", info.worker.str(), info.capabilities.csv());
  EXPECT_EQ(text, "ours gpu\nw1-i1 cpu,gpu\n");
  EXPECT_TRUE(ask(ListWorkers{*Namespace::parse("acme")}).workers.empty());
}

// ---- Engines of version 0.1 -----------------------------------------------------------------------

TEST_F(EngineOnContract, TakesWorkThatAnOlderEngineBlocked) {
  open();
  await_listening();
  ok(create().with(7, for_gpu));
  ok({"ff_block", {exec_key("core")}, {"", "", "waiting_for_capable_worker", "none"}});
  await("the claim", [&] { return claim(gpu) == E; });
}

TEST_F(EngineOnContract, LetsGoWorkThatAnOlderEngineBlocked) {
  ok(create().with(7, for_gpu));
  ok({"ff_block", {exec_key("core")}, {"", "", "waiting_for_capable_worker", "none"}});
  open();
  EXPECT_EQ(eligibility(), EligibilityState::blocked_by_route);
  ask(RegisterWorker{.worker = *WorkerId::parse("w9"), .lanes = {main_lane}, .capabilities = gpu});
  run_scanners();
  EXPECT_EQ(eligibility(), EligibilityState::eligible_now);
}

TEST_F(EngineOnContract, CarriesOutManyEffectsOfOnePartition) {
  engine();
  std::vector<std::string> left{"SADD", "ff:effects:{fp:3}"};
  for (int i = 0; i < 200; ++i)
    left.push_back(fmt::format("release_token {} 00000000-0000-4000-8000-{:012}", quota_id, i));
  command(left);
  command({"SADD", "ff:effects:{fp:3}", "resolve_edges of a newer version"});
  for (bool more = true; more;)
    more = must(run_blocking(engine_->executor(), engine_->outbox().run_once())).more;
  EXPECT_EQ(command({"SMEMBERS", "ff:effects:{fp:3}"}).as_array()->size(), 1u);
}

// As a server calls it: without a time of its own.
TEST_F(EngineOnContract, RemovesTheLedgersThatAResetLeft) {
  const auto budget = ask(CreateBudget{.spec = {.hard_limits = {{"tokens", 9}}}}).id;
  const auto id = ask(Submit{.lane = main_lane, .kind = *Kind::parse("k")}).id;
  ask(ReportUsage{.id = budget, .amounts = {{"tokens", 1}}, .execution = id});
  const auto ledgers = [&] { return command({"KEYS", "ff:budget:*:by_exec*"}).as_array()->size(); };
  EXPECT_GT(ledgers(), 0u);
  ask(ResetBudget{budget});
  ask_store(core::ReconcileBudgets{});
  EXPECT_EQ(ledgers(), 0u);
}

// Another program ended the execution, so no process of ours hears first-hand that its slot is free.
TEST_F(EngineOnContract, CarriesOutEffectsThatAnotherProgramLeft) {
  const auto quota = ask(CreateQuota{.spec = {.max_concurrent = 1}}).id;
  const Submit work{.lane = main_lane, .kind = *Kind::parse("k"), .policy = {.quota = quota}};
  const auto id = ask(work).id;
  const auto held = ask(Claim{.worker = *WorkerId::parse("w9"), .lanes = {main_lane}}).executions;
  ASSERT_EQ(held.size(), 1u);
  const auto tag = "{fp:" + std::to_string(id.partition()) + "}";
  command({"FCALL", "ff_complete", "1", "ff:exec:" + tag + ":" + id.str() + ":core", "", "other.1",
           held[0].fence.lease_id.str(),
           std::to_string(std::to_underlying(held[0].fence.lease_epoch)),
           held[0].fence.attempt_id.str(), "0", "", ""});
  EXPECT_EQ(ask(GetQuota{quota}).running, 1u);
  must(run_blocking(engine_->executor(), engine_->outbox().run_once()));
  EXPECT_EQ(ask(GetQuota{quota}).running, 0u);
  EXPECT_TRUE(ask_store(store::FindEffects{.max = 10}).effects.empty());
}

}  // namespace
}  // namespace ff::test
