// Changes by an operator to an execution: its priority and its tags.
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, PriorityOfAWaitingExecutionCanBeChanged) {
  const auto first = submit();
  advance(1ms);
  const auto second = submit();
  EXPECT_EQ(must(run(ChangePriority{.id = second, .priority = 7})), (PriorityReply{0, 7}));
  EXPECT_EQ(info(second).priority, 7);
  EXPECT_EQ(claim().id, second);
  EXPECT_EQ(claim().id, first);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, PriorityThatIsLoweredCountsToo) {
  const auto first = submit(Submit{.kind = greet, .priority = 9});
  const auto second = submit(Submit{.kind = greet, .priority = 5});
  must(run(ChangePriority{.id = first, .priority = 0}));
  EXPECT_EQ(claim().id, second);
}

TEST_P(Conformance, PriorityOfADelayedExecutionCountsWhenItIsReady) {
  const auto id = submit(Submit{.kind = greet, .delay_until = now() + 1s});
  submit();
  EXPECT_EQ(must(run(ChangePriority{.id = id, .priority = 7})), (PriorityReply{0, 7}));
  EXPECT_EQ(state_of(id), ExecutionState::delayed);
  pass(1s);
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, PriorityOfAnActiveExecutionCountsFromTheNextClaimOn) {
  const auto id = submit();
  claim("dies");
  advance(1ms);
  submit(Submit{.kind = greet, .priority = 5});
  must(run(ChangePriority{.id = id, .priority = 7}));
  EXPECT_EQ(info(id).worker, worker("dies"));
  pass(lease_ttl);
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, PriorityOfAGrantedExecutionLeavesTheGrant) {
  const auto id = submit();
  must(run(Grant{.worker = worker("w1")}));
  must(run(ChangePriority{.id = id, .priority = 7}));
  EXPECT_EQ(claimable(), 0u);
  EXPECT_TRUE(run(ClaimGranted{.id = id, .worker = worker("w1")}));
}

TEST_P(Conformance, PriorityMattersOnlyBeforeTheEnd) {
  const auto id = submit();
  must(run(complete(claim())));
  EXPECT_EQ(error_of(ChangePriority{.id = id, .priority = 7}), Errc::execution_not_eligible);
  EXPECT_EQ(error_of(ChangePriority{.id = id_in(1, 1)}), Errc::execution_not_found);
}

TEST_P(Conformance, PriorityOutsideItsRangeIsRefusedAndTheOldOneStays) {
  const auto id = submit(Submit{.kind = greet, .priority = 3});
  for (const std::int32_t wrong : {-1, 9001, std::numeric_limits<std::int32_t>::max()})
    EXPECT_EQ(error_of(ChangePriority{.id = id, .priority = wrong}), Errc::invalid_input);
  EXPECT_EQ(info(id).priority, 3);
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, PriorityIsKeptAcrossARestart) {
  submit();
  const auto id = submit();
  must(run(ChangePriority{.id = id, .priority = 7}));
  home_->restart();
  EXPECT_EQ(claim().id, id);
}

// ---- Tags ----------------------------------------------------------------------------------------

TEST_P(Conformance, TagsAreSetReplacedAndRemoved) {
  const auto id = submit(Submit{.kind = greet, .tags = {{"app.a", "1"}, {"app.old", "x"}}});
  const SetTags change{
      .id = id, .set = {{"app.a", "2"}, {"app.b", "3"}}, .remove = {"app.old", "app.none"}};
  const Tags expected{{"app.a", "2"}, {"app.b", "3"}};
  EXPECT_EQ(must(run(change)).tags, expected);
  EXPECT_EQ(info(id).tags, expected);
  EXPECT_EQ(must(run(change)).tags, expected) << "repeated";
  EXPECT_EQ(claim().tags, expected);
  home_->restart();
  EXPECT_EQ(info(id).tags, expected);
}

TEST_P(Conformance, TagKeysHaveAnOwnerBeforeTheDot) {
  const auto id = submit();
  for (const char* right : {"a.b", "a_1.b.c", "z.Z", "app.größe"})
    EXPECT_TRUE(run(SetTags{.id = id, .set = {{right, ""}}})) << right;
  const auto before = info(id).tags;
  for (const char* wrong : {"ab", "a.", "a..b", "A.b", "1a.b", "a-b.c", ".b"}) {
    const auto refused = run(SetTags{.id = id, .set = {{"a.good", ""}, {wrong, ""}}});
    EXPECT_EQ(refused.error().code, Errc::invalid_tag_key) << wrong;
    EXPECT_THAT(refused.error().details, ::testing::Contains(Error::Detail{"key", wrong}));
  }
  EXPECT_EQ(info(id).tags, before) << "a refused change changes nothing";
}

TEST_P(Conformance, TagsAreLimitedAltogether) {
  const auto id = submit();
  Tags most;
  for (std::size_t i = 0; i < limits::tags_max; ++i) most[fmt::format("app.{}", i)] = "x";
  EXPECT_EQ(must(run(SetTags{.id = id, .set = most})).tags.size(), limits::tags_max);
  EXPECT_EQ(error_of(SetTags{.id = id, .set = {{"app.more", ""}}}), Errc::invalid_input);
  EXPECT_TRUE(run(SetTags{.id = id, .set = {{"app.more", ""}}, .remove = {"app.0"}}));
}

TEST_P(Conformance, TagsChangeInEveryStateAndTouchNothingElse) {
  const auto id = submit();
  const auto set = [&](const char* value) {
    must(run(SetTags{.id = id, .set = {{"app.a", value}}}));
  };
  set("waiting");
  const auto claimed = claim();
  set("active");
  EXPECT_EQ(info(id).lease_expires_at, claimed.lease_expires_at);
  must(run(complete(claimed)));
  set("completed");
  EXPECT_EQ(info(id).tags.at("app.a"), "completed");
  EXPECT_EQ(must(run(GetResult{id})).bytes, "out");
}

TEST_P(Conformance, TagChangeThatNamesNothingIsRefused) {
  const auto id = submit();
  EXPECT_EQ(error_of(SetTags{.id = id}), Errc::invalid_input);
  EXPECT_EQ(error_of(SetTags{.id = id_in(1, 1), .remove = {"a.b"}}), Errc::execution_not_found);
}

}  // namespace
}  // namespace ff::conformance
