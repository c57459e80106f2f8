// Log lines and metrics about work that cannot start.
#include <gmock/gmock.h>

#include "engine/breaking_store.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/log_capture.hpp"

namespace ff {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class EngineLog : public OnABreakingStore {
 protected:
  EngineLog() { begin(); }

  ExecutionId submit_for_gpu(std::optional<QuotaId> quota = {}) {
    Submit work{
        .lane = *LaneId::parse("gpu"),
        .kind = *Kind::parse("k"),
        .policy = {.required_capabilities = *CapabilitySet::parse({"gpu"}), .quota = quota}};
    return must(run(std::move(work))).id;
  }
  ClaimExecution claim_named(const ExecutionId& id) {
    return {.id = id,
            .worker = *WorkerId::parse("w"),
            .capabilities = *CapabilitySet::parse({"cpu"}),
            .lease_ttl = 10s};
  }
  std::string metrics() { return must(run(GetMetrics{})).bytes; }
};

TEST_F(EngineLog, TellsOnceThatABudgetBlocksWorkAndThatItHasRoomAgain) {
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  const test::LogCapture log(LogLevel::info);
  must(run(claim(3)));
  EXPECT_THAT(log.text(), ContainsRegex("info execution=.* blocked reason=waiting_for_budget: "
                                        "budget .*: tokens 9/9"));
  clock_->advance(2s);
  must(run(claim(3)));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 1);
  must(run(ResetBudget{.id = budget_}));
  EXPECT_THAT(log.text(), HasSubstr("info budget=" + budget_.str() + " has room again"));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 2);
}

TEST_F(EngineLog, CountsTheStartsThatABudgetRefusedAndNotTheLooksAtIt) {
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  must(run(claim(3)));
  EXPECT_THAT(metrics(), HasSubstr("ff_budget_hit_total{dimension=\"tokens\"} 3\n"));
  clock_->advance(2s);
  must(run(claim(3)));
  EXPECT_THAT(metrics(), HasSubstr("ff_budget_hit_total{dimension=\"tokens\"} 3\n"));
}

TEST_F(EngineLog, TellsOfAWorkerThatLacksCapabilitiesByTheirDigest) {
  const auto id = submit_for_gpu();
  const test::LogCapture log(LogLevel::info);
  EXPECT_EQ(run(claim_named(id)).error().code, Errc::capability_mismatch);
  EXPECT_THAT(log.text(), ::testing::AllOf(ContainsRegex("info execution=.* worker=w "
                                                         "capabilities=[0-9a-f]{8} mismatch: "),
                                           Not(HasSubstr("cpu"))));
}

TEST_F(EngineLog, TellsOfASlotThatCannotBeReleased) {
  const auto id = submit_for_gpu(quota_);
  store_->break_all<core::ReleaseToken>();
  const test::LogCapture log(LogLevel::warn);
  EXPECT_EQ(run(claim_named(id)).error().code, Errc::capability_mismatch);
  EXPECT_THAT(log.text(), HasSubstr("warning quota=" + quota_.str() + " a slot of work"));
}

TEST_F(EngineLog, TellsOfAGrantThatIsRefused) {
  store_->break_all<core::GrantIssue>();
  const test::LogCapture log(LogLevel::warn);
  EXPECT_FALSE(run(Grant{.worker = *WorkerId::parse("w")}));
  EXPECT_THAT(log.text(), ContainsRegex("warning execution=.* worker=w start refused: it broke"));
}

TEST_F(EngineLog, TellsOfPartitionsAndScannersWhenItStarts) {
  const test::LogCapture log(LogLevel::info);
  const test::TempDirectory temp;
  const LocalEngine engine(must(embedded::open({.directory = temp.path(), .clock = clock_})));
  EXPECT_THAT(log.text(),
              ::testing::AllOf(
                  HasSubstr("info partitions=256\n"),
                  HasSubstr("info scanners=23: lease_expiry 1500 ms, delayed_promoter 750 ms")));
}

TEST_F(EngineLog, MeasuresGrantsAsLooksForWork) {
  must(run(Grant{.worker = *WorkerId::parse("w")}));
  EXPECT_THAT(metrics(),
              HasSubstr("ff_claim_from_grant_duration_seconds_count{lane=\"default\"} 1\n"));
}

TEST_F(EngineLog, ListsWorkersWithoutReadingExecutions) {
  must(run(claim(1)));
  const auto workers = must(run(ListWorkers{})).workers;
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].running.size(), 1u);
  EXPECT_EQ(must(run(GetWorker{.worker = *WorkerId::parse("w")})).running, workers[0].running);
  EXPECT_EQ(store_->calls<ListExecutions>(), 0);
  EXPECT_EQ(store_->calls<GetExecution>(), 0);
}

}  // namespace
}  // namespace ff
