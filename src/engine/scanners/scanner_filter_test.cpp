#include "engine/scanners/scanner_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;

class FilteredScanners : public ::testing::Test {
 protected:
  template <class Op>
  auto run(Op operation) {
    return must(test::run(engine_, std::move(operation)));
  }
  void pass(Millis time) {
    clock_->advance(time);
    must(test::run_blocking(engine_.executor(), engine_.scanners().run_once()));
  }
  // Matches the filter, or only its namespace, or only its tag.
  Submit of(const char* ns, const char* app) {
    return {.ns = *Namespace::parse(ns), .kind = *Kind::parse("k"), .tags = {{"team.app", app}}};
  }
  std::vector<Submit> one_of_each() {
    return {of("mine", "shop"), of("mine", "other"), of("other", "shop")};
  }
  std::vector<ExecutionId> submit(const std::vector<Submit>& all) {
    std::vector<ExecutionId> ids;
    for (const auto& each : all) ids.push_back(run(each).id);
    return ids;
  }
  void claim(const char* ns, Millis lease_ttl = 1h) {
    run(Claim{.worker = *WorkerId::parse("w"),
              .ns = *Namespace::parse(ns),
              .max = 10,
              .lease_ttl = lease_ttl});
  }
  // "waiting delayed delayed"
  std::string states(const std::vector<ExecutionId>& ids) {
    std::string text;
    for (const auto& id : ids) {
      const auto info = test::run(engine_, GetExecution{id});
      text += (text.empty() ? "" : " ") +
              std::string(info ? to_string(info->state) : info.error().name());
    }
    return text;
  }
  OwnershipState ownership(const ExecutionId& id) {
    return run(GetExecution{id}).state_vector.ownership_state;
  }

  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  LocalEngine engine_{
      must(embedded::open({.directory = temp_.path(), .clock = clock_, .shards = 1})),
      {.scan = false, .filter = {.ns = *Namespace::parse("mine"), .tag = {{"team.app", "shop"}}}}};
};

TEST_F(FilteredScanners, EndDelaysOfTheirOwn) {
  auto all = one_of_each();
  for (auto& each : all) each.delay_until = clock_->now() + 1s;
  const auto ids = submit(all);
  pass(1s);
  EXPECT_EQ(states(ids), "waiting delayed delayed");
}

TEST_F(FilteredScanners, EndFlowsOfTheirOwn) {
  std::vector<FlowId> flows;
  for (const auto& each : one_of_each()) {
    SubmitFlow flow{.ns = each.ns, .nodes = {{.name = *NodeName::parse("a"), .kind = each.kind}}};
    flow.tags = each.tags;
    flow.deadline = clock_->now() + 1s;
    flows.push_back(run(std::move(flow)).flow.id);
  }
  pass(1s);
  EXPECT_EQ(run(GetFlow{.id = flows[0]}).state, FlowState::expired);
  EXPECT_EQ(run(GetFlow{.id = flows[1]}).state, FlowState::running);
  EXPECT_EQ(run(GetFlow{.id = flows[2]}).state, FlowState::running);
}

TEST_F(FilteredScanners, ReclaimLeasesOfTheirOwn) {
  const auto ids = submit(one_of_each());
  claim("mine", 1s);
  claim("other", 1s);
  pass(1s);
  EXPECT_EQ(ownership(ids[0]), OwnershipState::lease_expired_reclaimable);
  EXPECT_EQ(ownership(ids[1]), OwnershipState::leased);
  EXPECT_EQ(ownership(ids[2]), OwnershipState::leased);
}

TEST_F(FilteredScanners, EndAttemptsOfTheirOwn) {
  auto all = one_of_each();
  for (auto& each : all) each.policy.attempt_timeout = 1s;
  const auto ids = submit(all);
  claim("mine");
  claim("other");
  pass(1s);
  EXPECT_EQ(states(ids), "expired active active");
}

TEST_F(FilteredScanners, ExpireTheirOwnAtTheDeadline) {
  auto all = one_of_each();
  for (auto& each : all) each.deadline = clock_->now() + 1s;
  const auto ids = submit(all);
  pass(1s);
  EXPECT_EQ(states(ids), "expired waiting waiting");
}

TEST_F(FilteredScanners, EndGrantsOfTheirOwn) {
  const auto ids = submit({of("mine", "shop"), of("other", "shop")});
  for (const char* ns : {"mine", "other"})
    run(Grant{.worker = *WorkerId::parse("w"), .ns = *Namespace::parse(ns), .grant_ttl = 1s});
  pass(1s);
  EXPECT_FALSE(run(GetExecution{ids[0]}).granted_to);
  EXPECT_TRUE(run(GetExecution{ids[1]}).granted_to);
}

TEST_F(FilteredScanners, ForgetTheirOwnAfterTheirRetention) {
  const auto ids = submit(one_of_each());
  for (const auto& id : ids) run(Cancel{.id = id});
  pass(limits::retention_default);
  EXPECT_EQ(states(ids), "execution_not_found cancelled cancelled");
}

TEST_F(FilteredScanners, FindTheirOwnBehindManyOfOthers) {
  auto other = of("other", "shop");
  other.delay_until = clock_->now() + 1s;
  for (int i = 0; i < 600; ++i) run(other);
  auto own = of("mine", "shop");
  own.delay_until = clock_->now() + 2s;
  const auto ids = submit({own});
  pass(2s);
  pass(1ms);
  EXPECT_EQ(states(ids), "waiting");
}

TEST_F(FilteredScanners, LeaveOverdueWorkOfOthersWhichIsExplained) {
  auto all = one_of_each();
  for (auto& each : all) each.delay_until = clock_->now() + 1s;
  const auto ids = submit(all);
  const auto why = [&](const ExecutionId& id) { return run(ExplainExecution{id}).summary; };
  EXPECT_THAT(why(ids[1]), ::testing::Not(::testing::HasSubstr("overdue")));
  pass(1s);
  EXPECT_THAT(why(ids[0]), ::testing::Not(::testing::HasSubstr("overdue")));
  EXPECT_THAT(why(ids[1]),
              ::testing::HasSubstr("it is overdue, and the scanners of this server look "
                                   "only after executions with namespace=mine "
                                   "tag=team.app=shop"));
}

TEST(ScannerFilter, IsLoggedAtTheStart) {
  const test::TempDirectory temp;
  const test::LogCapture log(LogLevel::info);
  const LocalEngine engine(
      must(embedded::open(
          {.directory = temp.path(), .clock = std::make_shared<ManualClock>(), .shards = 1})),
      {.filter = {.ns = *Namespace::parse("mine")}});
  EXPECT_THAT(log.text(), ::testing::HasSubstr("info scanner filter: namespace=mine;"));
}

TEST(ScannerFilter, MatchesNamespaceAndTag) {
  ExecutionInfo info;
  info.ns = *Namespace::parse("a");
  info.tags = {{"k", "v"}};
  EXPECT_TRUE(ScannerFilter{}.matches(info));
  EXPECT_TRUE((ScannerFilter{.ns = *Namespace::parse("a"), .tag = {{"k", "v"}}}.matches(info)));
  EXPECT_FALSE(ScannerFilter{.ns = *Namespace::parse("b")}.matches(info));
  EXPECT_FALSE((ScannerFilter{.tag = {{"k", "w"}}}.matches(info)));
  EXPECT_FALSE((ScannerFilter{.tag = {{"l", "v"}}}.matches(info)));
}

}  // namespace
}  // namespace ff
