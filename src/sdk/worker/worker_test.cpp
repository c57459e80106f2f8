// A worker's life: claiming, running handlers, keeping leases, stopping.
#include <atomic>
#include <barrier>
#include <latch>

#include "sdk/client/blocking.hpp"
#include "sdk/sdk_fixture.hpp"
#include "tests/support/log_capture.hpp"

namespace ff {
namespace {

class WorkerTest : public SdkTest {};

INSTANTIATE_TEST_SUITE_P(On, WorkerTest, everywhere(), home_name);

TEST_P(WorkerTest, HandlerRunsAndItsResultComesBack) {
  Worker worker(engine());
  worker.handle("upper", [](Task& task) {
    auto text = task.payload();
    for (auto& c : text) c = static_cast<char>(std::toupper(c));
    return text;
  });
  must(worker.start());
  EXPECT_EQ(submit_and_wait({.kind = "upper", .payload = "abc"}), "ABC");
}

TEST_P(WorkerTest, ClaimsTheKindsThatHaveAHandler) {
  Worker first(engine(), {.id = "first"}), second(engine(), {.id = "second"});
  first.handle("a", [](Task&) { return "by first"; });
  second.handle("b", [](Task&) { return "by second"; });
  for (auto* worker : {&first, &second}) must(worker->start());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(submit_and_wait({.kind = "b"}), "by second");
    EXPECT_EQ(submit_and_wait({.kind = "a"}), "by first");
  }
}

TEST_P(WorkerTest, AKindWithoutAHandlerWaitsForAWorkerThatHasOne) {
  Worker old_release(engine(), {.id = "old"});
  old_release.handle("known", [](Task&) { return "done"; });
  must(old_release.start());
  const auto id = submit({.kind = "new"});
  EXPECT_EQ(submit_and_wait({.kind = "known"}), "done");
  EXPECT_EQ(Client(engine()).state(id), ExecutionState::waiting);
  Worker new_release(engine(), {.id = "new"});
  new_release.handle("new", [](Task&) { return "done, too"; });
  must(new_release.start());
  EXPECT_EQ(Client(engine()).result(id, wait_max), "done, too");
  EXPECT_THAT(must(Client(engine()).attempts(id)), SizeIs(1));
}

TEST_P(WorkerTest, AskingTheServerForAGrantNamesTheKindsToo) {
  Worker worker(engine(), {.id = "w7", .concurrency = 2, .polls = false});
  worker.handle("known", [](Task&) { return "done"; });
  must(worker.start());
  submit({.kind = "other"});
  const auto id = submit({.kind = "known"});
  EXPECT_EQ(must(worker.claim_via_server()), id);
  EXPECT_EQ(must(worker.claim_via_server()), std::nullopt);
}

TEST_P(WorkerTest, AnExecutionOfAKindWithoutAHandlerIsHandedBack) {
  Worker worker(engine(), {.id = "w7", .polls = false});
  worker.handle("known", [](Task&) { return "done"; });
  must(worker.start());
  const auto id = submit({.kind = "other"});
  EXPECT_EQ(must(worker.claim_execution(id)), id);
  wait_until([&] { return must(Client(engine()).get(id)).state == ExecutionState::waiting; });
}

// A server of an earlier release refuses the field.
TEST_P(WorkerTest, AHandlersKindMustHaveAName) {
  Worker worker(engine());
  worker.handle("", [](Task&) { return "done"; });
  EXPECT_EQ(worker.start().error().code, Errc::invalid_input);
}

TEST_P(WorkerTest, MoreKindsThanAClaimCanNameAreRefused) {
  Worker worker(engine());
  for (std::size_t i = 0; i <= limits::claim_kinds_max; ++i)
    worker.handle(fmt::format("kind-{}", i), [](Task&) { return "done"; });
  EXPECT_EQ(worker.start().error().code, Errc::invalid_input);
}

TEST(WorkerOnAnOlderServer, GoesOnWithoutNamingItsKinds) {
  ServerHome home;
  FaultyEngine engine(home.engine());
  engine.refuse_field<Claim>("kinds", 1);
  Worker worker(engine, {.id = "w7"});
  worker.handle("known", [](Task&) { return "done"; });
  must(worker.start());
  Client client(engine);
  const auto id = must(client.submit({.kind = "known"})).id;
  EXPECT_EQ(client.result(id, wait_max), "done");
  const auto claims = engine.claims();
  EXPECT_THAT(claims.at(0).kinds, SizeIs(1));
  EXPECT_THAT(claims.at(1).kinds, IsEmpty());
}

TEST(WorkerOnAnOlderServer, RegistersWithoutAnIncarnation) {
  ServerHome home;
  FaultyEngine engine(home.engine());
  engine.refuse_field<RegisterWorker>("incarnation", 1);
  const test::LogCapture log(LogLevel::warn);
  Worker worker(engine, {.id = "w7"});
  must(worker.start());
  wait_until([&] { return engine.calls<RegisterWorker>() == 2; });
  Client client(engine);
  wait_until([&] { return must(client.workers()).size() == 1; });
  const RegisterWorker other{
      .worker = *WorkerId::parse("w7"),
      .incarnation = *IncarnationId::parse("01920000-0000-7000-8000-000000000001")};
  EXPECT_TRUE(run_blocking(engine, other)) << "the id is not held";
  EXPECT_EQ(log.text(),
            "warning worker w7 does not hold its id: the server cannot tell two workers with the "
            "same id apart; upgrade it\n");
}

TEST_P(WorkerTest, KindsWithoutAHandlerOfTheirOwnMayHaveOneTogether) {
  Worker worker(engine());
  worker.handle("own", [](Task&) { return "own"; });
  worker.handle_others([](Task& task) { return "others: " + task.kind().str(); });
  must(worker.start());
  EXPECT_EQ(submit_and_wait({.kind = "own"}), "own");
  EXPECT_EQ(submit_and_wait({.kind = "any"}), "others: any");
}

TEST_P(WorkerTest, HandlersRunSideBySide) {
  constexpr int count = 4;
  std::barrier all_here(count);
  Worker worker(engine(), {.concurrency = count});
  worker.handle("meet", [&](Task&) {
    all_here.arrive_and_wait();
    return "met";
  });
  must(worker.start());
  std::vector<ExecutionId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(submit({.kind = "meet"}));
  for (const auto& id : ids) EXPECT_EQ(Client(engine()).result(id, wait_max), "met");
}

TEST_P(WorkerTest, OfferedCapabilitiesBringTheWorkThatNeedsThem) {
  Worker plain(engine(), {.id = "plain"}),
      strong(engine(), {.id = "strong", .capabilities = {"gpu"}});
  for (auto* worker : {&plain, &strong}) {
    worker->handle("render", [](Task&) { return ""; });
    must(worker->start());
  }
  const auto id = submit(
      {.kind = "render", .policy = {.required_capabilities = must(CapabilitySet::parse({"gpu"}))}});
  must(Client(engine()).result(id, wait_max));
  EXPECT_EQ(must(Client(engine()).attempts(id)).at(0).worker.str(), "strong");
}

// ---- Leases -------------------------------------------------------------------------------------

TEST_P(WorkerTest, LeaseIsRenewedWhileTheHandlerRuns) {
  Worker worker(engine(), {.lease_ttl = 60ms});
  worker.handle("slow", [&](Task& task) {
    const auto first_expiry = home_.clock().now() + 60ms;
    home_.clock().advance(30ms);
    Client client(engine());
    wait_until([&] { return must(client.get(task.id())).lease_expires_at > first_expiry; });
    return "done";
  });
  must(worker.start());
  EXPECT_EQ(submit_and_wait({.kind = "slow"}), "done");
}

TEST_P(WorkerTest, HandlerIsToldThatItsLeaseIsLost) {
  std::promise<CancelReason> told;
  Worker worker(engine(), {.lease_ttl = 30ms});
  worker.handle("stuck", [&](Task& task) {
    home_.clock().advance(1h);
    wait_until([&] { return task.cancelled().has_value(); });
    told.set_value(*task.cancelled());
    return "too late";
  });
  must(worker.start());
  const auto id = submit({.kind = "stuck"});
  EXPECT_EQ(told.get_future().get(), CancelReason::lease_lost);
  worker.stop();
  EXPECT_EQ(Client(engine()).state(id), ExecutionState::active) << "its result must be refused";
}

// ---- Cancelling ---------------------------------------------------------------------------------

// A handler that runs until it is told to stop, and says why.
struct UntilCancelled {
  Outcome operator()(Task& task) const {
    started->count_down();
    std::promise<void> stopped;
    const std::stop_callback wake(task.cancellation(), [&] { stopped.set_value(); });
    stopped.get_future().wait();
    reason->set_value(*task.cancelled());
    return "too late";
  }
  std::shared_ptr<std::latch> started = std::make_shared<std::latch>(1);
  std::shared_ptr<std::promise<CancelReason>> reason =
      std::make_shared<std::promise<CancelReason>>();
};

TEST_P(WorkerTest, HandlerIsToldOfACancelLongBeforeTheNextRenewal) {
  Worker worker(engine(), {.lease_ttl = 1h});
  const UntilCancelled handler;
  worker.handle("long", handler);
  must(worker.start());
  Client client(engine());
  const auto id = submit({.kind = "long"});
  handler.started->wait();
  must(client.cancel(id, "not wanted"));
  EXPECT_EQ(handler.reason->get_future().get(), CancelReason::execution_cancelled);
  worker.stop();
  EXPECT_EQ(client.state(id), ExecutionState::cancelled);
}

TEST_P(WorkerTest, HandlerIsToldOfARevokedLease) {
  Worker worker(engine(), {.lease_ttl = 1h});
  const UntilCancelled handler;
  worker.handle("long", handler);
  must(worker.start());
  const auto id = submit({.kind = "long"});
  handler.started->wait();
  must(Client(engine()).revoke_lease(id));
  EXPECT_EQ(handler.reason->get_future().get(), CancelReason::lease_lost);
  worker.stop();
}

TEST_P(WorkerTest, HandlerIsToldThatItsTimeIsOver) {
  Worker worker(engine());
  const UntilCancelled handler;
  worker.handle("slow", handler);
  must(worker.start());
  submit({.kind = "slow", .policy = {.attempt_timeout = 20ms}});
  EXPECT_EQ(handler.reason->get_future().get(), CancelReason::timed_out);
}

TEST_P(WorkerTest, CancelledHandlerMayThrow) {
  std::promise<CancelReason> thrown;
  Worker worker(engine());
  worker.handle("steps", [&](Task& task) -> Outcome {
    try {
      while (true) task.throw_if_cancelled();
    } catch (const TaskCancelled& cancelled) {
      thrown.set_value(cancelled.reason());
      throw;
    }
  });
  must(worker.start());
  const auto id = submit({.kind = "steps", .policy = {.attempt_timeout = 20ms}});
  EXPECT_EQ(thrown.get_future().get(), CancelReason::timed_out);
  const auto end = must(Client(engine()).wait(id, wait_max));
  EXPECT_EQ(end.state, ExecutionState::failed);
  EXPECT_EQ(end.failure_category, "timeout");
}

// ---- Stopping -----------------------------------------------------------------------------------

TEST_P(WorkerTest, StopWaitsForTheRunningHandlerAndTellsIt) {
  std::latch started(1);
  Worker worker(engine());
  worker.handle("slow", [&](Task& task) {
    started.count_down();
    wait_until([&] { return task.cancelled() == CancelReason::worker_stopping; });
    return "done";
  });
  must(worker.start());
  const auto id = submit({.kind = "slow"});
  started.wait();
  worker.stop();
  EXPECT_EQ(Client(engine()).result(id, 0ms), "done");
}

TEST_P(WorkerTest, UnfinishedTaskIsHandedBackAtTheDrainLimit) {
  std::latch started(1), go_on(1);
  Worker first(engine(), {.id = "first", .lease_ttl = 1h, .drain_limit = 0ms});
  first.handle("slow", [&](Task&) {
    started.count_down();
    go_on.wait();
    return "from the first";
  });
  must(first.start());
  const auto id = submit({.kind = "slow"});
  started.wait();
  first.stop();
  Client client(engine());
  EXPECT_EQ(client.state(id), ExecutionState::waiting);
  EXPECT_THAT(must(client.lease_history(id)).back().reason, HasSubstr("the worker stops"));

  Worker second(engine(), {.id = "second"});
  second.handle("slow", [](Task& task) { return task.resumed() ? "from the second" : "anew"; });
  must(second.start());
  EXPECT_EQ(client.result(id, wait_max), "from the second");
  go_on.count_down();
}

TEST_P(WorkerTest, HandlerThatStopsWithItsWorkerHandsBack) {
  std::latch started(1);
  Worker worker(engine());
  worker.handle("steps", [&](Task& task) -> Outcome {
    started.count_down();
    while (true) task.throw_if_cancelled();
  });
  must(worker.start());
  const auto id = submit({.kind = "steps"});
  started.wait();
  worker.stop();
  EXPECT_EQ(Client(engine()).state(id), ExecutionState::waiting);
}

TEST_P(WorkerTest, StoppedWorkerClaimsNothingUntilItIsStartedAgain) {
  Worker worker(engine());
  worker.handle("k", [](Task&) { return "ran"; });
  must(worker.start());
  worker.stop();
  worker.stop();
  const auto id = submit({.kind = "k"});
  EXPECT_EQ(Client(engine()).state(id), ExecutionState::waiting);
  must(worker.start());
  EXPECT_EQ(Client(engine()).result(id, wait_max), "ran");
}

TEST_P(WorkerTest, WrongOptionsAreRefusedWithAReason) {
  const auto refused = [&](WorkerOptions options) {
    return Worker(engine(), std::move(options)).start().error().message;
  };
  EXPECT_THAT(refused({.id = "a b"}), HasSubstr("worker"));
  EXPECT_THAT(refused({.ns = ""}), HasSubstr("namespace"));
  EXPECT_THAT(refused({.lanes = {""}}), HasSubstr("lane"));
  EXPECT_THAT(refused({.lanes = {}}), HasSubstr("lanes"));
  EXPECT_THAT(refused({.capabilities = {"a,b"}}), HasSubstr("a,b"));
  EXPECT_THAT(refused({.concurrency = 0}), HasSubstr("concurrency"));
  EXPECT_THAT(refused({.lease_ttl = 0ms}), HasSubstr("lease_ttl_ms"));
  EXPECT_THAT(refused({.drain_limit = -1ms}), HasSubstr("drain limit"));
  Worker twice(engine());
  must(twice.start());
  EXPECT_THAT(twice.start().error().message, HasSubstr("started already"));
}

// ---- Grants -------------------------------------------------------------------------------------

class GrantTest : public SdkTest {
 protected:
  GrantTest() {
    worker_.handle("k", [this](Task& task) {
      go_on_.wait(false);
      return task.attempt_type() == AttemptType::initial ? "first" : "again";
    });
    must(worker_.start());
  }

  ~GrantTest() override { go_on(); }

  GrantedExecution grant() {
    return *must(run_blocking(engine(), Grant{.worker = must(WorkerId::parse("w"))})).execution;
  }

  // Lets handlers return.
  void go_on() {
    go_on_ = true;
    go_on_.notify_all();
  }

  std::atomic<bool> go_on_ = false;
  Worker worker_{engine(), {.id = "w", .polls = false}};
};

INSTANTIATE_TEST_SUITE_P(On, GrantTest, everywhere(), home_name);

TEST_P(GrantTest, GrantBecomesATask) {
  go_on();
  const auto id = submit({.kind = "k"});
  EXPECT_EQ(worker_.claim_from_grant(grant()), id);
  EXPECT_EQ(Client(engine()).result(id, wait_max), "first");
}

TEST_P(GrantTest, NamedExecutionBecomesATask) {
  go_on();
  const auto id = submit({.kind = "k"});
  EXPECT_EQ(worker_.claim_execution(id), id);
  EXPECT_EQ(Client(engine()).result(id, wait_max), "first");
}

TEST_P(GrantTest, ServerChoosesAnExecutionOrNone) {
  go_on();
  EXPECT_EQ(worker_.claim_via_server(), std::nullopt);
  const auto id = submit({.kind = "k"});
  EXPECT_EQ(worker_.claim_via_server(), id);
  EXPECT_EQ(Client(engine()).result(id, wait_max), "first");
}

TEST_P(GrantTest, ExecutionOfALostLeaseBecomesATask) {
  go_on();
  const auto id = submit({.kind = "k"});
  const auto other = must(WorkerId::parse("other"));
  must(run_blocking(engine(), ClaimExecution{.id = id, .worker = other}));
  must(Client(engine()).revoke_lease(id));
  home_.run_scanners();
  EXPECT_EQ(worker_.claim_from_reclaim_grant(grant()), id);
  EXPECT_EQ(Client(engine()).result(id, wait_max), "again");
}

TEST_P(GrantTest, WorkerAtCapacityLeavesTheGrantUntouched) {
  submit({.kind = "k"});
  submit({.kind = "k"});
  const auto first = must(worker_.claim_from_grant(grant()));
  const auto granted = grant();
  EXPECT_EQ(worker_.claim_from_grant(granted).error().code, Errc::worker_at_capacity);
  EXPECT_EQ(worker_.claim_via_server().error().code, Errc::worker_at_capacity);
  EXPECT_EQ(must(Client(engine()).get(granted.id)).granted_to.value().str(), "w");
  go_on();
  must(Client(engine()).result(first, wait_max));
  wait_until([&] { return worker_.claim_from_grant(granted).has_value(); });
  EXPECT_EQ(Client(engine()).result(granted.id, wait_max), "first");
}

TEST_P(GrantTest, StoppedWorkerTakesNone) {
  go_on();
  worker_.stop();
  EXPECT_EQ(worker_.claim_execution(submit({.kind = "k"})).error().code, Errc::invalid_input);
}

// ---- Handing back -------------------------------------------------------------------------------

TEST(HandBack, GoesToAnotherWorkerAlthoughTheOldOneIsWaitingForWork) {
  LocalHome home;
  FaultyEngine engine(home.engine());
  Client client(engine);
  std::latch ready(1);
  std::atomic<int> runs = 0;
  Worker first(engine, {.id = "first", .concurrency = 2});
  first.handle("k", [&](Task&) {
    ++runs;
    ready.wait();
    return Outcome::handed_back("not here");
  });
  must(first.start());
  const auto id = must(client.submit({.kind = "k"})).id;
  wait_until([&] { return runs == 1 && engine.calls<Claim>() == 2; });
  Worker second(engine, {.id = "second"});
  second.handle("k", [](Task&) { return "from the second"; });
  must(second.start());
  wait_until([&] { return engine.calls<Claim>() == 3; });
  ready.count_down();
  EXPECT_EQ(client.result(id, wait_max), "from the second");
  EXPECT_EQ(runs, 1);
}

TEST(HandBack, HasAGrowingPause) {
  LocalHome home;
  FaultyEngine engine(home.engine());
  Client client(engine);
  std::vector<std::chrono::steady_clock::time_point> runs;
  Worker worker(engine);
  worker.handle("k", [&](Task&) {
    runs.push_back(std::chrono::steady_clock::now());
    return runs.size() < 3 ? Outcome::handed_back() : Outcome("done");
  });
  must(worker.start());
  must(client.result(must(client.submit({.kind = "k"})).id, wait_max));
  EXPECT_GE(runs[1] - runs[0], 50ms);
  EXPECT_GE(runs[2] - runs[1], 100ms);
}

// ---- Calls that fail ----------------------------------------------------------------------------

class FaultyWorkerTest : public ::testing::Test {
 protected:
  LocalHome home_;
  static Uuid some_uuid() {
    SystemRandom random;
    return make_uuid(TimePoint{}, random);
  }

  FaultyEngine engine_{home_.engine()};
  Client client_{engine_};
};

TEST_F(FaultyWorkerTest, ClaimWhoseAnswerIsLostIsRepeatedAndGivesTheSame) {
  std::atomic<int> runs = 0;
  const auto id = must(client_.submit({.kind = "k"})).id;
  engine_.fail_next<Claim>(1, Errc::unreachable, true);
  Worker worker(engine_);
  worker.handle("k", [&](Task& task) { return std::to_string(++runs) + task.payload(); });
  must(worker.start());
  EXPECT_EQ(client_.result(id, wait_max), "1");
  EXPECT_THAT(must(client_.attempts(id)), SizeIs(1));
  const auto claims = engine_.claims();
  ASSERT_GE(claims.size(), 2u);
  EXPECT_EQ(claims[0].request_id, claims[1].request_id);
  worker.stop();
  EXPECT_NE(engine_.claims().back().request_id, claims[0].request_id) << "one id per claim";
}

TEST_F(FaultyWorkerTest, RenewalThatFailsIsTriedAgainSoon) {
  engine_.fail_next<Renew>(3, Errc::unreachable);
  Worker worker(engine_, {.lease_ttl = 600ms});
  worker.handle("slow", [&](Task& task) {
    wait_until([&] { return engine_.calls<Renew>() >= 4 || task.cancelled(); });
    return task.cancelled() ? "told to stop" : "kept its lease";
  });
  must(worker.start());
  EXPECT_EQ(client_.result(must(client_.submit({.kind = "slow"})).id, wait_max), "kept its lease");
}

TEST_F(FaultyWorkerTest, LeaseThatCannotBeRenewedForAllItsLifeIsLost) {
  engine_.fail_next<Renew>(1'000'000, Errc::unreachable);
  Worker worker(engine_, {.lease_ttl = 60ms});
  const UntilCancelled handler;
  worker.handle("slow", handler);
  must(worker.start());
  must(client_.submit({.kind = "slow"}));
  EXPECT_EQ(handler.reason->get_future().get(), CancelReason::lease_lost);
}

TEST_F(FaultyWorkerTest, ResultIsReportedUntilItIsHeard) {
  for (const auto code : {Errc::unreachable, Errc::malformed_response, Errc::unauthenticated}) {
    engine_.fail_next<Complete>(2, code);
    Worker worker(engine_);
    worker.handle("k", [](Task&) { return "result"; });
    must(worker.start());
    EXPECT_EQ(client_.result(must(client_.submit({.kind = "k"})).id, wait_max), "result");
  }
}

TEST_F(FaultyWorkerTest, ResultStaysAsItIsWhenOnlyTheAnswerIsLost) {
  engine_.fail_next<Complete>(1, Errc::timed_out, true);
  Worker worker(engine_);
  worker.handle("k", [](Task&) { return "result"; });
  must(worker.start());
  const auto id = must(client_.submit({.kind = "k"})).id;
  EXPECT_EQ(client_.result(id, wait_max), "result");
  worker.stop();
  EXPECT_EQ(engine_.calls<Fail>(), 0);
}

TEST_F(FaultyWorkerTest, WorkerThatMayNotReadEventsWorksNevertheless) {
  engine_.fail_next<ReadEvents>(1'000, Errc::permission_denied);
  Worker worker(engine_, {.lease_ttl = 2s});
  const UntilCancelled handler;
  worker.handle("long", handler);
  must(worker.start());
  const auto id = must(client_.submit({.kind = "long"})).id;
  handler.started->wait();
  must(client_.cancel(id));
  EXPECT_EQ(handler.reason->get_future().get(), CancelReason::execution_cancelled);
}

TEST_F(FaultyWorkerTest, StartFailsIfTheEngineRefusesTheWorker) {
  for (const auto code : {Errc::unauthenticated, Errc::permission_denied}) {
    engine_.fail_next<RegisterWorker>(1, code);
    Worker worker(engine_);
    const auto claims = engine_.calls<Claim>();
    EXPECT_EQ(worker.start().error().code, code);
    EXPECT_EQ(engine_.calls<Claim>(), claims);
    must(worker.start());
    worker.stop();
  }
}

TEST_F(FaultyWorkerTest, StartSucceedsWhileTheEngineCannotBeReached) {
  engine_.fail_next<RegisterWorker>(1, Errc::unreachable);
  Worker worker(engine_);
  must(worker.start());
  wait_until([&] { return must(client_.workers()).size() == 1; });
}

TEST_F(FaultyWorkerTest, RefusedClaimEndsClaimingAndReachesOnErrorOnce) {
  engine_.fail_next<Claim>(1'000'000, Errc::unauthenticated);
  std::promise<Errc> told;
  Worker worker(engine_, {.on_error = [&](const Error& error) { told.set_value(error.code); }});
  worker.handle("k", [](Task&) { return ""; });
  must(worker.start());
  EXPECT_EQ(told.get_future().get(), Errc::unauthenticated);
  worker.stop();
  EXPECT_EQ(engine_.calls<Claim>(), 1);
}

TEST_F(FaultyWorkerTest, RefusedHeartbeatReachesOnErrorAndRunningHandlersFinish) {
  engine_.fail_next<HeartbeatWorker>(1'000'000, Errc::permission_denied);
  std::latch denied(1);
  Worker worker(engine_, {.alive_ttl = limits::worker_ttl_min,
                          .on_error = [&](const Error&) { denied.count_down(); }});
  worker.handle("k", [&](Task&) {
    denied.wait();
    return "finished";
  });
  const auto id = must(client_.submit({.kind = "k"})).id;
  must(worker.start());
  EXPECT_EQ(client_.result(id, wait_max), "finished");
}

// ---- One worker per id --------------------------------------------------------------------------

TEST_F(FaultyWorkerTest, SecondWorkerWithTheSameIdIsRefusedWhileTheFirstLives) {
  Worker first(engine_, {.id = "w", .alive_ttl = limits::worker_ttl_min});
  first.handle("k", [](Task&) { return "first"; });
  must(first.start());

  FaultyEngine engine(home_.engine());
  std::promise<Error> told;
  Worker second(engine, {.id = "w",
                         .alive_ttl = limits::worker_ttl_min,
                         .on_error = [&](const Error& error) { told.set_value(error); }});
  second.handle("k", [](Task&) { return "second"; });
  must(second.start());
  home_.clock().advance(100ms);  // the first one's next heartbeat is a sign of life
  const auto error = told.get_future().get();
  EXPECT_EQ(error.code, Errc::worker_id_in_use);
  EXPECT_THAT(error.message, HasSubstr("choose another id"));
  second.stop();
  EXPECT_EQ(engine.calls<Claim>(), 0);
  EXPECT_EQ(engine.calls<DeregisterWorker>(), 0);
  EXPECT_EQ(client_.result(must(client_.submit({.kind = "k"})).id, wait_max), "first");
}

TEST_F(FaultyWorkerTest, RestartedWorkerGetsTheIdOfItsCrashedPredecessorWhenThatExpires) {
  const RegisterWorker crashed{
      .worker = *WorkerId::parse("w"), .ttl = 10min, .incarnation = IncarnationId{some_uuid()}};
  must(run_blocking(engine_, crashed));
  Worker worker(engine_, {.id = "w", .alive_ttl = limits::worker_ttl_min});
  worker.handle("k", [](Task&) { return "done"; });
  must(worker.start());
  const auto id = must(client_.submit({.kind = "k"})).id;
  wait_until([&] { return engine_.calls<RegisterWorker>() >= 3; });
  EXPECT_EQ(engine_.calls<Claim>(), 0) << "the crashed one may be alive";
  home_.clock().advance(10min);
  EXPECT_EQ(client_.result(id, wait_max), "done");
}

TEST_F(FaultyWorkerTest, WorkerWhoseIdWasTakenWhileItWasAwayEnds) {
  std::promise<Errc> told;
  Worker worker(engine_, {.id = "w",
                          .alive_ttl = limits::worker_ttl_min,
                          .on_error = [&](const Error& error) { told.set_value(error.code); }});
  engine_.fail_next<HeartbeatWorker>(1'000'000, Errc::unreachable);
  must(worker.start());
  home_.clock().advance(limits::worker_ttl_min);
  const RegisterWorker other{.worker = *WorkerId::parse("w"),
                             .incarnation = IncarnationId{some_uuid()}};
  must(run_blocking(engine_, other));
  engine_.fail_next<HeartbeatWorker>(0, Errc::unreachable);
  EXPECT_EQ(told.get_future().get(), Errc::worker_id_in_use);
}

TEST_F(FaultyWorkerTest, WorkersWithoutAnIdHaveDifferentOnes) {
  Worker one(engine_), another(engine_);
  must(one.start());
  must(another.start());
  EXPECT_THAT(must(client_.workers()), SizeIs(2));
}

TEST_F(FaultyWorkerTest, StopEndsAlthoughNothingCanBeReported) {
  std::latch started(1);
  Worker worker(engine_, {.lease_ttl = 1s, .drain_limit = 0ms});
  worker.handle("k", [&](Task& task) -> Outcome {
    started.count_down();
    while (true) task.throw_if_cancelled();
  });
  must(worker.start());
  const auto id = must(client_.submit({.kind = "k"})).id;
  started.wait();
  engine_.fail_next<HandBack>(1'000'000, Errc::unreachable);
  engine_.fail_next<Renew>(1'000'000, Errc::unreachable);
  worker.stop();
  EXPECT_EQ(client_.state(id), ExecutionState::active);
}

}  // namespace
}  // namespace ff
