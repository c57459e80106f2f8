// A way to Valkey that is cut, stalls, or carries garbage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/runtime.hpp"
#include "sdk/client/blocking.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "tests/valkey_faults/proxy.hpp"
#include "valkey/client.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;

TEST(ValkeyConnectionFault, CutAgainAndAgain) {
  ValkeyServer server;
  const auto first = open_engine(server.client_options());
  const auto second = open_engine(server.client_options());
  Load load({first.get(), second.get()});
  for (int i = 0; i < 20; ++i) {
    load.await_progress(10);
    server.call({"CLIENT", "KILL", "TYPE", i % 2 == 0 ? "normal" : "pubsub"});
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyConnectionFault, ServerStalls) {
  ValkeyServer server;
  const auto engine = open_engine(server.client_options());
  Load load({engine.get()});
  for (int i = 0; i < 2; ++i) {
    load.await_progress();
    server.pause();
    std::this_thread::sleep_for(2500ms);
    server.resume();
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyConnectionFault, Garbage) {
  ValkeyServer server;
  Proxy proxy(server.port());
  const auto engine = open_engine(proxy.client_options());
  Load load({engine.get()});
  for (int i = 0; i < 10; ++i) {
    load.await_progress(20);
    proxy.corrupt();
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

// The server is a replica that lags behind while it is asked for the lease and the payload, and then takes
// over.
TEST(ValkeyConnectionFault, APayloadIsReadWhereItsLeaseWasGiven) {
  ValkeyServer server;
  LocalEngine engine(must(valkey_store::open({.client = server.client_options(), .sweep = false})),
                     LocalEngineOptions{.scan = false});
  const Claim claim{.worker = *WorkerId::parse("w"), .lease_ttl = 1min};
  must(run_blocking(engine, claim));  // registers the worker
  const auto id = must(run_blocking(engine, Submit{.kind = kind, .payload = "bytes"})).id;
  const auto key = fmt::format("ff:exec:{{fp:{}}}:{}:payload", id.partition(), id.str());
  server.call({"RENAME", key, key + ":later"});
  server.call({"REPLICAOF", "127.0.0.1", "1"});
  server.call({"CONFIG", "RESETSTAT"});
  auto claimed = test::start(engine, claim);
  test::await("the payload was asked for", [&] {
    return server.call({"INFO", "commandstats"}).as_text()->find("cmdstat_get:") !=
           std::string::npos;
  });
  Runtime runtime{1};
  valkey::Client client(runtime.executor(), server.client_options());
  client.send({.command = {"REPLICAOF", "NO", "ONE"}}, [](const Result<valkey::Reply>&) {});
  client.send({.command = {"RENAME", key + ":later", key}}, [](const Result<valkey::Reply>&) {});
  EXPECT_EQ(must(claimed.get()).executions.at(0).payload, "bytes");
}

// ---- The answer to a call is lost: the client sends it again -------------------------------------

class LostAnswer : public ::testing::Test {
 protected:
  // Runs the operation; its first answer does not arrive.
  template <class Op>
  auto run_twice(Op operation) {
    proxy_.lose_answer();
    auto reply = must(run_blocking(engine_, std::move(operation)));
    EXPECT_TRUE(proxy_.has_lost_it());
    return reply;
  }
  BudgetInfo budget(const BudgetId& id) { return must(run_blocking(engine_, GetBudget{id})); }
  BudgetId make_budget() {
    return must(run_blocking(engine_, CreateBudget{.spec = {.hard_limits = {{"tokens", 10}}}})).id;
  }
  ClaimedExecution claim() {
    return must(run_blocking(engine_, Claim{.worker = worker_, .lease_ttl = 1min}))
        .executions.at(0);
  }

  ValkeyServer server_;
  Proxy proxy_{server_.port()};
  LocalEngine engine_{must(valkey_store::open({.client = proxy_.client_options(), .sweep = false})),
                      LocalEngineOptions{.scan = false}};
  WorkerId worker_ = *WorkerId::parse("w");
};

TEST_F(LostAnswer, AUsageReportWithoutADedupKeyCountsOnce) {
  const auto id = make_budget();
  EXPECT_EQ(run_twice(ReportUsage{.id = id, .amounts = {{"tokens", 3}}}).outcome,
            UsageOutcome::applied);
  EXPECT_EQ(budget(id).usage, (Amounts{{"tokens", 3}}));
  const auto refused = run_twice(ReportUsage{.id = id, .amounts = {{"tokens", 9}}});
  EXPECT_EQ(refused.outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(refused.breach->usage, 3u);
  EXPECT_EQ(budget(id).breach_count, 1u);
}

TEST_F(LostAnswer, AResetCountsOnce) {
  const auto id = make_budget();
  run_twice(ResetBudget{id});
  EXPECT_EQ(budget(id).reset_count, 1u);
  run_twice(ResetBudget{id});
  EXPECT_EQ(budget(id).reset_count, 2u) << "another call is another reset";
}

TEST_F(LostAnswer, AReplaySucceeds) {
  const auto id = must(run_blocking(engine_, Submit{.kind = kind})).id;
  must(run_blocking(engine_, Complete{.id = id, .fence = claim().fence}));
  EXPECT_EQ(run_twice(Replay{.id = id, .reason = "again"}).state, ExecutionState::waiting);
  EXPECT_EQ(must(run_blocking(engine_, GetExecution{id})).replays, 1u);
}

TEST_F(LostAnswer, ABudgetIsDeletedOnce) {
  const auto id = make_budget();
  run_twice(DeleteBudget{id});
  EXPECT_EQ(run_blocking(engine_, DeleteBudget{id}).error().code, Errc::budget_not_found)
      << "another call finds it gone";
}

TEST_F(LostAnswer, ALeaseIsRevokedOnce) {
  const auto id = must(run_blocking(engine_, Submit{.kind = kind})).id;
  const auto fence = claim().fence;
  const auto revoked = run_twice(RevokeLease{.id = id});
  EXPECT_EQ(revoked.status, RevokeStatus::revoked);
  EXPECT_EQ(revoked.lease_epoch, fence.lease_epoch);
  EXPECT_EQ(must(run_blocking(engine_, RevokeLease{.id = id})).status,
            RevokeStatus::already_revoked)
      << "another call finds it revoked";
}

TEST_F(LostAnswer, AGrantIsNotLost) {
  const Grant grant{.worker = worker_, .grant_ttl = 1min};
  must(run_blocking(engine_, grant));  // registers the worker
  const auto id = must(run_blocking(engine_, Submit{.kind = kind})).id;
  const auto granted = run_twice(grant).execution;
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->id, id);
}

TEST_F(LostAnswer, ASuspensionAndItsSignalsCountOnce) {
  const auto id = must(run_blocking(engine_, Submit{.kind = kind})).id;
  EXPECT_EQ(
      run_twice(Suspend{.id = id, .fence = claim().fence, .condition = {CountOf{.n = 2}}}).state,
      ExecutionState::suspended);
  const SendSignal vote{.id = id, .name = *SignalName::parse("vote")};
  EXPECT_EQ(run_twice(vote).effect, SignalEffect::appended_to_waitpoint);
  EXPECT_EQ(run_twice(vote).effect, SignalEffect::resume_condition_satisfied);
  EXPECT_TRUE(claim().resumed);
  EXPECT_EQ(must(run_blocking(engine_, GetSignals{.id = id})).signals.size(), 2u);
}

}  // namespace
}  // namespace ff::faults
