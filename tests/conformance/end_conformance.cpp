#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, CompletedExecutionHasItsResult) {
  const auto id = submit();
  const auto claimed = claim();
  advance(5s);
  EXPECT_EQ(must(run(complete(claimed, "done"))).state, ExecutionState::completed);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "done");

  const auto info = must(run(GetExecution{id}));
  EXPECT_EQ(info.state, ExecutionState::completed);
  EXPECT_EQ(info.completed_at, now());
  EXPECT_EQ(info.worker, std::nullopt);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, EmptyResultIsNotTheSameAsNone) {
  const auto empty = submit();
  must(run(complete(claim(), "")));
  EXPECT_EQ(must(run(GetResult{empty})), Bytes{});
  const auto none = submit();
  must(run(Complete{.id = none, .fence = claim().fence}));
  EXPECT_EQ(must(run(GetResult{none})), (Bytes{.bytes = "", .absent = true}));
  home_->restart();
  EXPECT_FALSE(must(run(GetResult{empty})).absent);
  EXPECT_TRUE(must(run(GetResult{none})).absent);
}

TEST_P(Conformance, FailedExecutionHasItsReason) {
  const auto id = submit();
  const auto claimed = claim();
  const Fail failure{
      .id = id, .fence = claimed.fence, .reason = "no such address", .category = "permanent"};
  EXPECT_EQ(must(run(failure)).state, ExecutionState::failed);

  const auto info = must(run(GetExecution{id}));
  EXPECT_EQ(info.state, ExecutionState::failed);
  EXPECT_EQ(info.failure_reason, "no such address");
  EXPECT_EQ(info.failure_category, "permanent");
  const auto result = run(GetResult{id});
  EXPECT_EQ(result.error().code, Errc::execution_failed);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("no such address"));
}

TEST_P(Conformance, RepeatedCompleteAnswersAsTheFirstTime) {
  const auto id = submit();
  const auto claimed = claim();
  const auto first = must(run(complete(claimed, "first")));
  advance(lease_ttl * 2);
  EXPECT_EQ(must(run(complete(claimed, "second"))), first);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "first");
}

TEST_P(Conformance, RepeatedFailAnswersAsTheFirstTime) {
  const auto id = submit();
  const auto claimed = claim();
  const Fail failure{.id = id, .fence = claimed.fence, .reason = "first"};
  const auto first = must(run(failure));
  EXPECT_EQ(must(run(failure)), first);
}

TEST_P(Conformance, EndedExecutionTakesNoOtherEnd) {
  submit();
  const auto claimed = claim();
  must(run(complete(claimed)));
  EXPECT_EQ(error_of(Fail{.id = claimed.id, .fence = claimed.fence, .reason = "late"}),
            Errc::execution_not_active);
  EXPECT_EQ(error_of(Renew{.id = claimed.id, .fence = claimed.fence}), Errc::execution_not_active);
  EXPECT_EQ(state_of(claimed.id), ExecutionState::completed);
}

TEST_P(Conformance, ResultOfAnUnfinishedExecutionIsNotThereYet) {
  const auto id = submit();
  EXPECT_EQ(error_of(GetResult{id}), Errc::execution_not_terminal);
  EXPECT_EQ(error_of(GetResult{.id = id, .wait = 1ms}), Errc::execution_not_terminal);
}

TEST_P(Conformance, WaitingForAResultEndsWithTheExecution) {
  const auto id = submit();
  const auto claimed = claim();
  auto waiting = start(GetResult{.id = id, .wait = wake_up_max});
  auto also_waiting = start(GetResult{.id = id, .wait = wake_up_max});
  must(run(complete(claimed, "there")));
  EXPECT_EQ(must(waiting.get()).bytes, "there");
  EXPECT_EQ(must(also_waiting.get()).bytes, "there");
}

TEST_P(Conformance, WaitingForAResultEndsWithTheFailure) {
  const auto id = submit();
  const auto claimed = claim();
  auto waiting = start(GetResult{.id = id, .wait = wake_up_max});
  must(run(Fail{.id = id, .fence = claimed.fence, .reason = "broke"}));
  EXPECT_EQ(waiting.get().error().code, Errc::execution_failed);
}

TEST_P(Conformance, ResultAboveTheLimitIsRefusedAndTheLeaseStays) {
  submit();
  const auto claimed = claim();
  EXPECT_EQ(error_of(complete(claimed, std::string(1024 * 1024 + 1, 'x'))),
            Errc::payload_too_large);
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, RepeatedEndsAnswerAsTheFirstTimeAfterARestart) {
  for (int i = 0; i < 2; ++i) submit();
  const auto claimed = claim_many(2);
  const auto completed = must(run(complete(claimed[0], "kept")));
  const auto failed = must(run(failure(claimed[1])));
  home_->restart();
  EXPECT_EQ(must(run(complete(claimed[0], "other"))), completed);
  EXPECT_EQ(must(run(failure(claimed[1]))), failed);
  EXPECT_EQ(must(run(GetResult{claimed[0].id})).bytes, "kept");
}

TEST_P(Conformance, RepeatedEndByAnotherIsRefusedAndSaysWhoEndedIt) {
  submit();
  const auto claimed = claim();
  must(run(complete(claimed)));
  auto forged = complete(claimed);
  forged.fence.lease_id = lease_id(9);
  const auto refused = run(forged);
  EXPECT_EQ(refused.error().code, Errc::execution_not_active);
  const std::vector<Error::Detail> expected{{"state", "completed"},
                                            {"terminal_outcome", "success"},
                                            {"lease_epoch", "1"},
                                            {"lifecycle_phase", "terminal"},
                                            {"attempt_id", claimed.fence.attempt_id.str()}};
  EXPECT_EQ(refused.error().details, expected);
}

TEST_P(Conformance, FailureNeedsAReasonOfLimitedLength) {
  submit();
  const auto claimed = claim();
  EXPECT_EQ(error_of(failure(claimed, "")), Errc::invalid_input);
  EXPECT_EQ(error_of(failure(claimed, std::string(limits::reason_bytes_max + 1, 'x'))),
            Errc::invalid_input);
  EXPECT_TRUE(run(failure(claimed, std::string(limits::reason_bytes_max, 'x'))));
}

TEST_P(Conformance, ExecutionThatFailedOnceAndThenCompletedHasNoFailure) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  must(run(failure(claim())));
  must(run(complete(claim())));
  EXPECT_EQ(info(id).failure_reason, std::nullopt);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "out");
}

}  // namespace
}  // namespace ff::conformance
