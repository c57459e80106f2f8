// A worker that makes itself known and is drained, and handlers that spend from budgets.
#include <atomic>
#include <deque>
#include <future>

#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

const BudgetId first_budget = must(BudgetId::parse("01920000-0000-7000-8000-000000000001"));
const BudgetId second_budget = must(BudgetId::parse("01920000-0000-7000-8000-000000000002"));

// An engine that knows of one worker, and answers reports as the test wants.
class ResourceEngine final : public Engine {
 public:
  explicit ResourceEngine(Engine& engine) : engine_(engine) {}

  asio::any_io_executor executor() override { return engine_.executor(); }

  asio::awaitable<void> perform(EngineCall& call) override {
    if (auto* worker = call.get_if<RegisterWorker>()) {
      register_worker(*worker);
    } else if (auto* heartbeat = call.get_if<HeartbeatWorker>()) {
      hear(*heartbeat);
    } else if (auto* leaving = call.get_if<DeregisterWorker>()) {
      forget_the_worker();
      leaving->reply.emplace(Done{});
    } else if (auto* report = call.get_if<ReportUsage>()) {
      take_report(*report);
    } else {
      auto* claim = call.get_if<Claim>();
      if (claim) ++claims;
      co_await engine_.perform(call);
      if (claim) add_budgets(*claim);
    }
  }

  void forget_the_worker() {
    const std::lock_guard lock(mutex_);
    known_ = false;
  }
  void drain(bool draining) {
    const std::lock_guard lock(mutex_);
    draining_ = draining;
  }
  void answer_reports(std::deque<Result<UsageReply>> answers) {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(answers);
  }
  bool knows_the_worker() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  int heartbeats() const {
    const std::lock_guard lock(mutex_);
    return heartbeats_;
  }
  std::vector<RegisterWorker> registered() const {
    const std::lock_guard lock(mutex_);
    return registered_;
  }
  std::vector<ReportUsage> reports() const {
    const std::lock_guard lock(mutex_);
    return reports_;
  }
  // Two more signs of life: whatever the engine says now, the worker has heard it and acted.
  void wait_until_heard() const {
    const auto before = heartbeats();
    wait_until([&] { return heartbeats() >= before + 2; });
  }

  std::vector<BudgetId> budgets;
  std::atomic<int> claims = 0;

 private:
  void add_budgets(OperationCall<Claim>& claim) const {
    if (!*claim.reply) return;
    for (auto& execution : (*claim.reply)->executions) execution.budgets = budgets;
  }
  void register_worker(OperationCall<RegisterWorker>& call) {
    const std::lock_guard lock(mutex_);
    const bool before = std::exchange(known_, true);
    registered_.push_back(std::move(call.operation));
    call.reply.emplace(RegisterReply{.known = before, .draining = draining_, .expires_at = {}});
  }
  void hear(OperationCall<HeartbeatWorker>& call) {
    const std::lock_guard lock(mutex_);
    if (!known_) return call.refuse({Errc::worker_not_found, "unknown"});
    ++heartbeats_;
    call.reply.emplace(RegisterReply{.known = true, .draining = draining_, .expires_at = {}});
  }
  void take_report(OperationCall<ReportUsage>& call) {
    const std::lock_guard lock(mutex_);
    reports_.push_back(std::move(call.operation));
    if (answers_.empty()) return static_cast<void>(call.reply.emplace(UsageReply{}));
    call.reply.emplace(std::move(answers_.front()));
    answers_.pop_front();
  }

  Engine& engine_;
  mutable std::mutex mutex_;
  bool known_ = false;
  bool draining_ = false;
  int heartbeats_ = 0;
  std::vector<RegisterWorker> registered_;
  std::vector<ReportUsage> reports_;
  std::deque<Result<UsageReply>> answers_;
};

class ResourcesTest : public ::testing::Test {
 protected:
  ExecutionId submit(NewExecution execution) {
    return must(Client(engine_).submit(std::move(execution))).id;
  }

  LocalHome home_;
  ResourceEngine engine_{home_.engine()};
};

// ---- Being known --------------------------------------------------------------------------------

class RegistrationTest : public ResourcesTest {
 protected:
  WorkerOptions options_{.id = "w", .lanes = {"fast"}, .capabilities = {"gpu"}, .alive_ttl = 1s};
};

TEST_F(RegistrationTest, WorkerIsKnownWhileItRuns) {
  Worker worker(engine_, options_);
  must(worker.start());
  wait_until([&] { return engine_.knows_the_worker(); });
  const auto registered = engine_.registered().at(0);
  EXPECT_EQ(registered.worker.str(), "w");
  EXPECT_EQ(registered.lanes.at(0).str(), "fast");
  EXPECT_EQ(registered.capabilities, must(CapabilitySet::parse({"gpu"})));
  EXPECT_EQ(registered.ttl, 1s);
  worker.stop();
  EXPECT_FALSE(engine_.knows_the_worker());
}

TEST_F(RegistrationTest, SignsOfLifeComeWhileItIsBusy) {
  Worker worker(engine_, {.alive_ttl = 1s});
  worker.handle("k", [&](Task&) {
    engine_.wait_until_heard();
    return "done";
  });
  must(worker.start());
  EXPECT_EQ(Client(engine_).result(submit({.kind = "k"}), wait_max), "done");
}

TEST_F(RegistrationTest, ForgottenWorkerRegistersAgain) {
  Worker worker(engine_, options_);
  must(worker.start());
  wait_until([&] { return engine_.knows_the_worker(); });
  engine_.forget_the_worker();
  wait_until([&] { return engine_.knows_the_worker(); });
  EXPECT_THAT(engine_.registered(), SizeIs(2));
}

TEST_F(RegistrationTest, DrainedWorkerClaimsNothingUntilItMayAgain) {
  Worker worker(engine_, {.alive_ttl = 1s});
  worker.handle("k", [](Task&) { return "done"; });
  must(worker.start());
  wait_until([&] { return engine_.claims > 0; });
  engine_.drain(true);
  engine_.wait_until_heard();
  const int claims = engine_.claims;
  const auto id = submit({.kind = "k"});
  engine_.wait_until_heard();
  EXPECT_EQ(engine_.claims, claims);
  EXPECT_EQ(Client(engine_).state(id), ExecutionState::waiting);
  engine_.drain(false);
  EXPECT_EQ(Client(engine_).result(id, wait_max), "done");
}

TEST_F(RegistrationTest, TimeToLiveMustBeInRange) {
  Worker worker(engine_, {.alive_ttl = 999ms});
  EXPECT_THAT(worker.start().error().message, HasSubstr("alive_ttl must be from 1000 to 3600000"));
}

// ---- Spending -----------------------------------------------------------------------------------

class SpendingTest : public ResourcesTest {
 protected:
  SpendingTest() { engine_.budgets = {first_budget, second_budget}; }

  // Runs one handler, and gives back what it was answered.
  Result<UsageReply> report(std::function<Result<UsageReply>(Task&)> spend) {
    std::promise<Result<UsageReply>> answer;
    Worker worker(engine_);
    worker.handle("k", [&](Task& task) {
      auto reply = spend(task);
      cancelled_ = task.cancelled();
      answer.set_value(std::move(reply));
      return "returned";
    });
    must(worker.start());
    id_ = submit({.kind = "k"});
    return answer.get_future().get();
  }
  Result<UsageReply> report_to_all() {
    return report([](Task& task) { return task.report_usage({{"tokens", 5}}); });
  }

  ExecutionId id_;
  std::optional<CancelReason> cancelled_;
};

const UsageReply soft{.outcome = UsageOutcome::soft_breach, .breach = Breach{"tokens", 9, 8}};
UsageReply hard(OnHardLimit action) {
  return {.outcome = UsageOutcome::hard_breach, .breach = Breach{"tokens", 9, 8}, .action = action};
}

TEST_F(SpendingTest, ReportGoesToEachBudgetWithItsFenceAndItsOwnKey) {
  EXPECT_EQ(report_to_all(), UsageReply{});
  const auto reports = engine_.reports();
  ASSERT_THAT(reports, SizeIs(2));
  EXPECT_EQ(reports[0].id, first_budget);
  EXPECT_EQ(reports[1].id, second_budget);
  for (const auto& each : reports) {
    EXPECT_EQ(each.amounts, (Amounts{{"tokens", 5}}));
    EXPECT_EQ(each.execution, id_);
    EXPECT_EQ(each.fence->attempt_id, must(Client(engine_).attempts(id_)).at(0).id);
  }
  EXPECT_NE(reports[0].dedup_key, reports[1].dedup_key);
}

TEST_F(SpendingTest, ReportMayGoToOneBudget) {
  must(report([](Task& task) { return task.report_usage(second_budget, {{"tokens", 5}}); }));
  ASSERT_THAT(engine_.reports(), SizeIs(1));
  EXPECT_EQ(engine_.reports()[0].id, second_budget);
}

TEST_F(SpendingTest, RepeatedReportHasTheSameKey) {
  engine_.answer_reports({fail(Errc::unreachable, "lost"), UsageReply{}});
  EXPECT_EQ(report_to_all(), UsageReply{});
  const auto reports = engine_.reports();
  ASSERT_THAT(reports, SizeIs(3));
  EXPECT_EQ(reports[0].dedup_key, reports[1].dedup_key);
  EXPECT_NE(reports[1].dedup_key, reports[2].dedup_key);
}

TEST_F(SpendingTest, ResumedAttemptHasKeysOfItsOwn) {
  std::atomic<bool> resumed = false;
  Worker worker(engine_);
  worker.handle("k", [&](Task& task) -> Outcome {
    must(task.report_usage(first_budget, {{"tokens", 1}}));
    if (!resumed.exchange(task.resumed()) && !task.resumed()) return Outcome::handed_back();
    return "done";
  });
  must(worker.start());
  must(Client(engine_).result(submit({.kind = "k"}), wait_max));
  const auto reports = engine_.reports();
  ASSERT_THAT(reports, SizeIs(2));
  EXPECT_EQ(reports[0].fence->attempt_id, reports[1].fence->attempt_id);
  EXPECT_NE(reports[0].dedup_key, reports[1].dedup_key);
}

TEST_F(SpendingTest, AnswerIsTheWorst) {
  engine_.answer_reports({soft, UsageReply{}});
  EXPECT_EQ(report_to_all(), soft);
  EXPECT_EQ(cancelled_, std::nullopt);
}

TEST_F(SpendingTest, RejectedReportLeavesTheHandlerToDecide) {
  engine_.answer_reports({hard(OnHardLimit::reject), UsageReply{}});
  EXPECT_EQ(report_to_all(), hard(OnHardLimit::reject));
  EXPECT_EQ(cancelled_, std::nullopt);
  EXPECT_EQ(Client(engine_).result(id_, wait_max), "returned");
}

TEST_F(SpendingTest, BudgetThatIsGoneIsAnErrorAndTheOthersAreTold) {
  engine_.answer_reports({fail(Errc::budget_not_found, "gone"), UsageReply{}});
  EXPECT_EQ(report_to_all().error().code, Errc::budget_not_found);
  EXPECT_THAT(engine_.reports(), SizeIs(2));
}

TEST_F(SpendingTest, BreachThatEndsTheAttemptStopsTheHandlerAndDropsItsResult) {
  for (const auto action : {OnHardLimit::fail, OnHardLimit::suspend}) {
    engine_.answer_reports({hard(action)});
    const auto told = engine_.reports().size();
    EXPECT_EQ(report_to_all(), hard(action));
    EXPECT_EQ(cancelled_, CancelReason::budget_exceeded);
    EXPECT_EQ(engine_.reports().size(), told + 1) << "it has nothing more to report";
    EXPECT_EQ(Client(engine_).state(id_), ExecutionState::active) << "its result must be dropped";
  }
}

TEST_F(SpendingTest, BreachThatEndsTheAttemptIsWorseThanOneThatDoesNot) {
  engine_.answer_reports({hard(OnHardLimit::reject), hard(OnHardLimit::fail)});
  EXPECT_EQ(report_to_all(), hard(OnHardLimit::fail));
}

TEST_F(SpendingTest, ReportUnderALostLeaseSaysSo) {
  engine_.answer_reports({fail(Errc::stale_lease, "another has it")});
  EXPECT_EQ(report([](Task& task) {
              return task.report_usage(first_budget, {{"tokens", 5}});
            })
                .error()
                .code,
            Errc::stale_lease);
  EXPECT_EQ(cancelled_, CancelReason::lease_lost);
}

}  // namespace
}  // namespace ff
