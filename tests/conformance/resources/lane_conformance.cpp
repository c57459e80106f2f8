#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Lanes : public Conformance {
 protected:
  LanePauseReply pause(const char* name, std::string reason = "",
                       Namespace tenant = default_namespace()) {
    return must(
        run(PauseLane{.lane = lane(name), .ns = std::move(tenant), .reason = std::move(reason)}));
  }
  LanePauseReply resume(const char* name, Namespace tenant = default_namespace()) {
    return must(run(ResumeLane{.lane = lane(name), .ns = std::move(tenant)}));
  }
  ExecutionId submit_to(const char* name, Namespace tenant = default_namespace()) {
    return submit(Submit{.ns = std::move(tenant), .lane = lane(name), .kind = greet});
  }
  Claim claim_from(std::vector<LaneId> lanes, Millis wait = 0ms) {
    auto claim = claim_by("w1", wait);
    claim.lanes = std::move(lanes);
    claim.max = 10;
    return claim;
  }
  std::vector<ExecutionId> claimed_from(std::vector<LaneId> lanes) {
    std::vector<ExecutionId> ids;
    for (const auto& each : must(run(claim_from(std::move(lanes)))).executions)
      ids.push_back(each.id);
    return ids;
  }
  Grant grant_from(const char* name) {
    return {.worker = worker("w1"), .lanes = {lane(name)}, .grant_ttl = 5s};
  }
  // "gpu paused waiting 2 workers 1, mail active 1"
  std::string lanes(ListLanes query = {}) {
    std::string all;
    for (const auto& each : must(run(std::move(query))).lanes) {
      all += (all.empty() ? "" : ", ") + each.lane.str();
      if (each.pause) all += " paused";
      for (const auto& [state, count] : each.counts)
        all += fmt::format(" {} {}", to_string(state), count);
      if (each.workers > 0) all += fmt::format(" workers {}", each.workers);
    }
    return all;
  }
};

// ---- What a pause does ----------------------------------------------------------------------------

TEST_P(Lanes, GiveNoWorkWhileTheyArePaused) {
  const auto held = submit_to("gpu");
  const auto free = submit_to("mail");
  EXPECT_FALSE(pause("gpu").unchanged);
  EXPECT_THAT(claimed_from({lane("gpu")}), IsEmpty());
  EXPECT_EQ(must(run(grant_from("gpu"))).execution, std::nullopt);
  EXPECT_THAT(claimed_from({lane("gpu"), lane("mail")}), ElementsAre(free));

  EXPECT_FALSE(resume("gpu").unchanged);
  EXPECT_THAT(claimed_from({lane("gpu"), lane("mail")}), ElementsAre(held));
}

TEST_P(Lanes, HoldWorkThatComesWhileTheyArePaused) {
  pause("gpu");
  auto waiting = start(claim_from({lane("gpu")}, wake_up_max));
  await_waiting_claims(1);
  const auto id = submit_to("gpu");
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  resume("gpu");
  EXPECT_EQ(woken(waiting).id, id);
}

TEST_P(Lanes, WakeAllWaitingClaimsWhenTheyAreResumed) {
  pause("gpu");
  for (int i = 0; i < 3; ++i) submit_to("gpu");
  std::vector<test::Started<Claim>> claims;
  for (const char* name : {"w1", "w2", "w3"}) {
    auto claim = claim_by(name, wake_up_max);
    claim.lanes = {lane("gpu")};
    claims.push_back(start(std::move(claim)));
  }
  await_waiting_claims(3);
  resume("gpu");
  std::set<ExecutionId> ids;
  for (auto& each : claims) ids.insert(woken(each).id);
  EXPECT_EQ(ids.size(), 3u);
}

TEST_P(Lanes, LetWorkGoOnThatHasBegunOrIsGranted) {
  submit_to("gpu");
  auto running = must(run(claim_from({lane("gpu")}))).executions.at(0);
  const auto granted = submit_to("gpu");
  must(run(grant_from("gpu")));
  pause("gpu");
  must(run(renew(running)));
  must(run(complete(running)));
  const auto claimed = must(run(ClaimGranted{.id = granted, .worker = worker("w1")}));
  must(run(complete(claimed)));
}

TEST_P(Lanes, RefuseAClaimOfOneOfTheirExecutions) {
  const auto id = submit_to("gpu");
  pause("gpu", "driver update");
  const auto refused = run(claim_of(id));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::lane_paused);
  EXPECT_THAT(refused.error().message, HasSubstr("driver update"));
  resume("gpu");
  must(run(claim_of(id)));
}

TEST_P(Lanes, StopNeitherDelaysNorRetries) {
  const auto id = submit(Submit{.lane = lane("gpu"), .kind = greet, .delay_until = now() + 10s});
  pause("gpu");
  pass(11s);
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
  EXPECT_THAT(claimed_from({lane("gpu")}), IsEmpty());
}

TEST_P(Lanes, ArePausedInOneNamespace) {
  const auto other = submit_to("gpu", ns("other"));
  pause("gpu");
  auto claim = claim_from({lane("gpu")});
  claim.ns = ns("other");
  EXPECT_EQ(must(run(claim)).executions.at(0).id, other);
  EXPECT_EQ(lanes(), "gpu paused");
  EXPECT_EQ(lanes({.ns = ns("other")}), "gpu active 1 workers 1");
}

TEST_P(Lanes, StayPausedAfterARestart) {
  const auto id = submit_to("gpu");
  const auto before = pause("gpu", "driver update");
  home_->restart();
  EXPECT_THAT(claimed_from({lane("gpu")}), IsEmpty());
  EXPECT_EQ(must(run(ListLanes{})).lanes.at(0).pause, before.pause);
  resume("gpu");
  EXPECT_THAT(claimed_from({lane("gpu")}), ElementsAre(id));
  home_->restart();
  EXPECT_EQ(must(run(ListLanes{})).lanes.at(0).pause, std::nullopt);
}

// ---- Repetitions and wrong input -------------------------------------------------------------------

TEST_P(Lanes, CanBePausedAgainForAnotherReason) {
  const auto first = pause("gpu", "one");
  EXPECT_EQ(first.pause->since, now());
  EXPECT_EQ(first.pause->reason, "one");
  EXPECT_THAT(first.pause->by, Not(IsEmpty()));
  advance(1s);
  const auto same = pause("gpu", "one");
  EXPECT_TRUE(same.unchanged);
  EXPECT_EQ(same.pause, first.pause);
  const auto second = pause("gpu", "two");
  EXPECT_TRUE(second.unchanged);
  EXPECT_EQ(second.pause->since, first.pause->since);
  EXPECT_EQ(must(run(ListLanes{})).lanes.at(0).pause->reason, "two");
}

TEST_P(Lanes, CanBeResumedThoughTheyAreNotPaused) {
  EXPECT_EQ(resume("gpu"), (LanePauseReply{.unchanged = true}));
  pause("gpu");
  EXPECT_EQ(resume("gpu"), LanePauseReply{});
  EXPECT_EQ(resume("gpu"), (LanePauseReply{.unchanged = true}));
}

TEST_P(Lanes, NeedAName) {
  EXPECT_EQ(error_of(PauseLane{}), Errc::invalid_input);
  EXPECT_EQ(error_of(ResumeLane{}), Errc::invalid_input);
  EXPECT_EQ(error_of(PauseLane{.lane = lane("gpu"),
                               .reason = std::string(limits::pause_reason_bytes_max + 1, 'x')}),
            Errc::invalid_input);
}

TEST_P(Lanes, MayHaveAnyPrintableName) {
  constexpr const char* odd = "a/b c?d=%41 {x}";
  const auto id = submit_to(odd);
  pause(odd, "with \"quotes\", \x1f and ünïcode");
  EXPECT_EQ(must(run(ListLanes{})).lanes.at(0).pause->reason, "with \"quotes\", \x1f and ünïcode");
  EXPECT_THAT(claimed_from({lane(odd)}), IsEmpty());
  resume(odd);
  EXPECT_THAT(claimed_from({lane(odd)}), ElementsAre(id));
}

TEST_P(Lanes, ArePausedInLimitedNumber) {
  for (std::size_t i = 0; i < limits::paused_lanes_max; ++i)
    pause(fmt::format("lane{:04}", i).c_str());
  EXPECT_EQ(error_of(PauseLane{.lane = lane("one-more")}), Errc::resource_exhausted);
  EXPECT_TRUE(pause("lane0000", "again").unchanged);
  pause("one-more", "", ns("other"));
  resume("lane0000");
  EXPECT_FALSE(pause("one-more").unchanged);
}

// ---- What is told of it ----------------------------------------------------------------------------

TEST_P(Lanes, AreListedByNameWithWhatIsInThem) {
  submit_to("mail");
  submit_to("mail");
  submit_to("gpu");
  must(run(claim_from({lane("gpu"), lane("spare")})));
  pause("zoo");
  EXPECT_EQ(lanes(), "gpu active 1 workers 1, mail waiting 2, spare workers 1, zoo paused");

  const auto first = must(run(ListLanes{.limit = 2}));
  EXPECT_EQ(first.next, lane("mail"));
  EXPECT_EQ(lanes({.limit = 2, .after = first.next}), "spare workers 1, zoo paused");
  EXPECT_EQ(must(run(ListLanes{.limit = 2, .after = lane("mail")})).next, std::nullopt);
  EXPECT_EQ(error_of(ListLanes{.limit = 0}), Errc::invalid_input);
}

TEST_P(Lanes, TellWhyTheirWorkWaits) {
  const auto id = submit_to("gpu");
  pause("gpu", "driver update");
  const auto waiting = info(id);
  EXPECT_EQ(waiting.state, ExecutionState::waiting);
  EXPECT_EQ(waiting.state_vector.eligibility_state, EligibilityState::blocked_by_lane_state);
  EXPECT_EQ(waiting.state_vector.blocking_reason, BlockingReason::paused_by_policy);
  EXPECT_THAT(waiting.blocking_detail.value_or(""), HasSubstr("driver update"));

  const auto why = must(run(ExplainExecution{id}));
  ASSERT_THAT(why.obstacles, Not(IsEmpty()));
  EXPECT_EQ(why.obstacles.front().reason, BlockingReason::paused_by_policy);
  EXPECT_THAT(why.summary, HasSubstr("lane gpu is paused by"));
  EXPECT_THAT(why.obstacles.front().remedy, HasSubstr("ff lanes resume gpu"));
  EXPECT_EQ(std::ranges::count(why.obstacles, BlockingReason::paused_by_policy, &Obstacle::reason),
            1);

  resume("gpu");
  EXPECT_EQ(info(id).state_vector.eligibility_state, EligibilityState::eligible_now);
}

TEST_P(Lanes, AreCountedAsPaused) {
  submit_to("gpu");
  submit_to("mail");
  pause("gpu");
  const auto counts = must(run(CountExecutions{}));
  EXPECT_THAT(counts.paused_lanes, ElementsAre(lane("gpu")));
  EXPECT_EQ(text(counts), "gpu waiting 1, mail waiting 1");
  EXPECT_EQ(must(run(CheckReady{})).paused_lanes, 1u);
  EXPECT_THAT(must(run(GetMetrics{})).bytes, HasSubstr("ff_paused_lanes 1"));
  resume("gpu");
  EXPECT_EQ(must(run(CheckReady{})).paused_lanes, 0u);
}

INSTANTIATE_TEST_SUITE_P(, Lanes, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
