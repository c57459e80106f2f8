#include <flowfabric/testing.hpp>

#include <flowfabric/client.hpp>
#include <flowfabric/flow.hpp>

#include "sdk/sdk_fixture.hpp"

namespace ff::testing {
namespace {

Outcome greet(Task& task) { return "Hello, " + task.payload() + "!"; }

// ---- A task from parts --------------------------------------------------------------------------

TEST(TestTask, HasTheGivenParts) {
  TestTask test({.kind = "greet", .payload = "Ada", .tags = {{"app.a", "1"}}, .attempt_index = 2});
  EXPECT_EQ(to_string(greet(test.task())), "completed: Hello, Ada!");
  EXPECT_EQ(test.task().kind().str(), "greet");
  EXPECT_EQ(test.task().tags().at("app.a"), "1");
  EXPECT_EQ(test.task().attempt_index(), 2u);
}

TEST(TestTask, ExceptionsBecomeOutcomes) {
  TestTask test;
  const auto outcome = [&](Handler handler) { return to_string(test.run(handler)); };
  EXPECT_EQ(outcome([](Task&) -> Outcome { throw std::runtime_error("no"); }), "failed: no");
  EXPECT_EQ(outcome([](Task&) -> Outcome {
              throw TaskFailure({.reason = "no", .category = "card", .retryable = false});
            }),
            "failed: no (card), final");
}

TEST(TestTask, CanBeCancelled) {
  TestTask test;
  test.cancel(CancelReason::lease_lost);
  EXPECT_EQ(test.task().cancelled(), CancelReason::lease_lost);
  EXPECT_TRUE(test.task().cancellation().stop_requested());
  EXPECT_THROW(test.task().throw_if_cancelled(), TaskCancelled);
}

TEST(TestTask, RecordsWhatTheHandlerTells) {
  const auto budget = must(BudgetId::parse("01920000-0000-7000-8000-000000000001"));
  TestTask test({.budgets = {budget}});
  must(test.task().progress(50, "half"));
  must(test.task().report_usage({{"tokens", 7}}));
  EXPECT_EQ(test.progress().at(0).message, "half");
  EXPECT_EQ(test.usage().at(0).amounts, (Amounts{{"tokens", 7}}));
  test.set_usage_reply({.action = OnHardLimit::fail});
  must(test.task().report_usage({{"tokens", 7}}));
  EXPECT_EQ(test.task().cancelled(), CancelReason::budget_exceeded);
  test.fail_calls(Errc::execution_not_found);
  EXPECT_EQ(test.task().progress(60).error().code, Errc::execution_not_found);
}

TEST(TestTask, HasTheGivenInputs) {
  TestTask test(
      {.node = "join",
       .inputs = {{.name = "page", .result = "one", .node = "first"},
                  {.name = "page", .state = ExecutionState::failed, .node = "second"},
                  {.name = "plan", .result = "[1]", .content_type = "application/json"}}});
  auto& task = test.task();
  EXPECT_EQ(task.node()->str(), "join");
  EXPECT_EQ(task.input("page").bytes, "one");
  EXPECT_EQ(task.inputs("page").at(1).state, ExecutionState::failed);
  EXPECT_EQ(task.inputs().size(), 3u);
  EXPECT_EQ(task.input("plan").content_type->str(), "application/json");
  EXPECT_THROW(task.input("other"), TaskFailure);
}

TEST(TestTask, OfNoFlowHasNoInputs) {
  TestTask test;
  EXPECT_FALSE(test.task().flow());
  EXPECT_TRUE(test.task().inputs().empty());
}

Outcome deploy(Task& task) {
  const auto plan = task.once("plan", [] { return std::string("plan 1"); });
  const auto decision = task.ask("deploy", approval("Deploy?", plan, {"ada", "bob"}),
                                 [](const IssuedWaitpoint&) {}, {.needed = 2});
  return decision.is("approve") ? plan + " deployed" : std::string(to_string(decision.cause));
}

TEST(TestTask, HandlerThatWaitsIsRunAgainWithItsSignals) {
  TestTask test;
  EXPECT_EQ(to_string(test.run(deploy)),
            "suspended: 0 of 2 approve signals from different sources or the signal reject at the "
            "waitpoint deploy");
  EXPECT_EQ(test.waitpoints().at(0).question.value().text, "plan 1");
  test.signal({.name = "approve", .source = "ada", .waitpoint = "deploy"});
  test.signal({.name = "approve", .source = "bob", .waitpoint = "deploy"});
  EXPECT_EQ(to_string(test.run(deploy)), "completed: plan 1 deployed");
  EXPECT_THAT(test.waitpoints(), SizeIs(1)) << "opened once";
}

TEST(TestTask, SignalsAndStepsCanBeThereFromTheStart) {
  TestTask test({.signals = {{.name = "go", .payload = "now"}}, .steps = {{"plan", "kept"}}});
  const auto outcome = test.run([](Task& task) -> Outcome {
    return task.once("plan", [] { return std::string("made"); }) + task.wait_for("go").text();
  });
  EXPECT_EQ(to_string(outcome), "completed: keptnow");
}

TEST(TestTask, SuspensionCanEndByItsTimeout) {
  const Handler handler = [](Task& task) -> Outcome {
    return std::string(to_string(task.wait_for("go").cause()));
  };
  TestTask test;
  EXPECT_EQ(to_string(test.run(handler)), "suspended: the signal go");
  test.wake(WakeCause::timeout);
  EXPECT_EQ(to_string(test.run(handler)), "completed: timeout");
}

// ---- An engine in memory ------------------------------------------------------------------------

TEST(MemoryEngine, RunsExecutionsToTheirEnd) {
  MemoryEngine engine;
  Client client(engine);
  const auto id = must(client.submit({.kind = "greet", .payload = "Ada"})).id;
  const auto attempts = engine.work({{"greet", greet}});
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_EQ(attempts[0].outcome, "completed: Hello, Ada!");
  EXPECT_EQ(client.result(id, 0ms), "Hello, Ada!");
}

TEST(MemoryEngine, MovesTimeToTheNextRetry) {
  MemoryEngine engine;
  Client client(engine);
  const Policy policy{.retry = RetryPolicy{.max_retries = 2, .backoff = FixedBackoff{1h}}};
  const auto id = must(client.submit({.kind = "k", .policy = policy})).id;
  const auto attempts = engine.work({{"k", [](Task& task) -> Outcome {
                                        if (task.attempt_index() < 2)
                                          throw std::runtime_error("no");
                                        return "third";
                                      }}});
  ASSERT_THAT(attempts, SizeIs(3));
  EXPECT_GE(attempts[1].at - attempts[0].at, 30min);
  EXPECT_GE(attempts[2].at - attempts[1].at, 30min);
  EXPECT_EQ(client.result(id, 0ms), "third");
}

TEST(MemoryEngine, TimePassesOnlyWhenTheTestSaysSo) {
  MemoryEngine engine;
  Client client(engine);
  const auto id = must(client.submit({.kind = "k", .delay_until = engine.now() + 1h})).id;
  EXPECT_EQ(client.state(id), ExecutionState::delayed);
  engine.advance(1h);
  EXPECT_EQ(client.state(id), ExecutionState::waiting);
}

TEST(MemoryEngine, HandlerHearsThatItsLeaseIsLost) {
  MemoryEngine engine;
  Client client(engine);
  must(client.submit({.kind = "k"}));
  std::vector<std::optional<CancelReason>> heard;
  const auto attempts = engine.work({{"k", [&](Task& task) {
                                        if (heard.empty()) engine.lose_lease(task.id());
                                        heard.push_back(task.cancelled());
                                        return Outcome("done");
                                      }}});
  EXPECT_THAT(heard, ElementsAre(CancelReason::lease_lost, std::nullopt));
  EXPECT_THAT(attempts, SizeIs(2)) << "the result of the first is dropped";
}

TEST(MemoryEngine, HandlerHearsThatItsExecutionIsCancelled) {
  MemoryEngine engine;
  Client client(engine);
  const auto id = must(client.submit({.kind = "k"})).id;
  std::optional<CancelReason> heard;
  engine.work({{"k", [&](Task& task) {
                  engine.cancel(task.id());
                  heard = task.cancelled();
                  return Outcome("done");
                }}});
  EXPECT_EQ(heard, CancelReason::execution_cancelled);
  EXPECT_EQ(client.state(id), ExecutionState::cancelled);
}

TEST(MemoryEngine, CallsFailAsTheTestWants) {
  MemoryEngine engine;
  Client client(engine, {.submit_retry = 0ms});
  engine.set_down(true);
  EXPECT_EQ(client.submit({.kind = "k"}).error().code, Errc::store_unavailable);
  engine.set_down(false);
  engine.fail_next<Submit>(1, Errc::timed_out, MemoryEngine::Fault::reply_lost);
  EXPECT_EQ(client.submit({.kind = "k"}).error().code, Errc::timed_out);
  EXPECT_THAT(must(client.list()).executions, SizeIs(1));
}

TEST(MemoryEngine, SuspendedWorkIsResumedBySignalsAndByTime) {
  MemoryEngine engine;
  Client client(engine);
  const WaitOptions options{.timeout = 24h, .on_timeout = TimeoutAction::auto_resume};
  const std::map<std::string, Handler> handlers{{"k", [&](Task& task) -> Outcome {
                                                   const auto go = task.wait_for("go", options);
                                                   return go ? go.text() : "timed out";
                                                 }}};
  const auto first = must(client.submit({.kind = "k"})).id;
  const auto second = must(client.submit({.kind = "k"})).id;
  EXPECT_THAT(engine.work(handlers), SizeIs(2));
  must(client.signal(first, "go", "signalled"));
  EXPECT_THAT(engine.work(handlers), SizeIs(1));
  EXPECT_EQ(client.result(first, 0ms), "signalled");
  EXPECT_EQ(client.state(second), ExecutionState::suspended);
  engine.advance(24h);
  EXPECT_THAT(engine.work(handlers), SizeIs(1));
  EXPECT_EQ(client.result(second, 0ms), "timed out");
}

TEST(MemoryEngine, RunThatWouldNotEndThrows) {
  MemoryEngine engine;
  must(Client(engine).submit({.kind = "k"}));
  const Handler again = [](Task&) { return Outcome::delayed(1s); };
  EXPECT_THROW(engine.work({{"k", again}}, {.attempts_max = 5}), std::runtime_error);
}

TEST(MemoryEngine, ServesRealWorkers) {
  MemoryEngine engine;
  Worker worker(engine);
  worker.handle("greet", greet);
  must(worker.start());
  Client client(engine);
  const auto id = must(client.submit({.kind = "greet", .payload = "Ada"})).id;
  EXPECT_EQ(client.result(id, wait_max), "Hello, Ada!");
}

TEST(MemoryEngine, RunsAFlowToItsEnd) {
  MemoryEngine engine;
  Client client(engine);
  Flow flow;
  flow.add("a", "greet", "Ada");
  flow.add("b", "greet", "Bob");
  flow.add("all", "join").after({"a", "b"}, "greeting");
  flow.result("all");
  const auto id = must(client.submit(flow)).flow.id;
  const auto join = [](Task& task) -> Outcome {
    std::string text;
    for (const auto& each : task.inputs("greeting")) text += each.result;
    return text;
  };
  EXPECT_EQ(engine.work({{"greet", greet}, {"join", join}}).size(), 3u);
  EXPECT_EQ(must(client.flow_result(id, 0ms)).bytes, "Hello, Ada!Hello, Bob!");
}

}  // namespace
}  // namespace ff::testing
