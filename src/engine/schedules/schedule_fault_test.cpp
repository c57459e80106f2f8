// Each time of a schedule starts one execution, whatever breaks in between.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "engine/breaking_store.hpp"

namespace ff {
namespace {

class ScheduleBreaksOff : public OnABreakingStore, public ::testing::WithParamInterface<Break> {
 protected:
  static ScheduleName named(const char* name) { return *ScheduleName::parse(name); }

  void put(const char* name, Overlap overlap) {
    ScheduleSpec spec{.cron = "@every 1h", .overlap = overlap};
    spec.execution = Submit{.kind = *Kind::parse("k")};
    must(run(PutSchedule{.name = named(name), .spec = std::move(spec)}));
  }
  void put_all() {
    put("skip", Overlap::skip);
    put("queue", Overlap::queue);
    put("replace", Overlap::replace);
  }
  Result<Scan> look() {
    return test::run_blocking(engine_->executor(), engine_->schedules().run_once());
  }
  void look_until_done() {
    while (must(look()).more) {
    }
  }

  // The executions of a schedule, the oldest first: "waiting cancelled"; then its counters.
  std::string story(const char* name) {
    std::string text;
    ListExecutions list;
    list.tag = fmt::format("schedule.name={}", name);
    auto executions = must(run(list)).executions;
    for (auto each = executions.rbegin(); each != executions.rend(); ++each)
      text += fmt::format("{} ", to_string(each->state));
    const auto info = must(run(GetSchedule{.name = named(name)}));
    return text + fmt::format("started={} skipped={} queued={}", info.started, info.skipped,
                              info.queued.size());
  }

  // `cause` is made again and again in a new store, each time broken one call later; then `expect` holds.
  template <class Prepare, class Cause, class Expect>
  void break_everywhere(Prepare prepare, Cause cause, Expect expect) {
    for (int number = 0; number < 200; ++number) {
      SCOPED_TRACE(number);
      begin();
      put_all();
      prepare();
      store_->break_call(number, GetParam());
      cause();
      const bool broke = store_->broke();
      store_->mend();
      if (GetParam() == Break::crash) open();
      look_until_done();
      expect();
      if (HasFailure()) return;
      if (!broke) {
        EXPECT_GT(number, 2) << "it was broken at some point";
        return;
      }
    }
    FAIL() << "it never ended";
  }
};

TEST_P(ScheduleBreaksOff, AndTheFirstTimeStartsOnce) {
  break_everywhere([this] { clock_->advance(1h); }, [this] { static_cast<void>(look()); },
                   [this] {
                     for (const auto* name : {"skip", "queue", "replace"})
                       EXPECT_EQ(story(name), "waiting started=1 skipped=0 queued=0");
                   });
}

TEST_P(ScheduleBreaksOff, AndTheOverlapIsDecidedOnce) {
  break_everywhere(
      [this] {
        clock_->advance(1h);
        look_until_done();
        clock_->advance(1h);
      },
      [this] { static_cast<void>(look()); },
      [this] {
        EXPECT_EQ(story("skip"), "waiting started=1 skipped=1 queued=0");
        EXPECT_EQ(story("queue"), "waiting started=1 skipped=0 queued=1");
        EXPECT_EQ(story("replace"), "cancelled waiting started=2 skipped=0 queued=0");
      });
}

TEST_P(ScheduleBreaksOff, AndARepeatedRunStartsOne) {
  const RunSchedule again{.name = named("skip"), .request_id = RequestId{Uuid{{7}}}};
  break_everywhere([] {}, [&] { static_cast<void>(run(again)); },
                   [&] {
                     must(run(again));
                     EXPECT_EQ(story("skip"), "waiting started=1 skipped=0 queued=0");
                   });
}

INSTANTIATE_TEST_SUITE_P(, ScheduleBreaksOff,
                         ::testing::Values(Break::before, Break::after, Break::crash),
                         [](const auto& each) {
                           return each.param == Break::before  ? "BeforeACall"
                                  : each.param == Break::after ? "AfterACall"
                                                               : "InACrash";
                         });

}  // namespace
}  // namespace ff
