// Data that a handler sees, and the ways in which it ends.
#include <flowfabric/task.hpp>

#include <latch>

#include <boost/json.hpp>

#include "sdk/client/blocking.hpp"
#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

class TaskTest : public SdkTest {
 protected:
  // Runs one execution to its end.
  ExecutionInfo run(Handler handler, NewExecution execution = {.kind = "k"}) {
    Worker worker(engine());
    worker.handle("k", std::move(handler));
    must(worker.start());
    auto end = must(Client(engine()).wait(submit(std::move(execution)), wait_max));
    worker.stop();
    // Otherwise the server may give the next execution to the claim of a worker that has just hung up.
    const auto metrics = [this] { return must(run_blocking(engine(), GetMetrics{})).bytes; };
    wait_until([&] { return metrics().find("\nff_claims_open 0\n") != std::string::npos; });
    return end;
  }
};

INSTANTIATE_TEST_SUITE_P(On, TaskTest, everywhere(), home_name);

const Policy retry_once{.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{0ms}}};

// ---- Its view ----------------------------------------------------------------------------------

TEST_P(TaskTest, SeesWhatWasSubmitted) {
  const auto deadline = home_.clock().now() + 1h;
  std::string seen;
  Worker worker(engine(), {.ns = "tenant", .lanes = {"fast"}});
  worker.handle("k", [&](Task& task) {
    seen = fmt::format("{}/{}/{} {} {}={} {} {} {}", task.ns().str(), task.lane().str(),
                       task.kind().str(), task.payload(), task.tags().begin()->first,
                       task.tags().begin()->second, task.content_type()->str(),
                       task.traceparent()->str(), task.deadline() == deadline);
    return "";
  });
  must(worker.start());
  must(Client(engine()).wait(
      submit({.kind = "k",
              .payload = "p",
              .lane = "fast",
              .ns = "tenant",
              .deadline = deadline,
              .tags = {{"app.colour", "red"}},
              .content_type = "text/plain",
              .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}),
      wait_max));
  EXPECT_EQ(seen,
            "tenant/fast/k p app.colour=red text/plain "
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 true");
}

TEST_P(TaskTest, KnowsWhichAttemptItIs) {
  std::vector<std::string> seen;
  run(
      [&](Task& task) -> Outcome {
        seen.push_back(fmt::format("{} {} {}", task.attempt_index(), to_string(task.attempt_type()),
                                   task.attempt_deadline().has_value()));
        if (seen.size() == 1) throw std::runtime_error("once more");
        return {};
      },
      {.kind = "k", .policy = {.retry = retry_once.retry, .attempt_timeout = 1h}});
  EXPECT_THAT(seen, ElementsAre("0 initial true", "1 retry true"));
}

TEST_P(TaskTest, KnowsItsLeaseAndItsRenewals) {
  run([&](Task& task) -> Outcome {
    const auto info = must(Client(engine()).get(task.id()));
    EXPECT_EQ(task.fence().lease_epoch, info.lease_epoch);
    EXPECT_EQ(task.lease_expires_at(), info.lease_expires_at);
    return {};
  });
  Worker worker(engine(), {.lease_ttl = 60ms});
  worker.handle("k", [&](Task& task) {
    const auto first = task.lease_expires_at();
    home_.clock().advance(30ms);
    wait_until([&] { return task.lease_expires_at() > first; });
    return "renewed";
  });
  must(worker.start());
  EXPECT_EQ(submit_and_wait({.kind = "k"}), "renewed");
}

TEST_P(TaskTest, PayloadIsTextAndJsonIfItIs) {
  const auto handler = [](Task& task) -> Outcome {
    const auto text = task.text();
    return text + std::to_string(task.json().at("n").as_int64() + 1);
  };
  const auto good = run(handler, {.kind = "k", .payload = R"({"n": 6})"});
  EXPECT_EQ(Client(engine()).result(good.id, 0ms), R"({"n": 6}7)");
  const auto no_text = run(handler, {.kind = "k", .payload = "\xff", .policy = retry_once});
  EXPECT_THAT(no_text.failure_reason.value(), HasSubstr("not UTF-8"));
  EXPECT_EQ(no_text.attempts, 1u) << "another attempt would see the same payload";
  const auto no_json = run(handler, {.kind = "k", .payload = "{", .policy = retry_once});
  EXPECT_THAT(no_json.failure_reason.value(), HasSubstr("not JSON"));
  EXPECT_EQ(no_json.attempts, 1u);
}

TEST_P(TaskTest, TellsItsProgress) {
  const auto end = run([](Task& task) {
    EXPECT_TRUE(task.progress(40, "four of ten"));
    EXPECT_FALSE(task.progress(101)) << "a wrong number is refused, and nothing else happens";
    return "";
  });
  EXPECT_EQ(end.state, ExecutionState::completed);
  EXPECT_EQ(end.progress.value().percent, 40u);
  EXPECT_EQ(end.progress.value().message, "four of ten");
}

// ---- How it ends --------------------------------------------------------------------------------

TEST_P(TaskTest, MayCompleteWithoutAResultOrWithAContentType) {
  const auto none = run([](Task&) { return Outcome{}; });
  const auto bytes = must(run_blocking(engine(), GetResult{none.id}));
  EXPECT_TRUE(bytes.absent);
  const auto typed = run([](Task&) { return Outcome::completed("{}", "application/json"); });
  const auto json = must(run_blocking(engine(), GetResult{typed.id}));
  EXPECT_EQ(json.bytes, "{}");
  EXPECT_EQ(json.content_type.value().str(), "application/json");
}

TEST_P(TaskTest, ExceptionFailsTheAttemptWithItsMessage) {
  const auto reason = [&](Handler handler) {
    return run(std::move(handler)).failure_reason.value();
  };
  EXPECT_EQ(reason([](Task&) -> Outcome { throw std::runtime_error("out of paper"); }),
            "out of paper");
  EXPECT_THAT(reason([](Task&) -> Outcome { throw 7; }), HasSubstr("not a std::exception"));
  EXPECT_THAT(reason([](Task&) -> Outcome { throw std::runtime_error(""); }),
              HasSubstr("without a message"));
  EXPECT_THAT(
      reason([](Task&) -> Outcome { throw std::runtime_error(std::string(9999, 'x') + "\xff"); }),
      HasSubstr("xxxx"));
}

TEST_P(TaskTest, ResultThatTheEngineCannotTakeIsAFailureThatSaysSo) {
  const auto large = run([](Task&) { return std::string(9 * 1024 * 1024, 'x'); });
  EXPECT_THAT(large.failure_reason.value(), HasSubstr("at most"));
  const auto typed = run([](Task&) { return Outcome::completed("", "text\nplain"); });
  EXPECT_THAT(typed.failure_reason.value(), HasSubstr("content_type"));
}

TEST_P(TaskTest, FailureIsRetriedAsThePolicySays) {
  const auto fail_with = [&](Failure failure) {
    return run([failure](Task&) { return Outcome::failed(failure); },
               {.kind = "k", .policy = retry_once});
  };
  const auto transient = fail_with({.reason = "busy", .category = "transient"});
  EXPECT_EQ(transient.attempts, 2u);
  EXPECT_EQ(transient.failure_category, "transient");
  const auto permanent = fail_with({.reason = "gone", .category = "permanent"});
  EXPECT_EQ(permanent.attempts, 1u);
}

TEST_P(TaskTest, FailureThatIsNotRetryableIsPermanentAndKeepsItsCategoryInTheReason) {
  const auto end = run(
      [](Task&) {
        return Outcome::failed({.reason = "no money", .category = "card", .retryable = false});
      },
      {.kind = "k", .policy = retry_once});
  EXPECT_EQ(end.attempts, 1u);
  EXPECT_EQ(end.failure_category, "permanent");
  EXPECT_EQ(end.failure_reason, "card: no money");
}

TEST_P(TaskTest, FailureMayBeThrown) {
  const auto end = run(
      [](Task&) -> Outcome { throw TaskFailure({.reason = "no such user", .retryable = false}); },
      {.kind = "k", .policy = retry_once});
  EXPECT_EQ(end.attempts, 1u);
  EXPECT_EQ(end.failure_reason, "no such user");
}

TEST_P(TaskTest, DelayedGoesOnLaterWithTheSameAttempt) {
  std::latch delayed(1);
  Worker worker(engine());
  worker.handle("k", [&](Task& task) -> Outcome {
    if (task.resumed()) return std::to_string(task.attempt_index());
    delayed.count_down();
    return Outcome::delayed(1h);
  });
  must(worker.start());
  const auto id = submit({.kind = "k"});
  delayed.wait();
  Client client(engine());
  wait_until([&] { return client.state(id) == ExecutionState::delayed; });
  const auto until = must(client.get(id)).delay_until.value();
  EXPECT_GE(until, home_.clock().now() + 1h);
  EXPECT_LT(until, home_.clock().now() + 1h + 30s) << "by the engine's clock";
  home_.clock().advance(until - home_.clock().now());
  home_.run_scanners();
  EXPECT_EQ(client.result(id, wait_max), "0");
}

TEST_P(TaskTest, DelayedUntilATimeThatIsOverGoesOnAtOnce) {
  const auto end = run([](Task& task) -> Outcome {
    if (task.resumed()) return "went on";
    return Outcome::delayed_until(TimePoint{});
  });
  EXPECT_EQ(end.state, ExecutionState::completed);
}

TEST_P(TaskTest, HandedBackGoesOnElsewhere) {
  const auto end = run([](Task& task) -> Outcome {
    if (task.resumed()) return "went on";
    return Outcome::handed_back("no disk space here");
  });
  EXPECT_EQ(end.state, ExecutionState::completed);
  EXPECT_EQ(end.attempts, 1u);
  EXPECT_THAT(must(Client(engine()).lease_history(end.id)).at(1).reason,
              HasSubstr("no disk space here"));
}

TEST_P(TaskTest, OutcomeTellsAHandlersOwnTestWhatItIs) {
  EXPECT_EQ(std::get<Outcome::Completed>(Outcome("x").how()).result, "x");
  EXPECT_EQ(std::get<Failure>(Outcome::failed({.reason = "r"}).how()).reason, "r");
  EXPECT_EQ(std::get<Outcome::DelayedFor>(Outcome::delayed(2s).how()).pause, 2s);
}

// ---- Cancelling and waiting ---------------------------------------------------------------------

TEST_P(TaskTest, HandlerMayCancelItsExecution) {
  const auto end = run([](Task&) { return Outcome::cancelled("not needed"); });
  EXPECT_EQ(end.state, ExecutionState::cancelled);
  EXPECT_EQ(end.cancel_reason, "not needed");
}

TEST_P(TaskTest, CancelThatIsNotAllowedFailsTheExecution) {
  FaultyEngine faulty(engine());
  faulty.fail_next<Cancel>(1, Errc::permission_denied);
  Worker worker(faulty);
  worker.handle("k", [](Task&) { return Outcome::cancelled("not needed"); });
  must(worker.start());
  const auto end =
      must(Client(engine()).wait(submit({.kind = "k", .policy = retry_once}), wait_max));
  EXPECT_EQ(end.state, ExecutionState::failed);
  EXPECT_EQ(end.failure_category, "cancelled");
}

TEST_P(TaskTest, HandlerMayWaitForChildren) {
  const auto end = run([](Task& task) -> Outcome {
    if (!task.resumed()) return Outcome::waiting_for_children();
    return "resumed";
  });
  EXPECT_EQ(Client(engine()).result(end.id, 0ms), "resumed");
}

}  // namespace
}  // namespace ff
