// Two engines on one Valkey, as two servers have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <flowfabric/flowfabric.hpp>

#include <future>
#include <set>

#include "base/clock.hpp"
#include "http/server/server.hpp"
#include "sdk/client/blocking.hpp"
#include "tests/support/await.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "tests/valkey_faults/proxy.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;
using Steady = std::chrono::steady_clock;

Claim claim_by(const char* worker, Millis wait, Millis ttl = 1s) {
  return {.worker = *WorkerId::parse(worker), .max = 10, .lease_ttl = ttl, .wait = wait};
}

TEST(ValkeyEngines, AWaitingClaimIsWokenThroughTheOtherEngine) {
  ValkeyServer server;
  const auto waits = open_engine(server.client_options());
  const auto submits = open_engine(server.client_options());
  for (int i = 0; i < 5; ++i) {
    auto claimed = test::start(*waits, claim_by("w", 10s));
    test::await_waiting_claims(*waits, 1);
    must(run_blocking(*submits, Submit{.kind = kind}));
    EXPECT_EQ(must(claimed.get()).executions.size(), 1);
  }
}

TEST(ValkeyEngines, AWaitForAResultIsWokenThroughTheOtherEngine) {
  ValkeyServer server;
  const auto waits = open_engine(server.client_options());
  const auto works = open_engine(server.client_options());
  const auto id = must(run_blocking(*waits, Submit{.kind = kind})).id;
  auto result = test::start(*waits, GetResult{.id = id, .wait = 10s});
  const auto claimed = must(run_blocking(*works, claim_by("w", 5s))).executions.at(0);
  must(run_blocking(*works, Complete{.id = id, .fence = claimed.fence, .result = "done"}));
  ASSERT_EQ(result.wait_for(5s), std::future_status::ready) << "it was not woken";
  EXPECT_EQ(must(result.get()).bytes, "done");
}

// How many lanes an engine holds back.
std::uint64_t paused_lanes(Engine& engine) { return must(run_blocking(engine, CheckReady{})).paused_lanes; }

TEST(ValkeyEngines, ALaneIsPausedAndResumedThroughTheOtherEngine) {
  ValkeyServer server;
  const auto works = open_engine(server.client_options());
  const auto operates = open_engine(server.client_options());
  must(run_blocking(*operates, PauseLane{.lane = default_lane()}));
  test::await("a pause to be heard of", [&] { return paused_lanes(*works) == 1; });
  must(run_blocking(*operates, Submit{.kind = kind}));
  EXPECT_TRUE(must(run_blocking(*works, claim_by("w", 0s))).executions.empty());
  auto claimed = test::start(*works, claim_by("w", 10s));
  test::await_waiting_claims(*works, 1);
  must(run_blocking(*operates, ResumeLane{.lane = default_lane()}));
  ASSERT_EQ(claimed.wait_for(5s), std::future_status::ready) << "it was not woken";
  EXPECT_EQ(must(claimed.get()).executions.size(), 1);
}

// As if the message of the change was lost: no program told of it.
TEST(ValkeyEngines, APauseIsFoundWithoutItsMessage) {
  ValkeyServer server;
  const auto works = open_engine(server.client_options());
  const std::string key = "ff:lanes:{lanes}:paused";
  server.call({"HSET", key, "default\x1e" "default", "0\x1f" "ada\x1f", "version", "7"});
  const auto began = Steady::now();
  test::await("a pause to be found", [&] { return paused_lanes(*works) == 1; });
  EXPECT_LT(Steady::now() - began, 2s);
  server.call({"DEL", key});
  test::await("its end to be found", [&] { return paused_lanes(*works) == 0; });
}

TEST(ValkeyEngines, TheOtherEngineGoesOnWithTheTimersOfOneThatDied) {
  ValkeyServer server;
  const auto stays = open_engine(server.client_options());
  {
    Proxy proxy(server.port());
    const auto dies = open_engine(proxy.client_options());
    for (int i = 0; i < 10; ++i) must(run_blocking(*dies, Submit{.kind = kind}));
    Submit delayed{.kind = kind};
    delayed.delay_until = std::chrono::floor<Millis>(std::chrono::system_clock::now()) + 1s;
    must(run_blocking(*dies, delayed));
    ASSERT_EQ(must(run_blocking(*dies, claim_by("w1", 0s))).executions.size(), 10);
    proxy.swallow();
  }
  std::size_t claimed = 0;
  const auto end = Steady::now() + 8s;
  while (claimed < 11 && Steady::now() < end)
    for (const auto& each : must(run_blocking(*stays, claim_by("w2", 500ms, 1min))).executions) {
      ++claimed;
      must(run_blocking(*stays, Complete{.id = each.id, .fence = each.fence}));
    }
  EXPECT_EQ(claimed, 11);
}

// A clock that is put right goes back.
TEST(ValkeyEngines, AListShowsAllAfterTheClockWentBack) {
  ValkeyServer server;
  const auto clock = std::make_shared<ManualClock>(TimePoint{Millis{1'800'000'000'000}});
  LocalEngine engine(must(valkey_store::open({.client = server.client_options(),
                                              .partitions = {.executions = 1},
                                              .simulated_clock = clock})),
                     LocalEngineOptions{.scan = false});
  std::set<ExecutionId> submitted;
  for (const auto step : {1s, -3600s, 1s, 1s, -10s, 1s}) {
    clock->advance(step);
    for (int i = 0; i < 5; ++i)
      submitted.insert(must(run_blocking(engine, Submit{.kind = kind})).id);
  }
  std::set<ExecutionId> listed;
  ListExecutions page{.limit = 3};
  do {
    const auto reply = must(run_blocking(engine, page));
    for (const auto& each : reply.executions) listed.insert(each.id);
    page.cursor = reply.next;
  } while (page.cursor);
  EXPECT_EQ(listed, submitted);
}

// FLUSHALL while a program runs.
TEST(ValkeyEngines, TheNumbersOfPartitionsSurviveAFlush) {
  ValkeyServer server;
  const auto store = must(valkey_store::open({.client = server.client_options(),
                                              .partitions = {.executions = 8, .budgets = 4},
                                              .server_interval = 20ms}));
  server.flushall();
  const auto stored = [&](const char* field) {
    const auto reply = server.call({"HGET", "ff:config:partitions", field});
    return reply.as_text() ? *reply.as_text() : "";
  };
  test::await("they are stored again", [&] { return stored("num_flow_partitions") == "8"; });
  EXPECT_EQ(stored("num_budget_partitions"), "4");
  EXPECT_EQ(stored("num_quota_partitions"), "32");
}

// A scanner's question is under way, and no answer will come.
TEST(ValkeyEngines, StopWhileTheServerIsSilent) {
  ValkeyServer server;
  Proxy proxy(server.port());
  auto client = proxy.client_options();
  client.request_timeout = 5min;
  auto engine = std::make_unique<LocalEngine>(
      must(valkey_store::open({.client = client})),
      LocalEngineOptions{.intervals = {.unblock = 100ms, .budget_reset = 100ms}});
  proxy.swallow();
  test::await(
      "a scanner asks", [&] { return proxy.swallowed() > 0; }, 10s);
  auto stopped = std::async(std::launch::async, [&engine] { engine.reset(); });
  ASSERT_EQ(stopped.wait_for(10s), std::future_status::ready);
}

// Requests are cut after ten seconds, whatever they wait for.
TEST(ValkeyEngines, AServerStopsWhileTheirServerIsSilent) {
  ValkeyServer server;
  Proxy proxy(server.port());
  auto client = proxy.client_options();
  client.request_timeout = 5min;
  LocalEngine engine(must(valkey_store::open({.client = client})),
                     LocalEngineOptions{.scan = false});
  http::ServerOptions options{.on_cut = [&engine] { engine.break_off(); }};
  auto http = std::make_unique<http::Server>(engine, must(http::Listener::bind("127.0.0.1:0")),
                                             std::move(options));
  const auto remote = must(open(http->url()));
  proxy.swallow();
  auto submitted = test::start(*remote, Submit{.kind = kind});
  test::await(
      "it is asked", [&] { return proxy.swallowed() > 0; }, 10s);
  auto stopped = std::async(std::launch::async, [&http] { http.reset(); });
  ASSERT_EQ(stopped.wait_for(20s), std::future_status::ready);
  EXPECT_FALSE(submitted.get());
}

// One that goes away without a word takes nothing with it, and one that comes finds everything.
TEST(ValkeyEngines, ComeAndGoUnderLoad) {
  ValkeyServer server;
  const auto stays = open_engine(server.client_options());
  Load load({stays.get()});
  for (int i = 0; i < 2; ++i) {
    Proxy proxy(server.port());
    const auto guest = open_engine(proxy.client_options());
    for (int j = 0; j < 5; ++j) {
      const auto claimed = run_blocking(*guest, claim_by("guest", 20ms));
      if (!claimed) ADD_FAILURE() << claimed.error().message;
    }
    load.await_progress(20);
    proxy.swallow();
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

}  // namespace
}  // namespace ff::faults
