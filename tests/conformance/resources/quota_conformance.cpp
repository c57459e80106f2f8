#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

class Quotas : public Conformance {
 protected:
  QuotaId quota(QuotaSpec spec) { return must(run(CreateQuota{.spec = spec})).id; }
  QuotaId at_once(std::uint64_t max) { return quota({.max_concurrent = max}); }
  QuotaId per_window(std::uint64_t max, Millis window = 10s) {
    return quota({.window = window, .max_per_window = max});
  }
  QuotaInfo quota_info(const QuotaId& id) { return must(run(GetQuota{id})); }
  std::uint64_t running(const QuotaId& id) { return quota_info(id).running; }
  std::uint64_t in_window(const QuotaId& id) { return quota_info(id).in_window; }

  Submit under(const QuotaId& id, std::string payload = "in") {
    return {.kind = greet, .payload = std::move(payload), .policy = {.quota = id}};
  }
};

// ---- How many at the same time ------------------------------------------------------------------

TEST_P(Quotas, NoMoreRunThanTheCapAllows) {
  const auto id = at_once(2);
  for (int i = 0; i < 3; ++i) submit(under(id));
  const auto first = claim_many(3);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(running(id), 2u);
  must(run(complete(first[0])));
  EXPECT_EQ(running(id), 1u);
  EXPECT_EQ(claim_many(3).size(), 1u);
}

TEST_P(Quotas, ExecutionRefusedByTheCapShowsTheReason) {
  const auto id = at_once(1);
  submit(under(id));
  claim();
  const auto execution = submit(under(id));
  EXPECT_EQ(claimable(), 0u);
  const auto blocked = info(execution);
  EXPECT_EQ(blocked.state, ExecutionState::rate_limited);
  EXPECT_EQ(blocked.state_vector.blocking_reason, BlockingReason::waiting_for_quota);
  EXPECT_EQ(blocked.state_vector.eligibility_state, EligibilityState::blocked_by_quota);
  EXPECT_EQ(blocked.blocking_detail, fmt::format("quota {}: concurrency cap 1", id.str()));
  EXPECT_EQ(error_of(claim_of(execution)), Errc::quota_exceeded);
}

TEST_P(Quotas, ASlotIsHeldAsLongAsTheWorkRuns) {
  const auto id = quota({.window = 1s, .max_concurrent = 1});
  submit(under(id));
  const auto claimed = claim();
  submit(under(id));
  for (int i = 0; i < 10; ++i) {
    pass(20s);
    must(run(renew(claimed)));
    EXPECT_EQ(claimable(), 0u) << "however long the window is";
  }
  must(run(complete(claimed)));
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Quotas, ASlotIsGivenBackHoweverTheWorkEnds) {
  const auto id = at_once(1);
  const auto policy = RetryPolicy{.max_retries = 5, .backoff = FixedBackoff{1h}};
  const std::vector<std::pair<std::string, std::function<void(const ClaimedExecution&)>>> ways{
      {"completed", [&](const auto& claimed) { must(run(complete(claimed))); }},
      {"failed, to be retried", [&](const auto& claimed) { must(run(failure(claimed))); }},
      {"failed", [&](const auto& claimed) { must(run(failure(claimed, "no", "permanent"))); }},
      {"cancelled", [&](const auto& claimed) { must(run(Cancel{.id = claimed.id})); }},
      {"delayed", [&](const auto& claimed) { must(run(delay(claimed, 1h))); }},
      {"handed back",
       [&](const auto& claimed) {
         must(run(HandBack{.id = claimed.id, .fence = claimed.fence}));
         EXPECT_EQ(running(id), 0u);
         must(run(Cancel{.id = claimed.id}));
       }},
      {"lease lost",
       [&](const auto& claimed) {
         pass(lease_ttl);
         EXPECT_EQ(running(id), 0u);
         must(run(Cancel{.id = claimed.id}));
       }},
      {"lease revoked",
       [&](const auto& claimed) {
         must(run(RevokeLease{.id = claimed.id}));
         EXPECT_EQ(running(id), 0u);
         must(run(Cancel{.id = claimed.id}));
       }},
      {"past its deadline", [&](const auto&) { pass(25s); }},
  };
  for (const auto& [how, end] : ways) {
    SCOPED_TRACE(how);
    auto work = under(id);
    work.policy.retry = policy;
    if (how == "past its deadline") work.deadline = now() + 25s;
    submit(std::move(work));
    const auto claimed = claim();
    ASSERT_EQ(running(id), 1u);
    end(claimed);
    EXPECT_EQ(running(id), 0u);
  }
}

TEST_P(Quotas, AnEndThatIsRepeatedGivesBackOnce) {
  const auto id = at_once(2);
  for (int i = 0; i < 3; ++i) submit(under(id));
  const auto first = claim_many(2);
  for (int i = 0; i < 3; ++i) must(run(complete(first[0])));
  EXPECT_EQ(running(id), 1u);
  must(run(Cancel{.id = first[1].id}));
  must(run(Cancel{.id = first[1].id}));
  EXPECT_EQ(running(id), 0u);
  EXPECT_EQ(claim_many(2).size(), 1u);
}

TEST_P(Quotas, AGrantHoldsASlotUntilItEndsOrRunsOut) {
  const auto id = at_once(1);
  const auto execution = submit(under(id));
  advance(1ms);
  submit(under(id));
  EXPECT_EQ(must(run(Grant{.worker = worker("w1")})).execution->id, execution);
  EXPECT_EQ(running(id), 1u);
  EXPECT_EQ(must(run(Grant{.worker = worker("w2")})).execution, std::nullopt);
  must(run(ClaimGranted{.id = execution, .worker = worker("w1"), .lease_ttl = lease_ttl}));
  EXPECT_EQ(running(id), 1u) << "the grant's slot is the lease's";
  must(run(Cancel{.id = execution}));

  EXPECT_TRUE(must(run(Grant{.worker = worker("w1"), .grant_ttl = 1s})).execution);
  EXPECT_EQ(running(id), 1u);
  pass(1s);
  EXPECT_EQ(running(id), 0u);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Quotas, AnExpiredGrantThatAnotherTakesOverHoldsOneSlot) {
  const auto id = at_once(2);
  const auto execution = submit(under(id));
  must(run(Grant{.worker = worker("w1"), .grant_ttl = 1s}));
  advance(1s);
  must(run(claim_of(execution, "w2")));
  EXPECT_EQ(running(id), 1u);
}

TEST_P(Quotas, ManyWhoClaimAtOnceGetNoMoreThanTheCap) {
  const auto id = at_once(5);
  for (int i = 0; i < 20; ++i) submit(under(id));
  std::vector<test::Started<Claim>> claims;
  for (int i = 0; i < 20; ++i) claims.push_back(start(claim_by("w")));
  std::vector<ClaimedExecution> claimed;
  for (auto& each : claims)
    for (auto& execution : must(each.get()).executions) claimed.push_back(std::move(execution));
  EXPECT_EQ(claimed.size(), 5u);
  EXPECT_EQ(running(id), 5u);
  for (const auto& each : claimed) must(run(complete(each)));
  EXPECT_EQ(running(id), 0u);
  EXPECT_EQ(claim_many(20).size(), 5u);
}

TEST_P(Quotas, ManyWhoClaimTheSameExecutionLeaveNoSlotBehind) {
  const auto id = at_once(50);
  const auto execution = submit(under(id));
  std::vector<test::Started<ClaimExecution>> claims;
  for (int i = 0; i < 20; ++i) claims.push_back(start(claim_of(execution, "w")));
  int got = 0;
  for (auto& each : claims) got += each.get() ? 1 : 0;
  EXPECT_EQ(got, 1);
  EXPECT_EQ(running(id), 1u);
}

TEST_P(Quotas, ARefusedClaimCostsNothing) {
  const auto id = quota({.window = 1h, .max_per_window = 1, .max_concurrent = 1});
  auto demanding = under(id);
  demanding.policy.required_capabilities = caps({"gpu"});
  const auto execution = submit(std::move(demanding));
  EXPECT_EQ(error_of(claim_of(execution)), Errc::capability_mismatch);
  EXPECT_EQ(running(id), 0u);
  EXPECT_EQ(in_window(id), 0u);
  auto capable = claim_of(execution);
  capable.capabilities = caps({"gpu"});
  must(run(capable));
  EXPECT_EQ(in_window(id), 1u);
}

TEST_P(Quotas, WorkBehindThatWhichWaitsForAQuotaIsGiven) {
  const auto id = at_once(1);
  for (int i = 0; i < 120; ++i) submit(under(id));
  claim();
  advance(1ms);
  const auto plain = submit();
  EXPECT_EQ(claim().id, plain);
}

TEST_P(Quotas, AClaimThatWaitsWakesWhenASlotIsFree) {
  const auto id = at_once(1);
  submit(under(id));
  const auto claimed = claim();
  const auto next = submit(under(id));
  auto waiting = start(claim_by("w2", wake_up_max));
  EXPECT_EQ(claimable(), 0u);
  must(run(complete(claimed)));
  home_->run_scanners();
  EXPECT_EQ(woken(waiting).id, next);
}

TEST_P(Quotas, OneFreeSlotLetsOneStart) {
  const auto id = at_once(1);
  submit(under(id));
  const auto claimed = claim();
  for (int i = 0; i < 10; ++i) submit(under(id));
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default active 1, default rate_limited 10");
  must(run(complete(claimed)));
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default waiting 10, default completed 1");
  EXPECT_EQ(claim_many(3).size(), 1u);
  EXPECT_EQ(text(must(run(CountExecutions{}))),
            "default active 1, default completed 1, default rate_limited 9");
}

// ---- How many in a window -----------------------------------------------------------------------

TEST_P(Quotas, NoMoreStartInAWindowThanAllowed) {
  const auto id = per_window(2);
  for (int i = 0; i < 4; ++i) submit(under(id));
  for (int i = 0; i < 2; ++i) {
    must(run(complete(claim())));
    advance(1s);
  }
  EXPECT_EQ(claimable(), 0u) << "that they ended does not matter";
  EXPECT_EQ(in_window(id), 2u);
  EXPECT_EQ(quota_info(id).next_start_at, now() + 8s);
  advance(8s - 1ms);
  EXPECT_EQ(claimable(), 0u);
  advance(1ms);
  EXPECT_EQ(claimable(), 1u) << "the first start is one window old";
  EXPECT_EQ(claimable(), 0u);
  advance(1s);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Quotas, ExecutionRefusedByTheRateShowsTheReason) {
  const auto id = per_window(1, 1500ms);
  submit(under(id));
  advance(1ms);
  const auto execution = submit(under(id));
  EXPECT_EQ(claim_many(2).size(), 1u);
  EXPECT_EQ(info(execution).blocking_detail,
            fmt::format("quota {}: rate limit 1/1 per 1.5s window", id.str()));
  pass(1ms);
  EXPECT_EQ(state_of(execution), ExecutionState::rate_limited);
  pass(1500ms);
  EXPECT_EQ(state_of(execution), ExecutionState::waiting);
}

TEST_P(Quotas, EveryStartCountsAlsoOfTheSameExecution) {
  const auto id = per_window(2);
  auto retried = under(id);
  retried.policy.retry = RetryPolicy{.max_retries = 5, .backoff = FixedBackoff{1s}};
  submit(std::move(retried));
  for (int i = 0; i < 2; ++i) {
    must(run(failure(claim())));
    pass(1s);
  }
  EXPECT_EQ(claimable(), 0u);
  pass(8s);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Quotas, JitterSpreadsTheTimeOfTheNextStart) {
  const auto id = quota({.window = 10s, .max_per_window = 1, .jitter = 1s});
  submit(under(id));
  submit(under(id));
  EXPECT_EQ(claim_many(2).size(), 1u);
  pass(11s);
  EXPECT_EQ(claimable(), 1u);
}

// ---- Restarts -----------------------------------------------------------------------------------

TEST_P(Quotas, SlotsAndWindowsOutliveTheEngine) {
  const auto id = quota({.window = 1h, .max_per_window = 3, .max_concurrent = 2});
  for (int i = 0; i < 5; ++i) submit(under(id));
  const auto first = claim_many(2);
  home_->restart();
  EXPECT_EQ(running(id), 2u);
  EXPECT_EQ(in_window(id), 2u);
  EXPECT_EQ(claimable(), 0u);
  must(run(complete(first[0])));
  EXPECT_EQ(running(id), 1u);
  const auto third = claim();
  must(run(complete(third)));
  must(run(complete(first[1])));
  EXPECT_EQ(running(id), 0u);
  EXPECT_EQ(claimable(), 0u) << "three started in this window";
}

TEST_P(Quotas, ReconcilingTakesNothingFromThoseWhoRun) {
  const auto id = at_once(1);
  submit(under(id));
  submit(under(id));
  const auto claimed = claim();
  for (int i = 0; i < 10; ++i) {
    pass(25s);
    must(run(renew(claimed)));
  }
  EXPECT_EQ(running(id), 1u);
  EXPECT_EQ(claimable(), 0u);
}

// ---- The quotas themselves ----------------------------------------------------------------------

TEST_P(Quotas, AQuotaIsAsItWasMade) {
  const QuotaSpec spec{.window = 90s, .max_per_window = 5, .max_concurrent = 3, .jitter = 250ms};
  const auto id = quota(spec);
  home_->restart();
  const auto told = quota_info(id);
  EXPECT_EQ(told.spec, spec);
  EXPECT_EQ(told.ns, default_namespace());
  EXPECT_EQ(told.created_at, now());
  EXPECT_EQ(told.running, 0u);
}

TEST_P(Quotas, CreatingTheSameAgainChangesNothing) {
  const CreateQuota create{.id = QuotaId{id_in(0, 7).uuid()}, .spec = {.max_concurrent = 2}};
  EXPECT_FALSE(must(run(create)).duplicate);
  submit(under(*create.id));
  claim();
  EXPECT_TRUE(must(run(create)).duplicate);
  EXPECT_EQ(running(*create.id), 1u);
  auto other = create;
  other.spec.max_concurrent = 3;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
}

TEST_P(Quotas, AreListedByNamespaceAndDeleted) {
  const auto first = at_once(1), second = at_once(2);
  must(run(CreateQuota{.ns = ns("other"), .spec = {.max_concurrent = 1}}));
  std::set<QuotaId> listed;
  for (const auto& each : must(run(ListQuotas{})).quotas) listed.insert(each.id);
  EXPECT_EQ(listed, (std::set{first, second}));
  must(run(DeleteQuota{first}));
  EXPECT_EQ(error_of(GetQuota{first}), Errc::quota_not_found);
  EXPECT_EQ(error_of(DeleteQuota{first}), Errc::quota_not_found);
  EXPECT_EQ(must(run(ListQuotas{})).quotas.size(), 1u);
}

TEST_P(Quotas, WorkOfADeletedQuotaWaitsUntilThereIsOneAgain) {
  const auto id = at_once(1);
  const auto execution = submit(under(id));
  must(run(DeleteQuota{id}));
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(info(execution).blocking_detail, fmt::format("quota {} does not exist", id.str()));
  must(run(CreateQuota{.id = id, .spec = {.max_concurrent = 1}}));
  advance(1s);
  EXPECT_EQ(claim().id, execution);
}

TEST_P(Quotas, OneThatIsNotThereCannotBeAttached) {
  EXPECT_EQ(error_of(under(QuotaId{id_in(0, 79).uuid()})), Errc::quota_not_found);
  const auto elsewhere =
      must(run(CreateQuota{.ns = ns("other"), .spec = {.max_concurrent = 1}})).id;
  EXPECT_EQ(error_of(under(elsewhere)), Errc::quota_not_found);
}

TEST_P(Quotas, BadOnesAreRefused) {
  const auto refused = [&](QuotaSpec spec) { return error_of(CreateQuota{.spec = spec}); };
  EXPECT_EQ(refused({}), Errc::invalid_input);
  EXPECT_EQ(refused({.max_per_window = 0}), Errc::invalid_input);
  EXPECT_EQ(refused({.max_concurrent = 0}), Errc::invalid_input);
  EXPECT_EQ(refused({.max_concurrent = limits::quota_starts_max + 1}), Errc::invalid_input);
  EXPECT_EQ(refused({.window = 0ms, .max_per_window = 1}), Errc::invalid_input);
  EXPECT_EQ(refused({.window = limits::quota_window_max + 1ms, .max_per_window = 1}),
            Errc::invalid_input);
  EXPECT_EQ(refused({.max_per_window = 1, .jitter = -1ms}), Errc::invalid_input);
}

INSTANTIATE_TEST_SUITE_P(, Quotas, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
