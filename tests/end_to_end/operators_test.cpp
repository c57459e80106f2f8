// Lanes, the audit log and the caller on the command line.
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OperatorsCliTest : public CliTest {
 protected:
  OperatorsCliTest() : server_(serve("server")) {}

  std::unique_ptr<Process> server_;
};

TEST_F(OperatorsCliTest, ALaneIsPausedShownAndResumed) {
  const auto id = trimmed(out({"submit", "greet", "--lane", "gpu"}));
  EXPECT_THAT(out({"lanes", "pause", "gpu", "--reason", "driver update"}),
              HasSubstr("lane gpu is paused"));
  EXPECT_THAT(out({"lanes", "pause", "gpu", "--reason", "driver update"}),
              HasSubstr("was paused already"));
  EXPECT_THAT(out({"lanes", "ls"}), AllOf(HasSubstr("gpu"), HasSubstr("driver update")));
  EXPECT_THAT(out({"lanes", "ls", "--json"}), HasSubstr("\"reason\":\"driver update\""));
  EXPECT_THAT(out({"why", id}),
              AllOf(HasSubstr("lane gpu is paused by"), HasSubstr("ff lanes resume gpu")));
  EXPECT_THAT(out({"counts"}), HasSubstr("gpu (paused)"));
  EXPECT_THAT(out({"lanes", "resume", "gpu"}), HasSubstr("lane gpu is resumed"));
  EXPECT_THAT(out({"lanes", "resume", "gpu"}), HasSubstr("was not paused"));
  EXPECT_THAT(out({"why", id}), Not(HasSubstr("paused")));
}

TEST_F(OperatorsCliTest, WrongLanesAreRefused) {
  EXPECT_EQ(ff({"lanes", "pause", ""}).exit_code, 2);
  EXPECT_EQ(ff({"lanes", "pause", std::string(65, 'x')}).exit_code, 2);
  EXPECT_EQ(ff({"lanes", "pause"}).exit_code, 2);
  EXPECT_EQ(ff({"lanes", "ls", "--limit", "0"}).exit_code, 2);
}

TEST_F(OperatorsCliTest, TheAuditLogTellsWhatWasDone) {
  const auto id = trimmed(out({"submit", "greet"}));
  out({"cancel", id, "--reason", "not wanted"});
  out({"lanes", "pause", "gpu"});
  EXPECT_THAT(out({"audit"}), AllOf(HasSubstr("Cancel"), HasSubstr("reason=not wanted"),
                                    HasSubstr("PauseLane"), HasSubstr("anyone")));
  EXPECT_THAT(out({"audit", "--what", "PauseLane"}),
              AllOf(HasSubstr("gpu"), Not(HasSubstr("Cancel"))));
  EXPECT_THAT(out({"audit", "--json", "--limit", "1"}), HasSubstr("\"what\":\"PauseLane\""));
  EXPECT_EQ(out({"audit", "--until", "1h"}), "");
  EXPECT_EQ(ff({"audit", "--since", "soon"}).exit_code, 2);
  EXPECT_EQ(ff({"audit", "--follow", "--all"}).exit_code, 2);
}

TEST_F(OperatorsCliTest, TheCallerIsShown) {
  EXPECT_THAT(out({"whoami"}), AllOf(HasSubstr("anyone"), HasSubstr("admin")));
  EXPECT_THAT(out({"whoami", "--json"}), HasSubstr("\"needs_token\":false"));
}

}  // namespace
}  // namespace ff::test
