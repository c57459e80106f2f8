// Handlers that wait: for signals, for people, and with steps that are not repeated.
#include <atomic>
#include <mutex>

#include <boost/json.hpp>

#include "sdk/client/blocking.hpp"
#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

class WaitingTest : public SdkTest {
 protected:
  void start(Handler handler, WorkerOptions options = {}) {
    worker_.emplace(engine(), std::move(options));
    worker_->handle("k", std::move(handler));
    must(worker_->start());
  }
  ExecutionId start_and_submit(Handler handler) {
    start(std::move(handler));
    return submit({.kind = "k"});
  }
  void wait_until_suspended(const ExecutionId& id) {
    wait_until([&] { return must(client().state(id)) == ExecutionState::suspended; });
  }
  // Moves time to the timeout of the suspension.
  void time_out(const ExecutionId& id) {
    wait_until_suspended(id);
    home_.clock().advance(must(client().get(id)).suspension_timeout.value() - home_.clock().now());
    home_.run_scanners();
  }
  Client client() { return Client(engine()); }
  Result<std::string> result(const ExecutionId& id) { return client().result(id, wait_max); }

  std::optional<Worker> worker_;
};

INSTANTIATE_TEST_SUITE_P(On, WaitingTest, everywhere(), home_name);

const Policy one_retry{.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{0ms}}};

// ---- Signals --------------------------------------------------------------------------------------

TEST_P(WaitingTest, HandlerThatWaitsRunsAgainWhenItsSignalArrives) {
  const auto id =
      start_and_submit([](Task& task) -> Outcome { return "got " + task.wait_for("go").text(); });
  wait_until_suspended(id);
  const auto suspended = must(client().suspension(id)).suspension.value();
  EXPECT_EQ(suspended.timeout_at, suspended.since + suspension_timeout_default);
  EXPECT_EQ(must(client().signal(id, "go", "it")).effect, SignalEffect::resume_condition_satisfied);
  EXPECT_EQ(result(id), "got it");
  EXPECT_THAT(must(client().attempts(id)), SizeIs(1)) << "the same attempt goes on";
}

TEST_P(WaitingTest, HandlerThatWaitsHoldsNoWorker) {
  const auto first = start_and_submit([](Task& task) -> Outcome {
    if (task.payload() == "quick") return "done";
    return task.wait_for("go").text();
  });
  wait_until_suspended(first);
  EXPECT_EQ(submit_and_wait({.kind = "k", .payload = "quick"}), "done");
  must(client().signal(first, "go", "later"));
  EXPECT_EQ(result(first), "later");
}

TEST_P(WaitingTest, SignalsThatArrivedBeforeTheWaitCount) {
  const auto id = submit({.kind = "k"});
  must(client().signal(id, "go", "early"));
  start([](Task& task) -> Outcome { return task.wait_for("go").text(); });
  EXPECT_EQ(result(id), "early");
}

TEST_P(WaitingTest, WaitsReadSignalsOfTheirNameInTheOrderOfArrival) {
  const auto id = submit({.kind = "k"});
  must(client().signal(id, "go", "1"));
  must(client().signal(id, "other", "x"));
  start([](Task& task) -> Outcome {
    std::string all;
    for (int i = 0; i < 4; ++i) all += task.wait_for("go").text();
    return all + task.wait_for("other").text();
  });
  wait_until_suspended(id);
  for (const char* payload : {"2", "3", "4"}) must(client().signal(id, "go", payload));
  EXPECT_EQ(result(id), "1234x");
}

TEST_P(WaitingTest, SignalThatArrivesDuringTheRunMakesTheHandlerRunAgainWithoutAClaim) {
  std::atomic<int> runs = 0;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    // After the run has read the signals, and before it is suspended.
    if (runs++ == 0) {
      EXPECT_THAT(task.signals(), IsEmpty());
      must(Client(home_.engine()).signal(task.id(), "go", "now"));
    } else {
      EXPECT_EQ(task.wake().value().cause, WakeCause::signals);
    }
    return task.wait_for("go").text();
  });
  EXPECT_EQ(result(id), "now");
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(must(client().get(id)).lease_epoch, LeaseEpoch{1}) << "under its first lease";
}

TEST_P(WaitingTest, AllSignalsCanBeReadAlsoThoseThatDidNotCount) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    const auto go = task.wait_for("go");
    return fmt::format("{} of {}, {} noise", go->index, task.signals().size(),
                       task.signals("noise").size());
  });
  wait_until_suspended(id);
  EXPECT_EQ(must(client().signal(id, "noise")).effect, SignalEffect::signal_ignored_matcher_failed);
  must(client().signal(id, "go"));
  EXPECT_EQ(result(id), "1 of 2, 1 noise");
}

TEST_P(WaitingTest, PayloadsAreTextAndJsonIfTheyAre) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    return std::to_string(task.wait_for("go").json().at("n").as_int64());
  });
  wait_until_suspended(id);
  must(client().signal(id, {.name = "go",
                            .payload = R"({"n": 7})",
                            .content_type = "application/json",
                            .source = {"user", "ada"}}));
  EXPECT_EQ(result(id), "7");
  const auto signal = must(client().signals(id)).at(0);
  EXPECT_EQ(signal.source, (SignalSource{"user", "ada"}));
  EXPECT_EQ(signal.content_type.value().str(), "application/json");

  const auto bad = submit({.kind = "k", .policy = one_retry});
  must(client().signal(bad, "go", "{"));
  const auto end = must(client().wait(bad, wait_max));
  EXPECT_THAT(end.failure_reason.value(), HasSubstr("'go' is not JSON"));
  EXPECT_EQ(end.attempts, 1u);
}

TEST_P(WaitingTest, LostReplyToASignalIsNoSecondSignal) {
  FaultyEngine faulty(engine());
  const auto id = submit({.kind = "k"});
  faulty.fail_next<SendSignal>(1, Errc::unreachable, true);
  const auto reply = must(Client(faulty).signal(id, "go"));
  EXPECT_FALSE(reply.duplicate);
  EXPECT_EQ(faulty.calls<SendSignal>(), 2);
  EXPECT_THAT(must(client().signals(id)), SizeIs(1));
}

TEST_P(WaitingTest, KeyMakesASignalSafeToSendAgain) {
  const auto id = submit({.kind = "k"});
  const NewSignal signal{.name = "go", .idempotency_key = "order-7"};
  const auto first = must(client().signal(id, signal));
  const auto second = must(client().signal(id, signal));
  EXPECT_TRUE(second.duplicate);
  EXPECT_EQ(second.signal_id, first.signal_id);
}

// ---- Other ends of a wait -------------------------------------------------------------------------

TEST_P(WaitingTest, TimeoutFailsTheExecutionUnlessToldOtherwise) {
  const auto id =
      start_and_submit([](Task& task) -> Outcome { return task.wait_for("go").text(); });
  time_out(id);
  EXPECT_EQ(must(client().wait(id, wait_max)).state, ExecutionState::failed);
}

TEST_P(WaitingTest, WaitThatTimedOutStaysSoInLaterRuns) {
  const WaitOptions options{.timeout = 1h, .on_timeout = TimeoutAction::auto_resume};
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    const auto first = task.wait_for("first", options);
    const auto second = task.wait_for("second");
    return fmt::format("{} {}", first.timed_out(), second.text());
  });
  time_out(id);
  wait_until_suspended(id);
  must(client().signal(id, "first", "late"));
  must(client().signal(id, "second", "in time"));
  EXPECT_EQ(result(id), "true in time");
}

TEST_P(WaitingTest, LateSignalIsForTheNextWait) {
  const WaitOptions options{.timeout = 1h, .on_timeout = TimeoutAction::auto_resume};
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    const auto first = task.wait_for("go", options);
    return fmt::format("{} {}", first.timed_out(), task.wait_for("go").text());
  });
  time_out(id);
  wait_until_suspended(id);
  must(client().signal(id, "go", "late"));
  EXPECT_EQ(result(id), "true late");
}

TEST_P(WaitingTest, OperatorEndsAWait) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    const auto go = task.wait_for("go");
    return go ? "signal" : fmt::format("{}: {}", to_string(go.cause()), task.wake()->reason);
  });
  wait_until_suspended(id);
  must(client().resume(id, "it is fine"));
  EXPECT_EQ(result(id), "operator: it is fine");
}

TEST_P(WaitingTest, PayloadOfASignalThatNeverCameFailsForGood) {
  start([](Task& task) -> Outcome { return task.wait_for("go").text(); });
  const auto id = submit({.kind = "k", .policy = one_retry});
  wait_until_suspended(id);
  must(client().resume(id));
  const auto end = must(client().wait(id, wait_max));
  EXPECT_THAT(end.failure_reason.value(), HasSubstr("without a signal: operator"));
  EXPECT_EQ(end.attempts, 1u);
}

TEST_P(WaitingTest, WakeOfAnotherSuspensionDoesNotEndAWait) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    if (!task.wake())
      return Outcome::suspended({.condition = {TimeoutOnly{}},
                                 .timeout = 1h,
                                 .on_timeout = TimeoutAction::auto_resume,
                                 .state = "slept"});
    return task.suspension_state() + task.wait_for("go").text();
  });
  time_out(id);
  wait_until_suspended(id);
  must(client().signal(id, "go", "!"));
  EXPECT_EQ(result(id), "!") << "the state is that of the newest suspension";
}

TEST_P(WaitingTest, HandlerThatCatchesEverythingIsSuspendedNevertheless) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    try {
      return task.wait_for("go").text();
    } catch (const std::exception&) {
      return "a std::exception";
    } catch (...) {
      return "too early";
    }
  });
  wait_until_suspended(id);
  must(client().signal(id, "go", "on"));
  EXPECT_EQ(result(id), "on");
}

// ---- Conditions of the handler's own --------------------------------------------------------------

SignalName name(const char* text) { return must(SignalName::parse(text)); }

TEST_P(WaitingTest, HandlerCanBuildItsOwnCondition) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    if (!task.wake())
      return Outcome::suspended(
          {.condition = {AllOf{{{OneSignal{name("a")}}, {OneSignal{name("b")}}}}},
           .state = "kept"});
    return fmt::format("{} with {}", task.suspension_state(), task.signals().size());
  });
  wait_until_suspended(id);
  EXPECT_EQ(must(client().signal(id, "b")).state, ExecutionState::suspended);
  must(client().signal(id, "a"));
  EXPECT_EQ(result(id), "kept with 2");
}

TEST_P(WaitingTest, ConditionThatIsRefusedFailsForGood) {
  start([](Task&) { return Outcome::suspended({.condition = {AllOf{}}}); });
  const auto end = must(client().wait(submit({.kind = "k", .policy = one_retry}), wait_max));
  EXPECT_THAT(end.failure_reason.value(), HasSubstr("condition"));
  EXPECT_EQ(end.attempts, 1u);
}

TEST_P(WaitingTest, LostReplyToASuspensionIsNoSecondOne) {
  FaultyEngine faulty(engine());
  faulty.fail_next<Suspend>(1, Errc::unreachable, true);
  std::atomic<int> runs = 0;
  Worker worker(faulty);
  worker.handle("k", [&](Task& task) -> Outcome {
    ++runs;
    return task.wait_for("go").text();
  });
  must(worker.start());
  const auto id = submit({.kind = "k"});
  wait_until([&] { return faulty.calls<Suspend>() == 2; });
  must(client().signal(id, "go", "once"));
  EXPECT_EQ(result(id), "once");
  EXPECT_EQ(runs, 2);
}

// ---- Questions ------------------------------------------------------------------------------------

// The tokens that a handler hands out.
class Mailbox {
 public:
  HandOut hand_out() {
    return [this](const IssuedWaitpoint& waitpoint) {
      const std::lock_guard lock(mutex_);
      ++mails_;
      for (const auto& each : waitpoint.tokens) tokens_[each.approver.value_or("")] = each.token;
    };
  }
  std::string token(const std::string& approver = "") const {
    const std::lock_guard lock(mutex_);
    return tokens_.at(approver);
  }
  int mails() const {
    const std::lock_guard lock(mutex_);
    return mails_;
  }

 private:
  mutable std::mutex mutex_;
  int mails_ = 0;
  std::map<std::string, std::string> tokens_;
};

class AskingTest : public WaitingTest {
 protected:
  // A question that two of three people must approve.
  ExecutionId ask_three() {
    const auto id = start_and_submit([this](Task& task) -> Outcome {
      const auto decision =
          task.ask("deploy", approval("Deploy?", "Version 7", {"ada", "bob", "cem"}),
                   mailbox_.hand_out(), {.needed = 2});
      std::string text = decision.choice ? decision.choice->str() : "none";
      for (const auto& answer : decision.answers) text += " " + answer.source.identity;
      return text;
    });
    wait_until_suspended(id);
    return id;
  }
  Result<AnswerReply> answer(const std::string& approver, const std::string& signal) {
    return client().answer(mailbox_.token(approver), {.signal = signal});
  }

  Mailbox mailbox_;
};

INSTANTIATE_TEST_SUITE_P(On, AskingTest, everywhere(), home_name);

TEST_P(AskingTest, QuorumDecidesAndTokensAreHandedOutOnce) {
  const auto id = ask_three();
  must(answer("cem", "approve"));
  EXPECT_EQ(must(client().state(id)), ExecutionState::suspended);
  must(answer("ada", "approve"));
  EXPECT_EQ(result(id), "approve cem ada");
  EXPECT_EQ(mailbox_.mails(), 1);
}

TEST_P(AskingTest, OneRejectionDecides) {
  const auto id = ask_three();
  must(answer("cem", "approve"));
  must(answer("bob", "reject"));
  EXPECT_EQ(result(id), "reject cem bob");
  EXPECT_EQ(answer("ada", "approve").error().code, Errc::waitpoint_closed);
}

TEST_P(AskingTest, EachPersonHasOneVote) {
  const auto id = ask_three();
  must(answer("ada", "approve"));
  EXPECT_TRUE(must(answer("ada", "approve")).duplicate);
  EXPECT_EQ(answer("ada", "reject").error().code, Errc::waitpoint_answered);
  EXPECT_EQ(must(client().state(id)), ExecutionState::suspended);
}

TEST_P(AskingTest, AnswerBeforeTheSuspensionCounts) {
  const auto id = start_and_submit([this](Task& task) -> Outcome {
    const auto decision = task.ask("q", approval("Go?"), [&](const IssuedWaitpoint& issued) {
      must(Client(home_.engine()).answer(issued.tokens.at(0).token, {.signal = "approve"}));
    });
    return std::string(decision.is("approve") ? "went" : "stayed");
  });
  EXPECT_EQ(result(id), "went");
}

TEST_P(AskingTest, QuestionCanTimeOut) {
  const auto id = start_and_submit([this](Task& task) -> Outcome {
    const auto decision = task.ask("q", approval("Go?"), mailbox_.hand_out(),
                                   {.timeout = 1h, .on_timeout = TimeoutAction::auto_resume});
    const auto next = task.wait_for("next");
    return std::string(to_string(decision.cause)) + next.text();
  });
  time_out(id);
  wait_until_suspended(id);
  EXPECT_EQ(answer("", "approve").error().code, Errc::waitpoint_closed);
  must(client().signal(id, "next", "!"));
  EXPECT_EQ(result(id), "timeout!");
}

TEST_P(AskingTest, QuestionThatCannotBeDecidedFailsForGood) {
  const auto id = start_and_submit([this](Task& task) -> Outcome {
    task.ask("q", approval("Go?", "", {"ada"}), mailbox_.hand_out(), {.needed = 2});
    return {};
  });
  EXPECT_THAT(must(client().wait(id, wait_max)).failure_reason.value(),
              HasSubstr("needs 2 of 1 people"));
  EXPECT_EQ(mailbox_.mails(), 0);
}

TEST_P(AskingTest, TokenOfAWaitpointResumesItsWait) {
  const auto id = start_and_submit([this](Task& task) -> Outcome {
    const auto payment = task.waitpoint("payment", mailbox_.hand_out());
    const WaitOptions there{.reason = SuspendReason::waiting_for_callback, .waitpoint = payment};
    return task.wait_for("paid", there).text();
  });
  wait_until_suspended(id);
  EXPECT_EQ(must(client().signal(id, "paid", "elsewhere")).state, ExecutionState::suspended)
      << "only signals that are sent to the waitpoint count";
  const auto token = mailbox_.token();
  EXPECT_EQ(client().answer("x" + token, {.signal = "paid"}).error().code,
            Errc::waitpoint_not_found);
  EXPECT_EQ(must(client().waitpoint(token)).state, WaitpointState::active);
  must(client().answer(token, {.signal = "paid", .payload = "7 EUR"}));
  EXPECT_EQ(result(id), "7 EUR");
}

TEST_P(AskingTest, OpenWaitpointsAreListedWithoutTokens) {
  const auto id = ask_three();
  const auto open = must(client().waitpoints(id));
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].key.str(), "deploy");
  EXPECT_EQ(open[0].question.value().title, "Deploy?");
  EXPECT_EQ(must(client().tokens(id, open[0].id)).tokens.at(0).token, mailbox_.token("ada"));
}

TEST_P(AskingTest, WhyNamesWhatIsMissing) {
  const auto id = ask_three();
  must(answer("cem", "approve"));
  const auto why = must(client().why(id));
  EXPECT_THAT(why.summary, HasSubstr("1 of 2"));
  ASSERT_THAT(why.obstacles, SizeIs(1));
  EXPECT_EQ(why.obstacles[0].reason, BlockingReason::waiting_for_approval);
  EXPECT_THAT(why.obstacles[0].detail, HasSubstr("ada, bob have not answered"));
}

// ---- Steps ----------------------------------------------------------------------------------------

TEST_P(WaitingTest, StepIsNotRepeatedAfterAResume) {
  std::atomic<int> calls = 0;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    const auto text = task.once("text", [&] { return "call " + std::to_string(++calls); });
    const auto json = task.once("json", [&] { return boost::json::value{{"n", ++calls}}; });
    task.once("nothing", [&] { ++calls; });
    task.wait_for("go");
    return text + " " + std::to_string(json.at("n").as_int64());
  });
  wait_until_suspended(id);
  must(client().signal(id, "go"));
  EXPECT_EQ(result(id), "call 1 2");
  EXPECT_EQ(calls, 3);
  std::vector<std::string> names;
  for (const auto& step : must(client().steps(id))) names.push_back(step.name.str());
  EXPECT_THAT(names, ElementsAre("json", "nothing", "text"));
  EXPECT_EQ(must(client().step(id, "json")).bytes, R"({"n":2})");
}

TEST_P(WaitingTest, StepIsNotRepeatedByARetry) {
  std::atomic<int> calls = 0;
  start([&](Task& task) -> Outcome {
    const auto text = task.once("s", [&] { return std::to_string(++calls); });
    if (task.attempt_index() == 0) throw std::runtime_error("after the step");
    return text;
  });
  EXPECT_EQ(submit_and_wait({.kind = "k", .policy = one_retry}), "1");
}

TEST_P(WaitingTest, StepThatThrowsIsNotKept) {
  std::atomic<int> calls = 0;
  start([&](Task& task) -> Outcome {
    return task.once("s", [&]() -> std::string {
      if (++calls == 1) throw std::runtime_error("no");
      return std::to_string(calls);
    });
  });
  EXPECT_EQ(submit_and_wait({.kind = "k", .policy = one_retry}), "2");
}

TEST_P(WaitingTest, StepUnderALostLeaseThrowsCancelled) {
  std::atomic<int> runs = 0;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    if (runs++ > 0) return "second";
    must(Client(home_.engine()).revoke_lease(task.id()));
    EXPECT_THROW(task.once("s", [] { return std::string(); }), TaskCancelled);
    EXPECT_EQ(task.cancelled(), CancelReason::lease_lost);
    return "first";
  });
  EXPECT_EQ(result(id), "second");
}

TEST_P(WaitingTest, StepWithAWrongNameOrResultFailsForGood) {
  const auto reason = [&](std::string step, std::size_t bytes) {
    start([=](Task& task) -> Outcome {
      return task.once(step, [&] { return std::string(bytes, 'x'); });
    });
    const auto end = must(client().wait(submit({.kind = "k", .policy = one_retry}), wait_max));
    worker_.reset();
    EXPECT_EQ(end.attempts, 1u);
    return end.failure_reason.value();
  };
  EXPECT_THAT(reason("ff:mine", 1), HasSubstr("must not begin with ff:"));
  EXPECT_THAT(reason("a b", 1), HasSubstr("step"));
  EXPECT_THAT(reason("s", limits::step_bytes_max + 1), HasSubstr("result"));
}

TEST_P(WaitingTest, ReplayStartsWithoutSignalsAndSteps) {
  std::atomic<int> calls = 0;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    return task.once("s", [&] { return std::to_string(++calls); }) + task.wait_for("go").text();
  });
  for (const char* expected : {"1a", "2b"}) {
    wait_until_suspended(id);
    must(client().signal(id, "go", expected + 1));
    EXPECT_EQ(result(id), expected);
    if (calls == 1) must(client().replay(id));
  }
}

}  // namespace
}  // namespace ff
