// Fairness keys: whose turn it is in a lane, and how many of a key run at once.
#include <map>

#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

FairnessKey fair(const std::string& text) { return must(FairnessKey::parse(text)); }

class Fairness : public FlowConformance {
 protected:
  static Submit of_key(const std::string& name, std::optional<std::uint32_t> weight = {}) {
    return {.kind = greet, .policy = {.fairness_key = fair(name), .fairness_weight = weight}};
  }
  static Submit limited(const std::string& name, std::uint64_t max_running) {
    return {.kind = greet, .policy = {.fairness_key = fair(name), .max_running = max_running}};
  }
  void submit_many(const Submit& like, int count) {
    SubmitMany many;
    for (int i = 0; i < count; ++i) {
      many.executions.push_back(like);
      if (many.executions.size() < 500 && i + 1 < count) continue;
      for (const auto& each : must(run(std::exchange(many, {}))).results) must(each);
    }
  }
  // More in one partition than a process knows of it.
  void submit_backlog(const Submit& like) {
    SubmitMany many;
    for (std::uint16_t i = 0; i < 1'100; ++i) {
      many.executions.push_back(like);
      many.executions.back().id = id_in(3, i);
      if (many.executions.size() == 550) must(run(std::exchange(many, {})));
    }
  }
  // How many of each key are among the next claims; "" without a key.
  std::map<std::string, int> claims_by_key(int count) {
    std::map<std::string, int> claimed;
    for (int i = 0; i < count; ++i) {
      const auto policy = info(claim().id).policy;
      ++claimed[policy.fairness_key ? policy.fairness_key->str() : ""];
    }
    return claimed;
  }
};

TEST_P(Fairness, ABacklogOfOneKeyDoesNotDelayTheFirstOfAnother) {
  submit_many(of_key("big"), 300);
  claims_by_key(20);
  advance(1ms);
  submit(of_key("small"));
  EXPECT_EQ(claims_by_key(2)["small"], 1);
}

TEST_P(Fairness, KeysShareTheStartsOfALaneByWeight) {
  submit_many(of_key("a"), 60);
  submit_many(of_key("b", 3), 60);
  submit_many(Submit{.kind = greet}, 60);
  auto claimed = claims_by_key(50);
  EXPECT_NEAR(claimed["a"], 10, 2);
  EXPECT_NEAR(claimed["b"], 30, 3);
  EXPECT_NEAR(claimed[""], 10, 2);
}

TEST_P(Fairness, AKeyIsServedInTheOrderOfItsSubmission) {
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(submit(of_key("a")));
    advance(1ms);
  }
  for (const auto& id : ids) EXPECT_EQ(claim().id, id);
}

TEST_P(Fairness, PriorityGoesBeforeTheTurnOfAKey) {
  auto urgent = of_key("urgent");
  urgent.priority = 1;
  submit_many(urgent, 12);
  submit_many(of_key("other"), 3);
  EXPECT_EQ(claims_by_key(10)["other"], 0);
}

TEST_P(Fairness, KeysOfALaneDoNotMatterInAnother) {
  submit_many(of_key("a"), 5);
  auto elsewhere = of_key("a");
  elsewhere.lane = lane("elsewhere");
  submit_many(elsewhere, 5);
  EXPECT_EQ(claims_by_key(5)["a"], 5);
}

TEST_P(Fairness, TurnsAreTakenAfterARestart) {
  submit_many(of_key("big"), 400);
  advance(1ms);
  submit_many(of_key("small"), 3);
  home_->restart();
  EXPECT_GE(claims_by_key(6)["small"], 2);
}

TEST_P(Fairness, AnExecutionShowsItsKey) {
  const auto policy =
      info(submit(Submit{.kind = greet,
                         .policy = {.fairness_key = fair("Käse"), .fairness_weight = 7}}))
          .policy;
  EXPECT_EQ(policy.fairness_key, fair("Käse"));
  EXPECT_EQ(policy.fairness_weight, 7u);
  EXPECT_FALSE(policy.max_running);
}

TEST_P(Fairness, WhyTellsWhoseTurnItIs) {
  must(run(RegisterWorker{.worker = worker("w1"), .lanes = {default_lane()}}));
  const auto id = submit(of_key("acme", 2));
  EXPECT_THAT(must(run(ExplainExecution{id})).summary,
              ::testing::HasSubstr("fairness key acme, weight 2"));
}

TEST_P(Fairness, ARepeatedSubmitNamesTheSameKey) {
  auto first = of_key("a");
  first.idempotency_key = key("once");
  submit(first);
  EXPECT_TRUE(must(run(first)).duplicate);
  auto other = of_key("b");
  other.idempotency_key = key("once");
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
}

// ---- Limits --------------------------------------------------------------------------------------

TEST_P(Fairness, NoMoreOfAKeyRunThanItsLimitAllows) {
  submit_many(limited("a", 2), 5);
  submit_many(limited("b", 1), 2);
  const auto running = claim_many(10);
  ASSERT_EQ(running.size(), 3u);
  EXPECT_EQ(claimable(), 0u);
  for (const auto& each : running) must(run(complete(each)));
  EXPECT_EQ(claim_many(10).size(), 3u);
}

TEST_P(Fairness, AFullKeyDoesNotHoldUpOthers) {
  submit_many(limited("a", 1), 5);
  claim();
  advance(1ms);
  const auto other = submit(of_key("b"));
  EXPECT_EQ(claim().id, other);
}

TEST_P(Fairness, ALimitIsOfItsLane) {
  auto elsewhere = limited("a", 1);
  elsewhere.lane = lane("elsewhere");
  submit(limited("a", 1));
  submit(elsewhere);
  auto both = claim_by("w1");
  both.lanes = {default_lane(), lane("elsewhere")};
  both.max = 5;
  EXPECT_EQ(must(run(both)).executions.size(), 2u);
}

TEST_P(Fairness, TheLatestLimitOfAKeyCounts) {
  submit_many(limited("a", 1), 3);
  EXPECT_EQ(claim_many(5).size(), 1u);
  submit(limited("a", 3));
  EXPECT_EQ(claim_many(5).size(), 2u);
}

TEST_P(Fairness, ALimitHoldsAfterARestart) {
  submit_many(limited("a", 1), 2);
  const auto running = claim();
  home_->restart();
  EXPECT_EQ(claimable(), 0u);
  must(run(complete(running)));
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Fairness, WhyTellsThatAKeyIsFull) {
  must(run(RegisterWorker{.worker = worker("w1"), .lanes = {default_lane()}}));
  submit(limited("acme", 1));
  claim();
  const auto id = submit(limited("acme", 1));
  EXPECT_EQ(state_of(id), ExecutionState::rate_limited);
  EXPECT_THAT(must(run(ExplainExecution{id})).summary,
              ::testing::HasSubstr("1 of fairness key acme run in lane default"));
}

// ---- Flows ---------------------------------------------------------------------------------------

TEST_P(Fairness, NodesHaveTheKeyOfTheirFlowOrTheirOwn) {
  auto own = node("own");
  own.policy.fairness_key = fair("mine");
  SubmitFlow submit{.nodes = {node("a"), own}};
  submit.fairness_key = fair("flow");
  submit.fairness_weight = 4;
  const auto made = submit_flow(submit);
  const auto policy = info(id_of(made, "a")).policy;
  EXPECT_EQ(policy.fairness_key, fair("flow"));
  EXPECT_EQ(policy.fairness_weight, 4u);
  EXPECT_EQ(info(id_of(made, "own")).policy.fairness_key, fair("mine"));
}

TEST_P(Fairness, NodesOfFlowsTakeTurns) {
  for (const char* name : {"a", "b"}) {
    SubmitFlow submit;
    for (int i = 0; i < 10; ++i) submit.nodes.push_back(node(fmt::format("n{}", i).c_str()));
    submit.fairness_key = fair(name);
    submit_flow(submit);
    advance(1ms);
  }
  EXPECT_NEAR(claims_by_key(10)["b"], 5, 1);
}

TEST_P(Fairness, ASpawnedNodeHasTheKeyOfTheNodeThatSpawnsIt) {
  SubmitFlow submit{.nodes = {node("a")}};
  submit.fairness_key = fair("flow");
  const auto made = submit_flow(submit);
  auto end = complete(claim_node(made, "a"));
  end.spawn = {node("child")};
  must(run(end));
  EXPECT_EQ(info(id_of(made, "child")).policy.fairness_key, fair("flow"));
}

TEST_P(Fairness, ALimitCountsNodesOfFlows) {
  auto a = node("a");
  a.policy = limited("k", 1).policy;
  auto b = node("b");
  b.policy = a.policy;
  submit_flow({a, b});
  EXPECT_EQ(claim_many(5).size(), 1u);
}

// ---- Bad input -----------------------------------------------------------------------------------

TEST_P(Fairness, WrongSharesAreRefusedWithTheirField) {
  const auto with = [](Policy policy) {
    return Submit{.kind = greet, .policy = std::move(policy)};
  };
  EXPECT_EQ(refused(with({.fairness_weight = 1})), "invalid_input fairness_weight");
  EXPECT_EQ(refused(with({.max_running = 1})), "invalid_input max_running");
  EXPECT_EQ(refused(of_key("a", 0)), "invalid_input fairness_weight");
  EXPECT_EQ(refused(of_key("a", 1001)), "invalid_input fairness_weight");
  EXPECT_EQ(refused(limited("a", 0)), "invalid_input max_running");
  const auto quota = must(run(CreateQuota{.spec = {.max_concurrent = 1}})).id;
  auto both = limited("a", 1);
  both.policy.quota = quota;
  EXPECT_EQ(refused(both), "invalid_input max_running");
  EXPECT_EQ(refused(of_key("a", 1000)), "accepted");
}

TEST_P(Fairness, WrongSharesOfFlowsAreRefusedWithTheirField) {
  SubmitFlow submit{.nodes = {node("a")}};
  submit.fairness_weight = 3;
  EXPECT_EQ(refused(submit), "invalid_input fairness_weight");
}

// ---- Nothing starves -----------------------------------------------------------------------------

TEST_P(Fairness, LowPriorityIsNotStarvedBehindALongBacklog) {
  const auto low = submit(Submit{.id = id_in(3, 9'999), .kind = greet});
  advance(1ms);
  submit_backlog({.kind = greet, .priority = 9000});
  for (std::uint32_t i = 0; i < 2 * limits::oldest_first_every; ++i)
    if (claim().id == low) return;
  FAIL() << "it was never claimed";
}

TEST_P(Fairness, AKeyBehindALongBacklogIsFoundAfterARestart) {
  submit_backlog(of_key("big"));
  advance(1ms);
  auto small = of_key("small");
  small.id = id_in(3, 9'999);
  submit(small);
  home_->restart();
  EXPECT_EQ(claims_by_key(4)["small"], 1);
}

INSTANTIATE_TEST_SUITE_P(, Fairness, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
