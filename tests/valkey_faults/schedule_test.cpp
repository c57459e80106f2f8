// Schedules of three servers on one Valkey, some of which die all the time.
#include <gtest/gtest.h>

#include <flowfabric/flowfabric.hpp>

#include <map>

#include <fmt/format.h>

#include "sdk/client/blocking.hpp"
#include "tests/support/await.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "tests/valkey_faults/proxy.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;

ScheduleName schedule_of(int number) { return *ScheduleName::parse(fmt::format("s{}", number)); }

// The executions that a schedule has started, by the time that they are for.
std::map<std::string, int> starts_of(Engine& engine, int number) {
  std::map<std::string, int> starts;
  ListExecutions list{.limit = 1'000};
  list.tag = fmt::format("schedule.name=s{}", number);
  do {
    const auto page = must(run_blocking(engine, list));
    for (const auto& each : page.executions) ++starts[each.tags.at("schedule.time")];
    list.cursor = page.next;
  } while (list.cursor);
  return starts;
}

TEST(ValkeySchedules, EachTimeStartsOnceThoughServersDie) {
  constexpr int schedules = 12;
  constexpr auto seconds = 6;
  ValkeyServer server;
  const auto stays = open_engine(server.client_options());
  const auto begin = std::chrono::ceil<std::chrono::seconds>(std::chrono::system_clock::now()) + 1s;
  for (int i = 0; i < schedules; ++i) {
    PutSchedule put{.name = schedule_of(i)};
    put.spec.cron = "@every 1s";
    put.spec.execution = Submit{.kind = kind};
    put.spec.overlap = i % 2 == 0 ? Overlap::replace : Overlap::skip;
    put.spec.starts_at = begin;
    put.spec.ends_at = begin + std::chrono::seconds{seconds};
    must(run_blocking(*stays, std::move(put)));
  }
  // One that dies takes its requests with it, wherever they are.
  const auto live_and_die = [&](Millis life) {
    while (std::chrono::system_clock::now() < begin + std::chrono::seconds{seconds}) {
      Proxy proxy(server.port());
      const auto dies = open_engine(proxy.client_options());
      const auto until = std::chrono::steady_clock::now() + life;
      test::await("its end", [&] { return std::chrono::steady_clock::now() >= until; });
      proxy.swallow();
    }
  };
  std::jthread second([&] { live_and_die(700ms); });
  std::jthread third([&] { live_and_die(1'100ms); });
  second.join();
  third.join();
  for (int i = 0; i < schedules; ++i) {
    SCOPED_TRACE(i);
    const GetSchedule get{.name = schedule_of(i)};
    const auto decided = [&] {
      const auto info = must(run_blocking(*stays, get));
      return info.started + info.skipped + info.missed;
    };
    test::await(
        "all times are decided", [&] { return decided() >= seconds; }, 20s);
    const auto info = must(run_blocking(*stays, get));
    EXPECT_EQ(info.started + info.skipped + info.missed, seconds);
    EXPECT_EQ(info.failed, 0u);
    EXPECT_EQ(info.next_at, std::nullopt);
    const auto starts = starts_of(*stays, i);
    EXPECT_EQ(starts.size(), info.started);
    for (const auto& [time, count] : starts) EXPECT_EQ(count, 1) << time;
  }
}

}  // namespace
}  // namespace ff::faults
