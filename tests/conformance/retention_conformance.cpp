#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, EndedExecutionIsKeptForADayUnlessToldOtherwise) {
  const auto id = submit();
  must(run(complete(claim())));
  pass(24h - 1ms);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "out");
  pass(1ms);
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
}

TEST_P(Conformance, RetentionOfThePolicyMayBeShorterOrLonger) {
  const auto kept_for = [&](Millis retention) {
    const auto id = submit(Submit{.kind = greet, .policy = {.retention = retention}});
    must(run(complete(claim())));
    return id;
  };
  const auto none = kept_for(0ms), hour = kept_for(1h), week = kept_for(7 * 24h);
  home_->run_scanners();
  EXPECT_EQ(error_of(GetExecution{none}), Errc::execution_not_found);
  pass(1h - 1ms);
  EXPECT_TRUE(run(GetExecution{hour}));
  pass(1ms);
  EXPECT_EQ(error_of(GetExecution{hour}), Errc::execution_not_found);
  pass(7 * 24h - 1h - 1ms);
  EXPECT_TRUE(run(GetExecution{week}));
  pass(1ms);
  EXPECT_EQ(error_of(GetExecution{week}), Errc::execution_not_found);
}

TEST_P(Conformance, EveryEndIsForgottenInTime) {
  const Policy hour{.retention = 1h};
  const auto one = [&] { return submit(Submit{.kind = greet, .policy = hour}); };
  std::vector<ExecutionId> ids{one(), one()};
  must(run(failure(claim())));
  must(run(complete(claim())));
  ids.push_back(one());
  must(run(Cancel{.id = ids.back()}));
  ids.push_back(submit(Submit{.kind = greet, .deadline = now(), .policy = hour}));
  home_->run_scanners();
  pass(1h);
  for (const auto& id : ids) EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
}

TEST_P(Conformance, RetentionCountsFromTheEndNotFromTheBeginning) {
  const auto id = submit(Submit{.kind = greet, .policy = {.retention = 1h}});
  pass(48h);
  must(run(complete(claim())));
  pass(1h - 1ms);
  EXPECT_EQ(state_of(id), ExecutionState::completed);
}

TEST_P(Conformance, UnfinishedExecutionIsNeverForgotten) {
  const Policy brief{.retention = 0ms};
  const auto waiting = submit(Submit{.kind = greet, .policy = brief});
  const auto delayed =
      submit(Submit{.kind = greet, .delay_until = now() + 5 * 24h, .policy = brief});
  pass(4 * 24h);
  EXPECT_EQ(state_of(waiting), ExecutionState::waiting);
  EXPECT_EQ(state_of(delayed), ExecutionState::delayed);
}

TEST_P(Conformance, NothingIsLeftOfAForgottenExecution) {
  const auto id =
      submit(Submit{.kind = greet, .tags = {{"app.x", "1"}}, .policy = {.retention = 1s}});
  claim("dies");
  pass(lease_ttl);
  const auto claimed = claim();
  must(run(complete(claimed)));
  pass(1s);
  EXPECT_EQ(error_of(GetPayload{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(GetResult{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(GetAttempts{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(GetLeaseHistory{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(complete(claimed)), Errc::execution_not_found);
  EXPECT_EQ(error_of(Replay{.id = id}), Errc::execution_not_found);
  EXPECT_TRUE(must(run(ListExecutions{})).executions.empty());
  EXPECT_TRUE(must(run(ListExecutions{.tag = "app.x=1"})).executions.empty());
  EXPECT_EQ(text(must(run(CountExecutions{}))), "");
}

TEST_P(Conformance, IdOfAForgottenExecutionIsFreeAgainAndHasNoPast) {
  const Submit brief{.id = id_in(3, 1), .kind = greet, .policy = {.retention = 0ms}};
  must(run(brief));
  claim("dies");
  pass(lease_ttl);
  must(run(complete(claim(), "old")));
  home_->run_scanners();
  EXPECT_FALSE(must(run(brief)).duplicate);
  EXPECT_EQ(attempts_of(*brief.id), "");
  EXPECT_EQ(claim("w9").attempt_index, 0u);
  EXPECT_EQ(attempts_of(*brief.id), "0 initial by w9: running");
}

TEST_P(Conformance, LongRetentionDoesNotKeepOthersFromBeingForgotten) {
  for (int i = 0; i < 40; ++i) submit(Submit{.kind = greet, .policy = {.retention = 48h}});
  for (int i = 0; i < 40; ++i) submit();
  for (const auto& each : claim_many(80)) must(run(complete(each)));
  pass(24h);
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default completed 40");
}

TEST_P(Conformance, ManyExecutionsAreForgottenInOneGo) {
  constexpr std::size_t count = 1100;  // more than one batch of the trimmer
  const Submit brief{.kind = greet, .deadline = now(), .policy = {.retention = 1s}};
  for (const std::size_t part : {limits::batch_items_max, count - limits::batch_items_max})
    must(run(SubmitMany{std::vector(part, brief)}));
  home_->run_scanners();
  EXPECT_EQ(text(must(run(CountExecutions{}))), fmt::format("default expired {}", count));
  pass(1s);
  EXPECT_EQ(text(must(run(CountExecutions{}))), "");
}

TEST_P(Conformance, RetentionIsKeptAcrossARestart) {
  const auto id = submit(Submit{.kind = greet, .policy = {.retention = 1h}});
  must(run(complete(claim())));
  home_->restart();
  pass(1h - 1ms);
  EXPECT_TRUE(run(GetExecution{id}));
  home_->restart();
  pass(1ms);
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
  home_->restart();
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
}

TEST_P(Conformance, ChangedTagsDoNotChangeTheRetention) {
  const auto id = submit(Submit{.kind = greet, .policy = {.retention = 1h}});
  must(run(complete(claim())));
  advance(30min);
  must(run(SetTags{.id = id, .set = {{"app.x", "1"}}}));
  pass(30min);
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
}

}  // namespace
}  // namespace ff::conformance
