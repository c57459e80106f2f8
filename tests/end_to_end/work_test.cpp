// A worker that runs shell commands.
#include <chrono>
#include <csignal>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class WorkTest : public CliTest {
 protected:
  WorkTest() : server_(serve("server")) {}

  std::unique_ptr<Process> work(const std::string& command, Words more = {}) {
    Words arguments{"work", command};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto worker = std::make_unique<Process>(ff_command(arguments, {"FF_URL=" + url_}));
    worker->wait_for_output("working on");
    return worker;
  }

  // Submits one execution and runs it to its end.
  Finished run_once(const std::string& command, Words submit_more = {}) {
    const auto worker = work(command, {"--once"});
    Words arguments{"submit", "k", "payload", "--wait"};
    arguments.insert(arguments.end(), submit_more.begin(), submit_more.end());
    auto finished = ff(std::move(arguments));
    EXPECT_EQ(worker->wait().exit_code, 0);
    return finished;
  }

  std::unique_ptr<Process> server_;
};

TEST_F(WorkTest, PayloadIsItsInputAndItsOutputIsTheResult) {
  EXPECT_EQ(run_once("tr a-z A-Z").out, "PAYLOAD");
}

TEST_F(WorkTest, CommandKnowsWhatItRuns) {
  const auto said =
      run_once(R"(echo "$FF_KIND $FF_LANE $FF_NAMESPACE $FF_ATTEMPT_INDEX $FF_ATTEMPT_TYPE";
                  echo "$FF_EXECUTION_ID $FF_TAG_APP_CUSTOMER $FF_TAGS ${FF_DEADLINE_MS:+deadline}";
                  echo "$FF_CONTENT_TYPE $TRACEPARENT")",
               {"--tag", "app.customer=7", "--deadline", "1h", "--content-type", "text/plain",
                "--traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
          .out;
  EXPECT_THAT(said, ::testing::AllOf(HasSubstr("k default default 0 initial"),
                                     ContainsRegex("[0-9]+-[0-9a-f]{8}-[0-9a-f-]{27} 7 "),
                                     HasSubstr(R"( 7 {"app.customer":"7"} deadline)"),
                                     HasSubstr("text/plain 00-4bf92f3577b34da6")));
}

TEST_F(WorkTest, CommandDoesNotGetTheSecretsOfItsWorker) {
  Process worker(
      ff_command({"work", "--once", "echo ${FF_TOKEN-none} ${FF_API_TOKEN-none} $FF_LANE"},
                 {"FF_URL=" + url_, "FF_TOKEN=secret-token", "FF_API_TOKEN=secret"}));
  EXPECT_EQ(out({"submit", "k", "--wait"}), "none none default\n");
}

TEST_F(WorkTest, TagsThatAreTooLargeForAnEnvironmentAreLeftOut) {
  Words arguments{"k", "payload"};
  for (int i = 0; i < 200; ++i) {
    arguments.push_back("--tag");
    arguments.push_back("app.tag" + std::to_string(i) + "=" + std::string(1000, 'x'));
  }
  const auto worker = work("echo ${FF_TAGS-none} $FF_TAGS_OMITTED", {"--once"});
  const auto id = submit(arguments);
  EXPECT_EQ(out({"result", id, "--wait"}), "none true\n");
}

TEST_F(WorkTest, SecondSignalEndsAtOnce) {
  auto worker = work("trap '' TERM; echo started >&2; while :; do sleep 1000; done");
  submit({"k"});
  worker->wait_for_output("started");
  worker->signal(SIGINT);
  worker->signal(SIGTERM);
  EXPECT_THAT(worker->wait().exit_code, ::testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
}

TEST_F(WorkTest, ExitCodeAndErrorsDecideTheFailure) {
  const auto failed = run_once("echo 'no paper' >&2; exit 7");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("exit code 7: no paper"));
  EXPECT_THAT(run_once("kill -9 $$").err, HasSubstr("signal 9"));
  EXPECT_THAT(run_once("yes").err, HasSubstr("printed more than 1048576 bytes"));
}

TEST_F(WorkTest, FailureIsRetriedUnlessTheDataAreWrong) {
  const auto worker = work(R"([ "$FF_ATTEMPT_INDEX" = 2 ] && echo third || exit $(cat))");
  EXPECT_EQ(out({"submit", "k", "1", "--retries", "5", "--backoff", "1ms", "--wait"}), "third\n");
  const auto id = submit({"k", "65", "--retries", "5", "--backoff", "1ms"});
  EXPECT_EQ(ff({"result", id, "--wait"}).exit_code, 1);
  EXPECT_THAT(out({"attempts", id, "--json"}), HasSubstr(R"("failure_category":"permanent")"));
}

TEST_F(WorkTest, ExitCode75PutsItOff) {
  const auto worker =
      work(R"([ "$FF_RESUMED" = true ] && echo later || exit 75)", {"--delay", "1ms"});
  EXPECT_EQ(out({"submit", "k", "--wait"}), "later\n") << "without any retries";
}

TEST_F(WorkTest, CommandIsStoppedWhenItsExecutionIsCancelled) {
  const auto worker =
      work("trap 'echo told to stop >&2; exit' TERM; echo started >&2; sleep 1000 & wait");
  const auto id = submit({"k"});
  worker->wait_for_output("started");
  out({"cancel", id});
  worker->wait_for_output("told to stop");
}

TEST_F(WorkTest, OnceEndsAfterACancelledExecutionToo) {
  const auto worker = work("echo started >&2; sleep 1000", {"--once"});
  const auto id = submit({"k"});
  worker->wait_for_output("started");
  out({"cancel", id});
  EXPECT_EQ(worker->wait().exit_code, 0);
}

TEST_F(WorkTest, CommandIsStoppedWhenItsLeaseIsRevoked) {
  const auto worker =
      work("trap 'echo told to stop >&2; exit' TERM; echo started >&2; sleep 1000 & wait",
           {"--lease-ttl", "300ms"});
  const auto id = submit({"k"});
  worker->wait_for_output("started");
  EXPECT_EQ(out({"revoke", id, "--reason", "it hangs", "--json"}).substr(0, 19),
            R"({"status":"revoked")");
  worker->wait_for_output("told to stop");
}

TEST_F(WorkTest, WorkerThatStopsGivesBackWhatItRuns) {
  auto worker =
      work("trap '' TERM; echo started >&2; while :; do sleep 1000; done", {"--grace", "1ms"});
  const auto id = submit({"k"});
  worker->wait_for_output("started");
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().exit_code, 0);
  EXPECT_THAT(out({"get", id, "--json"}), HasSubstr(R"("eligibility_state":"eligible_now")"));
}

TEST_F(WorkTest, WorkerStopsAlthoughItsServerIsSilent) {
  auto worker =
      work("trap '' TERM; echo started >&2; while :; do sleep 1000; done", {"--grace", "1ms"});
  submit({"k"});
  worker->wait_for_output("started");
  server_->signal(SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  worker->signal(SIGTERM);
  worker->wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{15});
  server_->signal(SIGCONT);
}

TEST_F(WorkTest, CommandsRunSideBySideUpToAMaximum) {
  // Each waits for the other.
  const auto meet = R"(touch )" + (temp_.path() / "here-").string() + R"($(cat); while [ ! -e )" +
                    (temp_.path() / "here-1").string() + " ] || [ ! -e " +
                    (temp_.path() / "here-2").string() + " ]; do :; done";
  auto worker = work(meet, {"--concurrency", "4", "--max", "2"});
  const auto one = submit({"k", "1"});
  const auto two = submit({"k", "2"});
  EXPECT_EQ(ff({"result", one, "--wait"}).exit_code, 0);
  EXPECT_EQ(ff({"result", two, "--wait"}).exit_code, 0);
  EXPECT_EQ(worker->wait().exit_code, 0);
}

TEST_F(WorkTest, TakesFromItsLanesWhatItCanRun) {
  const auto worker =
      work("echo done", {"--lanes", "a,b", "--kinds", "x,y", "--capabilities", "gpu,big"});
  EXPECT_EQ(out({"submit", "x", "--lane", "b", "--capabilities", "gpu", "--wait"}), "done\n");
}

TEST_F(WorkTest, AnEmptyNameInAListIsRefused) {
  for (const auto* kinds : {"a,,b", ",", "", "a, "})
    EXPECT_EQ(ff({"work", "cat", "--kinds", kinds}).exit_code, 2) << kinds;
}

TEST_F(WorkTest, TwoWorkersOnOneLaneEachRunTheirKinds) {
  const auto first = work("echo by first", {"--kinds", "a", "--id", "first"});
  const auto second = work("echo by second", {"--kinds", "b,c", "--id", "second"});
  std::vector<std::pair<std::string, std::string>> expected;
  for (int i = 0; i < 6; ++i) {
    expected.emplace_back(submit({"a"}), "by first\n");
    expected.emplace_back(submit({i % 2 ? "b" : "c"}), "by second\n");
  }
  for (const auto& [id, result] : expected) EXPECT_EQ(out({"result", id, "--wait"}), result);
}

TEST_F(WorkTest, AKindThatNobodyRunsWaits) {
  const auto worker = work("echo done", {"--kinds", "a"});
  const auto id = submit({"z"});
  EXPECT_EQ(out({"submit", "a", "--wait"}), "done\n");
  EXPECT_THAT(out({"get", id, "--json"}), HasSubstr(R"("state":"waiting")"));
}

TEST_F(WorkTest, SecondWorkerWithTheSameIdEndsAndTheFirstWorksOn) {
  const Words same{"--id", "same", "--alive-ttl", "1s"};
  const auto first = work("echo first", same);
  const auto second = work("echo second", same);
  const auto ended = second->wait();
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err,
              ::testing::AllOf(HasSubstr("worker_id_in_use: another live worker has the id same"),
                               HasSubstr("choose another id")));
  EXPECT_EQ(out({"submit", "k", "--wait"}), "first\n");
}

TEST_F(WorkTest, WorkerThatWasKilledGetsItsIdBack) {
  const Words same{"--id", "same", "--alive-ttl", "1s"};
  const auto first = work("echo first", same);
  first->signal(SIGKILL);
  first->wait();
  const auto second = work("echo second", same);
  EXPECT_EQ(out({"submit", "k", "--wait"}), "second\n");
}

TEST_F(WorkTest, WrongInputIsRefused) {
  for (const Words& wrong : {Words{"work"},
                             {"work", "true", "--concurrency", "0"},
                             {"work", "true", "--lanes", ""},
                             {"work", "true", "--lease-ttl", "0"},
                             {"work", "true", "--max", "0"},
                             {"work", "true", "--once", "--max", "2"},
                             {"work", "true", "--capabilities", "a b"}})
    EXPECT_EQ(ff(wrong).exit_code, 2) << wrong.back();
}

}  // namespace
}  // namespace ff::test
