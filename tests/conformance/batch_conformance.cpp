#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;

TEST_P(Conformance, SubmitManyAnswersInTheOrderOfItsExecutions) {
  SubmitMany many;
  for (std::uint16_t i = 0; i < 50; ++i)
    many.executions.push_back({.id = id_in(i, i), .kind = greet});
  const auto results = must(run(many)).results;
  ASSERT_EQ(results.size(), 50u);
  for (std::uint16_t i = 0; i < 50; ++i)
    EXPECT_EQ(results[i], (SubmitReply{.id = id_in(i, i), .state = ExecutionState::waiting}));
  EXPECT_EQ(claim_many(100).size(), 50u);
}

TEST_P(Conformance, BadItemBetweenGoodOnesIsRefusedAlone) {
  const auto results = must(run(SubmitMany{{{.kind = greet, .payload = "first"},
                                            {.kind = greet, .priority = 9001},
                                            {.kind = greet, .payload = "last"}}}))
                           .results;
  EXPECT_TRUE(results.at(0));
  EXPECT_EQ(results.at(1).error().code, Errc::invalid_input);
  EXPECT_THAT(results.at(1).error().details, ElementsAre(Error::Detail{"field", "priority"}));
  EXPECT_TRUE(results.at(2));
  EXPECT_EQ(claim_many(3).size(), 2u);
}

TEST_P(Conformance, RepeatedItemInABatchIsADuplicateOfTheFirst) {
  const Submit item{.idempotency_key = key("k"), .kind = greet};
  auto other = item;
  other.payload = "other";
  const auto results = must(run(SubmitMany{{item, item, other}})).results;
  EXPECT_FALSE(results.at(0)->duplicate);
  EXPECT_TRUE(results.at(1)->duplicate);
  EXPECT_EQ(results.at(1)->id, results.at(0)->id);
  EXPECT_EQ(results.at(2).error().code, Errc::duplicate_mismatch);
}

TEST_P(Conformance, BatchBeyondItsLimitsIsRefusedAsAWhole) {
  EXPECT_EQ(error_of(SubmitMany{}), Errc::invalid_input);
  EXPECT_EQ(error_of(CompleteMany{}), Errc::invalid_input);
  const Submit small{.kind = greet};
  EXPECT_EQ(error_of(SubmitMany{std::vector(limits::batch_items_max + 1, small)}),
            Errc::invalid_input);
  const Submit large{.kind = greet, .payload = std::string(limits::payload_bytes_max, 'x')};
  EXPECT_EQ(error_of(SubmitMany{std::vector(17, large)}), Errc::payload_too_large);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, BatchOfTheLargestSizeIsTaken) {
  const Submit large{.kind = greet, .payload = std::string(limits::payload_bytes_max, '\xff')};
  const auto results = must(run(SubmitMany{std::vector(16, large)})).results;
  EXPECT_THAT(results, ::testing::Each(::testing::ResultOf(
                           [](const auto& result) { return result.has_value(); }, true)));
}

TEST_P(Conformance, CompleteManyEndsTheGoodOnesAndNamesWhatIsWrongWithTheOthers) {
  for (int i = 0; i < 3; ++i) submit();
  auto claimed = claim_many(3);
  claimed[1].fence.lease_epoch = LeaseEpoch{9};
  auto unknown = claimed[1];
  unknown.id = id_in(7, 7);
  const auto results = must(run(CompleteMany{{complete(claimed[0], "a"), complete(claimed[1]),
                                              complete(unknown), complete(claimed[2], "b")}}))
                           .results;
  EXPECT_EQ(results.at(0), EndReply{ExecutionState::completed});
  EXPECT_EQ(results.at(1).error().code, Errc::stale_lease);
  EXPECT_EQ(results.at(2).error().code, Errc::execution_not_found);
  EXPECT_EQ(results.at(3), EndReply{ExecutionState::completed});
  EXPECT_EQ(must(run(GetResult{claimed[2].id})).bytes, "b");
  EXPECT_EQ(state_of(claimed[1].id), ExecutionState::active);
}

TEST_P(Conformance, RepeatedCompleteManyAnswersAsTheFirstTime) {
  for (int i = 0; i < 2; ++i) submit();
  CompleteMany many;
  for (const auto& each : claim_many(2)) many.executions.push_back(complete(each));
  const auto first = must(run(many)).results;
  EXPECT_EQ(must(run(many)).results, first);
  EXPECT_TRUE(first.at(0) && first.at(1));
}

TEST_P(Conformance, BatchTellsAnEmptyResultFromNone) {
  for (int i = 0; i < 2; ++i) submit();
  const auto claimed = claim_many(2);
  auto none = complete(claimed[0]);
  none.result.reset();
  must(run(CompleteMany{{none, complete(claimed[1], "")}}));
  EXPECT_TRUE(must(run(GetResult{claimed[0].id})).absent);
  EXPECT_FALSE(must(run(GetResult{claimed[1].id})).absent);
}

}  // namespace
}  // namespace ff::conformance
