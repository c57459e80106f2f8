#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Workers : public Conformance {
 protected:
  RegisterWorker registration(const char* name, std::vector<std::string> tokens = {}) {
    return {.worker = worker(name), .capabilities = caps(std::move(tokens)), .ttl = 30s};
  }
  static IncarnationId incarnation_id(std::uint8_t number) {
    Uuid::Bytes bytes{};
    bytes.back() = number;
    return IncarnationId{Uuid{bytes}};
  }
  RegisterWorker incarnation(const char* name, std::uint8_t number) {
    auto made = registration(name);
    made.incarnation = incarnation_id(number);
    return made;
  }
  HeartbeatWorker heartbeat(const char* name, std::uint8_t number) {
    return {.worker = worker(name), .incarnation = incarnation_id(number)};
  }
  Error failure_of(RegisterWorker operation) {
    const auto reply = run(std::move(operation));
    return reply ? Error{} : reply.error();
  }
  void add(const char* name, std::vector<std::string> tokens = {}) {
    must(run(registration(name, std::move(tokens))));
  }
  Submit requiring(std::vector<std::string> tokens, Namespace tenant = default_namespace()) {
    return {.ns = std::move(tenant),
            .kind = greet,
            .policy = {.required_capabilities = caps(std::move(tokens))}};
  }
  BlockingReason reason_of(const ExecutionId& id) { return info(id).state_vector.blocking_reason; }
  std::vector<std::string> names(Namespace tenant = default_namespace()) {
    std::vector<std::string> all;
    for (const auto& each : must(run(ListWorkers{std::move(tenant)})).workers)
      all.push_back(each.info.worker.str());
    return all;
  }
  Why why(const ExecutionId& id) { return must(run(ExplainExecution{id})); }
};

// ---- The registry -------------------------------------------------------------------------------

TEST_P(Workers, AreListedWithWhatTheyAre) {
  auto gpu = registration("w1", {"gpu", "eu"});
  gpu.lanes = {lane("images"), default_lane()};
  const auto registered = must(run(gpu));
  EXPECT_FALSE(registered.known);
  EXPECT_EQ(registered.expires_at, now() + 30s);
  add("w2");
  EXPECT_THAT(names(), ElementsAre("w1", "w2"));

  const auto told = must(run(GetWorker{.worker = worker("w1")}));
  EXPECT_EQ(told.info.lanes, gpu.lanes);
  EXPECT_EQ(told.info.capabilities, caps({"gpu", "eu"}));
  EXPECT_EQ(told.info.registered_at, now());
  EXPECT_EQ(told.info.last_seen_at, now());
  EXPECT_FALSE(told.info.draining);
  EXPECT_THAT(told.running, IsEmpty());
}

TEST_P(Workers, AreListedWithWhatTheyRun) {
  add("w1");
  add("w2");
  const auto id = submit();
  const auto claimed = claim("w1");
  EXPECT_THAT(must(run(GetWorker{.worker = worker("w1")})).running, ElementsAre(id));
  EXPECT_THAT(must(run(GetWorker{.worker = worker("w2")})).running, IsEmpty());
  must(run(complete(claimed)));
  EXPECT_THAT(must(run(GetWorker{.worker = worker("w1")})).running, IsEmpty());
}

TEST_P(Workers, LiveAsLongAsTheyAreHeardOf) {
  add("w1");
  add("w2");
  advance(20s);
  const auto heard = must(run(HeartbeatWorker{.worker = worker("w1")}));
  EXPECT_TRUE(heard.known);
  EXPECT_EQ(heard.expires_at, now() + 30s);
  advance(20s);
  EXPECT_THAT(names(), ElementsAre("w1"));
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("w2")}), Errc::worker_not_found);
  EXPECT_EQ(error_of(GetWorker{.worker = worker("w2")}), Errc::worker_not_found);
  EXPECT_FALSE(must(run(registration("w2"))).known);
  EXPECT_TRUE(must(run(registration("w2"))).known);
}

TEST_P(Workers, CanBeTakenOffTheList) {
  add("w1");
  must(run(DeregisterWorker{.worker = worker("w1")}));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("w1")}), Errc::worker_not_found);
  must(run(DeregisterWorker{.worker = worker("w1")}));
}

TEST_P(Workers, BelongToANamespace) {
  add("w1");
  auto other = registration("w1", {"gpu"});
  other.ns = ns("other");
  must(run(other));
  EXPECT_THAT(must(run(GetWorker{.worker = worker("w1")})).info.capabilities.tokens(), IsEmpty());
  EXPECT_THAT(names(ns("other")), ElementsAre("w1"));
  EXPECT_THAT(names(ns("nobody")), IsEmpty());
}

TEST_P(Workers, AreKnownByTheirClaims) {
  auto claims = claim_by("w1");
  claims.capabilities = caps({"gpu"});
  must(run(claims));
  EXPECT_EQ(must(run(GetWorker{.worker = worker("w1")})).info.capabilities, caps({"gpu"}));
  advance(31s);
  EXPECT_THAT(names(), IsEmpty());
  must(run(claims));
  EXPECT_THAT(names(), ElementsAre("w1"));
}

TEST_P(Workers, GetNothingMoreWhileTheyDrain) {
  add("w1");
  submit("first");
  advance(1ms);
  submit("second");
  const auto claimed = claim("w1");
  EXPECT_TRUE(must(run(DrainWorker{.worker = worker("w1")})).draining);
  EXPECT_TRUE(must(run(HeartbeatWorker{.worker = worker("w1")})).draining);
  EXPECT_TRUE(must(run(registration("w1"))).draining) << "registering anew does not end it";
  EXPECT_THAT(must(run(claim_by("w1"))).executions, IsEmpty());
  EXPECT_EQ(must(run(Grant{.worker = worker("w1")})).execution, std::nullopt);
  must(run(complete(claimed)));
  EXPECT_EQ(claim("w2").payload, "second");

  submit("third");
  EXPECT_FALSE(must(run(DrainWorker{.worker = worker("w1"), .draining = false})).draining);
  EXPECT_EQ(claim("w1").payload, "third");
  EXPECT_EQ(error_of(DrainWorker{.worker = worker("nobody")}), Errc::worker_not_found);
}

TEST_P(Workers, GetNothingMoreForAClaimThatWaitsWhileTheyDrain) {
  add("w1");
  auto waiting = start(claim_by("w1", wake_up_max));
  await_waiting_claims(1);
  must(run(DrainWorker{.worker = worker("w1")}));
  const auto id = submit();
  EXPECT_THAT(must(waiting.get()).executions, IsEmpty());
  EXPECT_EQ(claim("w2").id, id);
}

TEST_P(Workers, AClaimThatWaitsGetsWorkWhenTheDrainEnds) {
  add("w1");
  must(run(DrainWorker{.worker = worker("w1")}));
  auto waiting = start(claim_by("w1", wake_up_max));
  const auto id = submit();
  must(run(DrainWorker{.worker = worker("w1"), .draining = false}));
  EXPECT_EQ(woken(waiting).id, id);
}

TEST_P(Workers, AreKnownByTheLanesOfTheirLastClaim) {
  must(run(claim_by("w1")));
  auto other = claim_by("w1");
  other.lanes = {*LaneId::parse("other")};
  must(run(other));
  EXPECT_EQ(must(run(GetWorker{.worker = worker("w1")})).info.lanes, other.lanes);
}

TEST_P(Workers, BadOnesAreRefused) {
  auto no_lanes = registration("w1");
  no_lanes.lanes.clear();
  EXPECT_EQ(error_of(no_lanes), Errc::invalid_input);
  auto no_time = registration("w1");
  no_time.ttl = 0ms;
  EXPECT_EQ(error_of(no_time), Errc::invalid_input);
  EXPECT_EQ(error_of(RegisterWorker{.worker = {}}), Errc::invalid_input);
  EXPECT_THAT(names(), IsEmpty());
}

// ---- One worker per id ----------------------------------------------------------------------------

TEST_P(Workers, AnotherIncarnationIsRefusedWhileTheFirstLives) {
  must(run(incarnation("w1", 1)));
  advance(10s);
  const auto refused = failure_of(incarnation("w1", 2));
  EXPECT_EQ(refused.code, Errc::worker_id_in_use);
  EXPECT_THAT(refused.message, HasSubstr("w1 in namespace default"));
  EXPECT_THAT(refused.message, HasSubstr("wait 20 s"));
  EXPECT_THAT(refused.details, Contains(Error::Detail{"wait_ms", "20000"}));
  EXPECT_EQ(error_of(heartbeat("w1", 2)), Errc::worker_id_in_use);

  auto elsewhere = incarnation("w1", 2);
  elsewhere.ns = ns("other");
  must(run(elsewhere));
  must(run(incarnation("w2", 2)));
}

TEST_P(Workers, AnIncarnationKeepsItsIdByEverySignOfLife) {
  EXPECT_FALSE(must(run(incarnation("w1", 1))).known);
  EXPECT_TRUE(must(run(incarnation("w1", 1))).known) << "its first answer may have been lost";
  advance(20s);
  must(run(heartbeat("w1", 1)));
  advance(20s);
  EXPECT_EQ(error_of(incarnation("w1", 2)), Errc::worker_id_in_use);
  advance(10s);
  must(run(incarnation("w1", 2)));
  EXPECT_EQ(error_of(heartbeat("w1", 1)), Errc::worker_id_in_use) << "the second has the id";
}

TEST_P(Workers, AnIncarnationFreesOnlyItsOwnId) {
  must(run(incarnation("w1", 1)));
  EXPECT_EQ(error_of(DeregisterWorker{.worker = worker("w1"), .incarnation = incarnation_id(2)}),
            Errc::worker_id_in_use);
  EXPECT_EQ(error_of(incarnation("w1", 2)), Errc::worker_id_in_use);
  must(run(DeregisterWorker{.worker = worker("w1"), .incarnation = incarnation_id(1)}));
  EXPECT_FALSE(must(run(incarnation("w1", 2))).known);
}

TEST_P(Workers, WithoutAnIncarnationNoneIsRefusedAndNoIdIsHeld) {
  must(run(incarnation("w1", 1)));
  must(run(registration("w1", {"gpu"})));
  must(run(HeartbeatWorker{.worker = worker("w1")}));
  EXPECT_EQ(must(run(GetWorker{.worker = worker("w1")})).info.capabilities, caps({"gpu"}));
  EXPECT_EQ(error_of(incarnation("w1", 2)), Errc::worker_id_in_use) << "the first still lives";
  advance(20s);
  must(run(registration("w1")));
  must(run(HeartbeatWorker{.worker = worker("w1")}));
  advance(10s);
  must(run(incarnation("w1", 2)));
  must(run(DeregisterWorker{.worker = worker("w1")}));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_P(Workers, AClaimDoesNotShortenTheLifeOfARegisteredWorker) {
  auto patient = incarnation("w1", 1);
  patient.ttl = 5min;
  must(run(patient));
  must(run(claim_by("w1")));
  advance(4min);
  EXPECT_THAT(names(), ElementsAre("w1"));
  EXPECT_EQ(must(run(heartbeat("w1", 1))).expires_at, now() + 5min);
}

// ---- Waiting for one that is capable --------------------------------------------------------------

TEST_P(Workers, WorkThatNobodyCanRunIsToldSo) {
  add("w1", {"cpu"});
  const auto id = submit(requiring({"gpu"}));
  pass(1ms);
  const auto blocked = info(id);
  EXPECT_EQ(blocked.state, ExecutionState::waiting);
  EXPECT_EQ(blocked.state_vector.blocking_reason, BlockingReason::waiting_for_capable_worker);
  EXPECT_EQ(blocked.state_vector.eligibility_state, EligibilityState::blocked_by_route);
  EXPECT_EQ(blocked.blocking_detail, "no connected worker satisfies required_capabilities");
}

TEST_P(Workers, WorkThatALiveWorkerCanRunIsNeverCalledBlocked) {
  add("busy", {"gpu"});
  const auto id = submit(requiring({"gpu"}));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(must(run(claim_by("incapable"))).executions, IsEmpty());
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
}

TEST_P(Workers, ACapableOneLetsItGoAtOnce) {
  const auto id = submit(requiring({"gpu"}));
  pass(1ms);
  ASSERT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
  add("w1", {"gpu", "eu"});
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
}

TEST_P(Workers, AClaimByACapableOneGetsIt) {
  const auto id = submit(requiring({"gpu"}));
  pass(1ms);
  auto capable = claim_by("w1");
  capable.capabilities = caps({"gpu"});
  EXPECT_EQ(must(run(capable)).executions.at(0).id, id);
}

TEST_P(Workers, TwoThatAreHalfCapableLetNothingGo) {
  const auto id = submit(requiring({"cuda", "gpu"}));
  add("w1", {"gpu"});
  add("w2", {"cuda"});
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
  add("w3", {"cuda", "gpu"});
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
}

TEST_P(Workers, OfAnotherTenantLetNothingGo) {
  const auto id = submit(requiring({"gpu"}));
  auto others = registration("w1", {"gpu"});
  others.ns = ns("other");
  must(run(others));
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
}

TEST_P(Workers, WorkIsBlockedAgainWhenTheLastCapableOneIsGone) {
  const auto id = submit(requiring({"gpu"}));
  add("w1", {"gpu"});
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
  pass(30s);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker) << "it was not heard of";
  add("w1", {"gpu"});
  must(run(DeregisterWorker{.worker = worker("w1")}));
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
}

TEST_P(Workers, ManyBehindManyThatStayBlockedAreLetGo) {
  for (int i = 0; i < 150; ++i) submit(requiring({"never"}));
  const auto id = submit(requiring({"gpu"}));
  pass(1ms);
  ASSERT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
  add("w1", {"gpu"});
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
}

TEST_P(Workers, ACapableOneClaimsAtOnceAfterARestart) {
  const auto id = submit(requiring({"gpu"}));
  pass(1ms);
  ASSERT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
  home_->restart();
  auto claim = claim_by("w1");
  claim.capabilities = *CapabilitySet::parse({"gpu"});
  const auto claimed = must(run(std::move(claim))).executions;
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].id, id);
}

// ---- Why ------------------------------------------------------------------------------------------

TEST_P(Workers, WhyTellsWhoIsMissing) {
  const auto plain = submit();
  EXPECT_THAT(why(plain).summary, HasSubstr("no worker is alive"));
  const auto id = submit(requiring({"gpu"}));
  EXPECT_EQ(why(id).obstacles.at(0).reason, BlockingReason::waiting_for_capable_worker);
  EXPECT_THAT(why(id).obstacles.at(0).remedy, HasSubstr("gpu"));
  add("w1", {"cpu"});
  const auto told = why(id);
  ASSERT_EQ(told.obstacles.size(), 1u);
  EXPECT_EQ(told.obstacles[0].reason, BlockingReason::waiting_for_capable_worker);
  EXPECT_THAT(told.obstacles[0].remedy, HasSubstr("gpu"));
  EXPECT_THAT(why(plain).obstacles, IsEmpty());
  EXPECT_THAT(why(plain).summary, HasSubstr("waits for its turn"));
}

TEST_P(Workers, WhyTellsEverythingThatIsInTheWay) {
  add("w1");
  const auto budget = must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 1}}}})).id;
  const auto quota = must(run(CreateQuota{.spec = {.max_per_window = 1, .max_concurrent = 1}})).id;
  const Submit work{.kind = greet, .policy = {.budgets = {budget}, .quota = quota}};
  submit(work);
  claim();
  must(run(ReportUsage{.id = budget, .amounts = {{"tokens", 1}}}));
  const auto id = submit(work);
  const auto told = why(id);
  ASSERT_EQ(told.obstacles.size(), 3u);
  EXPECT_EQ(told.obstacles[0].reason, BlockingReason::waiting_for_budget);
  EXPECT_THAT(told.obstacles[0].remedy, HasSubstr("ff budgets reset"));
  EXPECT_EQ(told.obstacles[1].reason, BlockingReason::waiting_for_quota);
  EXPECT_THAT(told.obstacles[1].detail, HasSubstr("rate limit 1/1"));
  EXPECT_THAT(told.obstacles[2].detail, HasSubstr("concurrency cap 1"));
}

TEST_P(Workers, WhyTellsOfEveryState) {
  EXPECT_EQ(error_of(ExplainExecution{id_in(0, 99)}), Errc::execution_not_found);
  const auto delayed = submit(Submit{.kind = greet, .delay_until = now() + 1h});
  EXPECT_THAT(why(delayed).summary, HasSubstr("delayed until"));
  EXPECT_EQ(why(delayed).obstacles.at(0).reason, BlockingReason::waiting_for_delay);
  const auto id = submit();
  const auto claimed = claim();
  EXPECT_THAT(why(id).summary, HasSubstr("it runs: worker w1"));
  must(run(failure(claimed)));
  EXPECT_THAT(why(id).summary, HasSubstr("it ended (failed: broke)"));
}

INSTANTIATE_TEST_SUITE_P(, Workers, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
