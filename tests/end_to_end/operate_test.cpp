// Changing executions, and saving them.
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OperateTest : public CliTest {};

TEST_F(OperateTest, CancelReplayAndPriority) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  EXPECT_EQ(out({"priority", id, "7", "--json"}), "{\"before\":0,\"after\":7}\n");
  EXPECT_EQ(ff({"priority", id, "9001"}).exit_code, 2);
  EXPECT_EQ(ff({"replay", id}).exit_code, 4) << "it has not ended";
  EXPECT_EQ(out({"cancel", id, "--reason", "not needed"}), "state  cancelled\n");
  EXPECT_THAT(out({"get", id}), HasSubstr("not needed"));
  EXPECT_EQ(ff({"result", id}).exit_code, 1);
  EXPECT_EQ(ff({"priority", id, "8"}).exit_code, 4);
  EXPECT_EQ(out({"cancel", id}), "state  cancelled\n") << "a repeat";
  EXPECT_EQ(out({"replay", id, "--reason", "needed", "--requested-by", "ada", "--json"}),
            "{\"state\":\"waiting\"}\n");
}

TEST_F(OperateTest, CancelOfAnEndedExecutionSaysWhatToDo) {
  const auto demo = serve("demo");
  const auto id = submit({"greet", "Ada", "--lane", "demo"});
  out({"result", id, "--wait"});
  const auto refused = ff({"cancel", id});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("is completed; to run it again, replay it"));
}

TEST_F(OperateTest, RevokeTakesAnExecutionFromItsWorker) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  EXPECT_EQ(ff({"revoke", id}).exit_code, 4) << "nobody has it";
  EXPECT_EQ(ff({"revoke", id, "--lease", "7"}).exit_code, 2);
}

TEST_F(OperateTest, TagsAreShownSetAndRemoved) {
  const auto server = serve("server");
  const auto id = submit({"k", "--tag", "a.b=1"});
  EXPECT_EQ(out({"tags", id}), "a.b  1\n");
  EXPECT_EQ(out({"tags", id, "a.c=2", "a.d=x=y"}), "a.b  1\na.c  2\na.d  x=y\n");
  EXPECT_EQ(out({"tags", id, "--remove", "a.b,a.d", "--json"}), "{\"tags\":{\"a.c\":\"2\"}}\n");
  EXPECT_EQ(ff({"tags", id, "nothing"}).exit_code, 2);
  EXPECT_EQ(ff({"tags", id, "Wrong=1"}).exit_code, 2);
}

TEST_F(OperateTest, BulkJobsActOnAllThatMatch) {
  const auto server = serve("server");
  for (const char* kind : {"a", "a", "b"}) submit({kind});
  EXPECT_THAT(out({"ls", "--where", "kind:a state:waiting", "--sort", "oldest", "--json"}),
              AllOf(HasSubstr("\"kind\":\"a\""), Not(HasSubstr("\"kind\":\"b\""))));
  const auto refused = ff({"ls", "--where", "kind:a colour:red"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("where, position 8: there is no term 'colour'"));
  EXPECT_THAT(out({"bulk", "cancel", "--where", "kind:a", "--dry-run"}),
              HasSubstr("2 executions match kind:a"));
  EXPECT_EQ(out({"bulk", "cancel", "--where", "kind:a", "--reason", "wrong"}),
            "cancel completed: matched 2, done 2, failed 0, skipped 0\n");
  const auto id = trimmed(out({"bulk", "replay", "--where", "state:cancelled", "--detach"}));
  EXPECT_THAT(out({"bulk", "get", id, "--follow"}),
              HasSubstr("replay completed: matched 2, done 2"));
  EXPECT_EQ(ff({"bulk", "stop", id}).exit_code, 4);
  EXPECT_EQ(ff({"bulk", "get", "01920000-0000-7000-8000-000000000001"}).exit_code, 3);
  EXPECT_EQ(ff({"bulk", "cancel"}).exit_code, 2) << "no filter";
  EXPECT_THAT(out({"bulk", "ls"}), AllOf(HasSubstr("replay"), HasSubstr("cancel")));
}

TEST_F(OperateTest, BackupRestoreAndCheck) {
  auto server = serve("server");
  const auto id = submit({"k", "payload"});
  const auto backup = trimmed(out({"backup", "monday"}));
  EXPECT_EQ(ff({"backup", "monday"}).exit_code, 4) << "there is one of that name";
  EXPECT_EQ(ff({"backup", "a/b"}).exit_code, 2);
  EXPECT_THAT(out({"backup", "tuesday", "--json"}), HasSubstr("\"directory\":"));
  EXPECT_EQ(run_ff({"check", data()}).exit_code, 5) << "the server has it";

  const auto restored = (temp_.path() / "restored").string();
  EXPECT_THAT(out({"restore", backup, "--store", "embedded:" + restored}), HasSubstr("ff check"));
  EXPECT_THAT(ff({"restore", backup, "--store", "valkey://me:secret@h"}).err,
              ::testing::AllOf(HasSubstr("is for embedded stores"), Not(HasSubstr("secret"))));
  EXPECT_EQ(ff({"restore", backup, "--store", "embedded:" + restored}).exit_code, 2)
      << "there is something";
  EXPECT_THAT(out({"check", restored}),
              ::testing::AllOf(HasSubstr("1 live"), HasSubstr("no problems")));
  EXPECT_THAT(out({"check", restored, "--json"}), HasSubstr(R"("problem_count":0)"));
  url_ = "embedded:" + restored;
  EXPECT_EQ(out({"payload", id}), "payload");
}

TEST_F(OperateTest, BenchMeasures) {
  for (const char* mode : {"lifecycle", "latency", "retention"})
    EXPECT_THAT(
        out({"bench", mode, "--tasks", "20", "--workers", "2", "--payload-bytes", "10", "--json"}),
        ::testing::AllOf(HasSubstr(R"("tasks":20)"), HasSubstr(mode)));
  EXPECT_THAT(out({"bench", "lifecycle", "--tasks", "20"}), HasSubstr("end_to_end_per_s"));
  EXPECT_EQ(ff({"bench", "luck"}).exit_code, 2);
  EXPECT_EQ(ff({"bench", "latency", "--workers", "0"}).exit_code, 2);
  EXPECT_THAT(ff({"bench", "retention", "--tasks", "0"}).err,
              HasSubstr("--tasks must be from 1 to 100000000, got 0"));
}

}  // namespace
}  // namespace ff::test
