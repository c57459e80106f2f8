// A Valkey server that dies, loses its function library, is busy, is full or loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "sdk/client/blocking.hpp"
#include "store/valkey/keys.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;
using ::testing::HasSubstr;

std::string error_text(const auto& reply) {
  return reply ? "no error" : fmt::format("{}: {}", reply.error().name(), reply.error().message);
}

// Nothing of an execution goes away by itself.
void expect_payloads_stay(ValkeyServer& server, const Ledger& ledger) {
  for (const auto& id : ledger.submitted_ids()) {
    const auto left = server.call({"PTTL", valkey_store::keys::of_execution(id, "payload")});
    EXPECT_EQ(*left.as_int(), -1) << id.str();
  }
}

TimePoint now() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

void kill_under_load(const std::string& appendfsync, valkey_store::Durability durability) {
  ValkeyServer server({.append_only = true, .arguments = {"--appendfsync", appendfsync}});
  const auto first = open_engine(server.client_options(), durability);
  const auto second = open_engine(server.client_options(), durability);
  const bool waits =
      durability != valkey_store::Durability::server;  // up to a second for each call
  Load load({first.get(), second.get()}, waits ? 20 : 200);
  const auto await_progress = [&] { load.await_progress(waits ? 10 : 50, waits ? 30s : 10s); };
  for (int i = 0; i < (waits ? 3 : 5); ++i) {
    await_progress();
    server.kill();
    // Valkey answers before it writes while an fsync is in progress, so only confirmed changes are safe.
    if (waits) load.ledger().lost_unconfirmed(now());
    std::this_thread::sleep_for(100ms);
    server.start();
  }
  await_progress();
  EXPECT_EQ(load.finish(), "");
  EXPECT_EQ(error_text(run_blocking(*first, CheckReady{})), "no error");
  expect_payloads_stay(server, load.ledger());
}

TEST(ValkeyServerFault, KilledWithFsyncAlwaysLosesNothing) {
  kill_under_load("always", valkey_store::Durability::server);
}

TEST(ValkeyServerFault, KilledLosesNothingThatWasConfirmed) {
  kill_under_load("everysec", valkey_store::Durability::fsync);
}

// A snapshot stands for what was on disk when the server died.
TEST(ValkeyServerFault, LeaseThatWasLostIsRefused) {
  ValkeyServer server;
  const auto engine = open_engine(server.client_options());
  const auto claim = [&](const ExecutionId& id, const char* worker) {
    return must(run_blocking(*engine, ClaimExecution{.id = id, .worker = *WorkerId::parse(worker)}))
        .fence;
  };
  const auto complete = [&](const ExecutionId& id, const Fence& fence) {
    return run_blocking(*engine, Complete{.id = id, .fence = fence});
  };
  const auto waits = must(run_blocking(*engine, Submit{.kind = kind})).id;
  const auto runs = must(run_blocking(*engine, Submit{.kind = kind})).id;
  server.call({"SAVE"});
  const auto lost_while_waiting = claim(waits, "w1");
  const auto lost = claim(runs, "w1");
  server.kill();
  server.start();
  const auto current = claim(runs, "w2");
  EXPECT_EQ(current.lease_epoch, lost.lease_epoch);
  EXPECT_EQ(complete(runs, lost).error().code, Errc::stale_lease);
  EXPECT_EQ(complete(waits, lost_while_waiting).error().code, Errc::execution_not_active);
  EXPECT_EQ(error_text(complete(runs, current)), "no error");
}

TEST(ValkeyServerFault, KilledKeepsSuspendedWorkAndItsSignals) {
  ValkeyServer server({.append_only = true, .arguments = {"--appendfsync", "always"}});
  const auto engine = open_engine(server.client_options());
  const auto go = *SignalName::parse("go");
  const auto kill = [&] {
    server.kill();
    server.start();
    must(run_blocking(*engine, CheckReady{}));
  };
  const auto claim = [&](Millis wait) {
    return must(run_blocking(
                    *engine,
                    Claim{.worker = *WorkerId::parse("w"), .lease_ttl = 1min, .wait = wait}))
        .executions.at(0);
  };
  const auto id = must(run_blocking(*engine, Submit{.kind = kind})).id;
  must(run_blocking(*engine, SendSignal{.id = id, .name = go, .payload = "early"}));
  kill();
  must(run_blocking(*engine, Suspend{.id = id,
                                     .fence = claim(10s).fence,
                                     .condition = {CountOf{.n = 2, .name = go}},
                                     .state = "half-way"}));
  kill();
  EXPECT_EQ(must(run_blocking(*engine, GetSuspension{id})).suspension->progress,
            "1 of 2 go signals");
  must(run_blocking(*engine, SendSignal{.id = id, .name = go, .payload = "late"}));
  kill();  // between the signal and the claim
  const auto resumed = claim(10s);
  EXPECT_EQ(resumed.wake->cause, WakeCause::signals);
  EXPECT_EQ(must(run_blocking(*engine, GetSuspension{id})).suspension->state, "half-way");
  EXPECT_EQ(must(run_blocking(*engine, GetSignals{.id = id})).signals.size(), 2u);
}

// The log is not a list of every call that failed: each of the two connections says it once.
TEST(ValkeyServerFault, LogSaysThatItIsLostAndThatItIsBack) {
  const test::LogCapture log;
  {
    ValkeyServer server({.append_only = true});
    const auto engine = open_engine(server.client_options());
    Load load({engine.get()});
    load.await_progress();
    server.kill();
    std::this_thread::sleep_for(500ms);
    const auto ready = run_blocking(*engine, CheckReady{});
    EXPECT_THAT(error_text(ready), HasSubstr("store_unavailable: "));
    server.start();
    load.await_progress();
    EXPECT_EQ(load.finish(), "");
  }
  const auto count = [text = log.text()](std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("not available, trying again until it is"), 2) << log.text();
  EXPECT_EQ(count("available again"), 2) << log.text();
}

TEST(ValkeyServerFault, FunctionLibraryIsFlushedUnderLoad) {
  ValkeyServer server;
  const auto first = open_engine(server.client_options());
  const auto second = open_engine(server.client_options());
  Load load({first.get(), second.get()});
  for (int i = 0; i < 10; ++i) {
    load.await_progress(20);
    // Freed in the background, as is usual, the old library crashes Valkey 8.0.1 now and then.
    server.call({"FUNCTION", "FLUSH", "SYNC"});
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

// Somebody else's function keeps the server busy until it is killed.
TEST(ValkeyServerFault, BusyServerGoesOnAfterFunctionKill) {
  ValkeyServer server({.arguments = {"--busy-reply-threshold", "100"}});
  server.call({"FUNCTION", "LOAD",
               "#!lua name=busy\n"
               "server.register_function{function_name='busy', flags={'no-writes'},\n"
               "  callback=function() while true do end end}"});
  const auto engine = open_engine(server.client_options());
  Load load({engine.get()});
  for (int i = 0; i < 2; ++i) {
    load.await_progress();
    auto busy = std::async(std::launch::async, [&] {
      try {
        server.call({"FCALL_RO", "busy", "0"});
      } catch (const std::exception&) {
      }
    });
    std::this_thread::sleep_for(700ms);
    test::await("the function is killed", [&] {
      server.call({"FUNCTION", "KILL"});
      return busy.wait_for(0s) == std::future_status::ready;
    });
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyServerFault, FullServerRefusesClearlyAndGoesOn) {
  ValkeyServer server;
  const auto engine = open_engine(server.client_options());
  Load load({engine.get()});
  load.await_progress();
  server.call({"CONFIG", "SET", "maxmemory", "1mb"});
  const Submit submit{.kind = *Kind::parse("faults")};
  test::await("a submit is refused", [&] {
    const auto reply = run_blocking(*engine, submit);
    return !reply && reply.error().code == Errc::store_unavailable;
  });
  EXPECT_THAT(error_text(run_blocking(*engine, submit)),
              HasSubstr("store_unavailable: Valkey has reached its maxmemory"));
  test::await("the engine is not ready", [&] { return !run_blocking(*engine, CheckReady{}); });
  EXPECT_THAT(error_text(run_blocking(*engine, CheckReady{})), HasSubstr("maxmemory"));
  EXPECT_TRUE(run_blocking(*engine, CountExecutions{}));  // reading goes on
  server.call({"CONFIG", "SET", "maxmemory", "0"});
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyServerFault, LoadingServerIsWaitedForAndSaidSo) {
  ValkeyServer server({.append_only = true,
                       .arguments = {"--appendfsync", "always",
                                     "--loading-process-events-interval-bytes", "1024"}});
  const auto engine = open_engine(server.client_options());
  Load load({engine.get()});
  load.await_progress(300);
  server.call({"BGREWRITEAOF"});  // what it loads then begins with a snapshot
  test::await("the file is rewritten", [&] {
    const auto info = server.call({"INFO", "persistence"});
    return info.as_text()->find("aof_rewrite_in_progress:0") != std::string::npos &&
           info.as_text()->find("aof_rewrite_scheduled:0") != std::string::npos;
  });
  // How many keys there are depends on how busy the machine is; loading them shall not.
  constexpr std::int64_t loading_us = 3'000'000;
  const auto delay_us = loading_us / std::get<std::int64_t>(server.call({"DBSIZE"}).value);
  server.kill();
  std::atomic<bool> started = false;
  auto watched = std::async(std::launch::async, [&] {
    std::set<std::string> said;
    while (!started) {
      const auto ready = run_blocking(*engine, CheckReady{});
      if (!ready) said.insert(error_text(ready));
    }
    return said;
  });
  server.start({"--key-load-delay", std::to_string(delay_us)});  // returns when all is loaded
  started = true;
  const auto said = watched.get();
  EXPECT_THAT(said, ::testing::Contains(HasSubstr("LOADING")));
  for (const auto& each : said)
    EXPECT_THAT(each, ::testing::AnyOf(HasSubstr("store_unavailable: "), HasSubstr("timed_out: "),
                                       HasSubstr("not_ready: the scanner")));
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

}  // namespace
}  // namespace ff::faults
