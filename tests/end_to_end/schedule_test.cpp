// Schedules on the command line.
#include <fstream>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ScheduleCliTest : public CliTest {
 protected:
  ScheduleCliTest() : server_(serve("server")) {}

  std::unique_ptr<Process> server_;
};

TEST_F(ScheduleCliTest, AScheduleIsPutShownPausedResumedRunAndRemoved) {
  const Words put{
      "schedules", "put",      "nightly", "--cron", "0 3 * * *", "--zone", "Europe/Berlin",
      "--kind",    "report",   "--lane",  "batch",  "--payload", "in",     "--overlap",
      "queue",     "--jitter", "5m"};
  EXPECT_THAT(out(put), HasSubstr("created; next: "));
  EXPECT_THAT(out(put), HasSubstr("unchanged; next: "));
  EXPECT_THAT(out({"schedules", "ls"}),
              AllOf(HasSubstr("nightly"), HasSubstr("Europe/Berlin"), HasSubstr("active")));
  EXPECT_THAT(out({"schedules", "get", "nightly", "--json"}),
              AllOf(HasSubstr(R"("lane":"batch")"), HasSubstr(R"("jitter_ms":300000)")));
  EXPECT_EQ(std::ranges::count(out({"schedules", "next", "nightly", "--count", "3"}), '\n'), 3);
  EXPECT_THAT(out({"schedules", "pause", "nightly", "--reason", "moving"}),
              AllOf(HasSubstr("paused"), HasSubstr("moving")));
  EXPECT_THAT(out({"schedules", "ls"}), HasSubstr("paused"));
  EXPECT_THAT(out({"schedules", "resume", "nightly"}), Not(HasSubstr("moving")));
  const auto id = trimmed(out({"schedules", "run", "nightly"}));
  EXPECT_THAT(out({"get", id}), AllOf(HasSubstr("report"), HasSubstr("schedule.name")));
  EXPECT_EQ(out({"payload", id}), "in");
  EXPECT_THAT(out({"schedules", "get", "nightly"}), AllOf(HasSubstr(id), HasSubstr("run by hand")));
  out({"schedules", "rm", "nightly"});
  EXPECT_EQ(ff({"schedules", "get", "nightly"}).exit_code, 3);
}

TEST_F(ScheduleCliTest, AFlowIsReadFromAFile) {
  const auto file = temp_.path() / "flow.json";
  std::ofstream(file) << R"({"kind": "release", "nodes": [{"name": "a", "kind": "k"}]})";
  EXPECT_THAT(out({"schedules", "put", "weekly", "--cron", "@weekly", "--flow", file.string()}),
              HasSubstr("created"));
  EXPECT_THAT(out({"schedules", "ls"}), HasSubstr("flow release"));
  const auto id = trimmed(out({"schedules", "run", "weekly"}));
  EXPECT_THAT(out({"flow", "get", id}), HasSubstr("release"));
}

TEST_F(ScheduleCliTest, AnExpressionIsExplainedWithoutASchedule) {
  EXPECT_EQ(out({"schedules", "next", "--cron", "@hourly", "--count", "2", "--json"})
                .find("{\"times_ms\":["),
            0u);
}

TEST_F(ScheduleCliTest, WrongInputIsRefused) {
  EXPECT_THAT(ff({"schedules", "put", "x", "--cron", "0 25 * * *", "--kind", "k"}).err,
              HasSubstr("25 is not from 0 to 23 at position 3 (hour)"));
  for (const Words& wrong :
       {Words{"schedules", "put", "x", "--cron", "@daily"},
        Words{"schedules", "put", "x", "--kind", "k"},
        Words{"schedules", "put", "x", "--cron", "@daily", "--zone", "Mars", "--kind", "k"},
        Words{"schedules", "put", "x", "--cron", "@daily", "--kind", "k", "--overlap", "both"},
        Words{"schedules", "put", "x", "--cron", "@daily", "--kind", "k", "--flow", "f.json"},
        Words{"schedules", "put", "x/y", "--cron", "@daily", "--kind", "k"},
        Words{"schedules", "next"}, Words{"schedules", "next", "x", "--cron", "@daily"}})
    EXPECT_EQ(ff(wrong).exit_code, 2) << ::testing::PrintToString(wrong);
  EXPECT_EQ(ff({"schedules", "run", "x"}).exit_code, 3);
}

}  // namespace
}  // namespace ff::test
