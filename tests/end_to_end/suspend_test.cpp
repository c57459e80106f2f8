// Executions that wait, on the command line.
#include <thread>

#include <boost/json.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SuspendTest : public CliTest {
 protected:
  SuspendTest() : server_(serve("server")) {}

  std::unique_ptr<Process> work(const std::string& command) {
    auto worker = std::make_unique<Process>(ff_command({"work", command}, {"FF_URL=" + url_}));
    worker->wait_for_output("working on");
    return worker;
  }
  boost::json::value json(Words arguments) {
    arguments.push_back("--json");
    return boost::json::parse(out(std::move(arguments)));
  }
  std::string state(const std::string& id) {
    return json({"get", id}).at("state").as_string().c_str();
  }
  // Submits one execution and waits until its command has it suspended.
  std::string submit_suspended() {
    const auto id = submit({"k"});
    while (state(id) != "suspended") std::this_thread::yield();
    return id;
  }
  std::string result(const std::string& id) { return out({"result", id, "--wait"}); }

  std::unique_ptr<Process> server_;
};

constexpr const char* waits_for_go = R"(
  if [ -z "$FF_WAKE" ]; then echo go >&3; exit 75; fi
  echo "$FF_WAKE $FF_WAKE_REASON"; cat "$FF_SIGNALS_FILE")";

// Two of three people must approve.
constexpr const char* asks = R"(
  if [ -z "$FF_WAKE" ]; then
    cat >&3 <<'REQUEST'
{"reason": "waiting_for_approval",
 "condition": {"any": [{"count": 2, "of": "sources", "signal": "approve", "waitpoints": ["deploy"]},
                       {"signal": "reject", "waitpoint": "deploy"}]},
 "waitpoints": [{"key": "deploy", "question": {"title": "Deploy?", "approvers": ["ada", "bob", "cem"],
                 "choices": [{"signal": "approve", "label": "Yes"}, {"signal": "reject", "label": "No"}]}}]}
REQUEST
    exit 75
  fi
  wc -l < "$FF_SIGNALS_FILE")";

TEST_F(SuspendTest, SignalResumesACommandThatWaits) {
  const auto worker = work(waits_for_go);
  const auto id = submit_suspended();
  EXPECT_EQ(json({"signal", id, "go", "the payload", "--source", "ada", "--source-type", "user"})
                .at("effect")
                .as_string(),
            "resume_condition_satisfied");
  EXPECT_THAT(result(id), AllOf(HasSubstr("signals \n{"), HasSubstr(R"("name":"go")"),
                                HasSubstr(R"("payload":"the payload")")));
  EXPECT_THAT(out({"signals", id}), AllOf(HasSubstr("go"), HasSubstr("user:ada")));
}

TEST_F(SuspendTest, SignalWithAKeyCountsOnce) {
  const auto id = submit({"k"});
  const auto first = json({"signal", id, "go", "--key", "once"});
  const auto second = json({"signal", id, "go", "-", "--key", "once"});
  EXPECT_TRUE(second.at("duplicate").as_bool());
  EXPECT_EQ(second.at("signal_id"), first.at("signal_id"));
}

TEST_F(SuspendTest, OperatorResumesACommandThatWaits) {
  const auto worker = work(waits_for_go);
  const auto id = submit_suspended();
  out({"resume", id, "--reason", "by phone"});
  EXPECT_EQ(result(id), "operator by phone\n");
  EXPECT_EQ(ff({"resume", id}).exit_code, 4);
}

TEST_F(SuspendTest, ApprovalsByTokenResumeACommandThatAsks) {
  const auto worker = work(asks);
  const auto id = submit_suspended();
  EXPECT_THAT(out({"waitpoints", id}), AllOf(HasSubstr("deploy"), HasSubstr("active")));
  std::map<std::string, std::string> tokens;
  const auto waitpoint = json({"waitpoints", id, "--tokens"});
  for (const auto& each : waitpoint.at("tokens").as_array())
    tokens[each.at("approver").as_string().c_str()] = each.at("token").as_string().c_str();
  ASSERT_EQ(tokens.size(), 3u);

  EXPECT_THAT(out({"answer", tokens["ada"]}), AllOf(HasSubstr("Deploy?"), HasSubstr("ada")));
  out({"approve", "-", "--comment", "fine"}, tokens["ada"] + "\n");
  EXPECT_THAT(out({"why", id}), AllOf(HasSubstr("1 of 2"), HasSubstr("bob, cem have not answered"),
                                      HasSubstr("times out at"), HasSubstr("ff resume")));
  EXPECT_EQ(ff({"reject", tokens["ada"]}).exit_code, 4) << "one vote each";
  EXPECT_EQ(ff({"approve", "x" + tokens["bob"]}).exit_code, 3);
  out({"approve", "https://example.org/approve#" + tokens["bob"]});
  EXPECT_EQ(result(id), "2\n");
  EXPECT_EQ(ff({"approve", tokens["cem"]}).exit_code, 4) << "it is over";
}

TEST_F(SuspendTest, SuspendedExecutionsAreListedAndExplained) {
  const auto worker = work(waits_for_go);
  const auto id = submit_suspended();
  EXPECT_THAT(out({"ls", "--state", "suspended"}), HasSubstr(uuid_of(id)));
  EXPECT_THAT(out({"get", id}),
              AllOf(HasSubstr("suspension.progress"), HasSubstr("the signal go")));
  EXPECT_THAT(out({"why", id}), AllOf(HasSubstr("waiting_for_signal"), HasSubstr("ff signal")));
  out({"cancel", id});
}

TEST_F(SuspendTest, WorkThatWaitsForAWorkerCanBeSuspended) {
  const auto id = submit({"k"});
  out({"suspend", id});
  EXPECT_EQ(state(id), "suspended");
  const auto worker = work("echo \"$FF_WAKE\"");
  EXPECT_EQ(out({"submit", "k", "--wait"}), "\n");
  out({"resume", id});
  EXPECT_EQ(result(id), "operator\n");
}

TEST_F(SuspendTest, AConditionCanBeAWord) {
  const auto timed = submit({"k"});
  out({"suspend", timed, "--condition", R"("timeout")", "--timeout", "1h"});
  EXPECT_EQ(state(timed), "suspended");
  const auto operated = submit({"k"});
  out({"suspend", operated, "--condition", R"("operator")"});
  EXPECT_EQ(state(operated), "suspended");
  EXPECT_THAT(ff({"suspend", operated, "--condition", R"({"cnt": 2})"}).err,
              HasSubstr("'condition.cnt'"));
  EXPECT_EQ(ff({"suspend", operated, "--condition", "{"}).exit_code, 2);
}

TEST_F(SuspendTest, WrongRequestOfACommandFailsForGood) {
  const auto worker = work(R"(cat >&3; exit 75)");
  const auto failure = [&](const std::string& request) {
    return ff({"submit", "k", request, "--retries", "3", "--wait"}).err;
  };
  EXPECT_THAT(failure("{"), HasSubstr("not JSON"));
  EXPECT_THAT(failure(R"({"conditio": {}})"), HasSubstr("conditio"));
  EXPECT_THAT(failure(R"({"condition": {"cnt": 2}})"), HasSubstr("'condition.cnt'"));
  EXPECT_THAT(failure(R"({"lease_id": 1})"),
              HasSubstr("lease_id is a field that the worker sets itself"));
  EXPECT_THAT(failure(R"({"condition": {"all": []}})"), HasSubstr("condition"));
}

TEST_F(SuspendTest, WrongInputIsRefused) {
  const auto id = submit({"k"});
  for (const Words& wrong : {Words{"signal", id},
                             {"signal", id, "a b"},
                             {"suspend", id, "--condition", "7"},
                             {"suspend", id, "--lease-id", "00000000-0000-0000-0000-000000000000"},
                             {"suspend", id, "--on-timeout", "never"},
                             {"answer", ""},
                             {"approve", "@/nonexistent"}})
    EXPECT_EQ(ff(wrong).exit_code, 2) << wrong[0] << " " << wrong.back();
  EXPECT_EQ(ff({"signal", missing_id, "go"}).exit_code, 3);
  EXPECT_EQ(ff({"steps", id, "none"}).exit_code, 3);
  EXPECT_EQ(ff({"approve", "no-token"}).exit_code, 3);
}

}  // namespace
}  // namespace ff::test
