#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, CountsAreByLaneAndState) {
  const auto counts = [&](CountExecutions query = {}) { return text(must(run(query))); };
  EXPECT_EQ(counts(), "");
  for (int i = 0; i < 3; ++i) submit();
  submit(Submit{.lane = lane("mail"), .kind = greet});
  submit(Submit{.ns = ns("tenant"), .kind = greet});
  claim();
  EXPECT_EQ(counts(), "default waiting 2, default active 1, mail waiting 1");
  EXPECT_EQ(counts({.lane = lane("mail")}), "mail waiting 1");
  EXPECT_EQ(counts({.ns = ns("tenant")}), "default waiting 1");
  EXPECT_EQ(counts({.ns = ns("nobody")}), "");
}

TEST_P(Conformance, CountsFollowEveryChangeAndARestart) {
  const auto counts = [&] { return text(must(run(CountExecutions{}))); };
  for (int i = 0; i < 8; ++i) submit(Submit{.kind = greet, .policy = {.max_reclaim_count = 0}});
  submit(Submit{.kind = greet, .delay_until = now() + 1h});
  const auto claimed = claim_many(6);
  must(run(complete(claimed[0])));
  must(run(complete(claimed[1])));
  must(run(failure(claimed[2])));
  must(run(Cancel{.id = claimed[3].id}));
  must(run(delay(claimed[4], 1h)));
  constexpr const char* mix =
      "default waiting 2, default delayed 2, default active 1, default completed 2, "
      "default failed 1, default cancelled 1";
  EXPECT_EQ(counts(), mix);
  home_->restart();
  EXPECT_EQ(counts(), mix);

  must(run(Replay{.id = claimed[0].id}));
  pass(lease_ttl);  // the last one's worker has died for good
  constexpr const char* later =
      "default waiting 3, default delayed 2, default completed 1, default failed 2, "
      "default cancelled 1";
  EXPECT_EQ(counts(), later);
  home_->restart();
  EXPECT_EQ(counts(), later);
  pass(24h);
  EXPECT_EQ(counts(), "default waiting 5") << "what has ended is forgotten";
  home_->restart();
  EXPECT_EQ(counts(), "default waiting 5");
}

TEST_P(Conformance, LostExecutionCountsAsActiveUntilItIsTaken) {
  const auto counts = [&] { return text(must(run(CountExecutions{}))); };
  submit();
  claim();
  pass(lease_ttl);
  EXPECT_EQ(counts(), "default active 1");
  claim();
  EXPECT_EQ(counts(), "default active 1");
}

TEST_P(Conformance, ActiveExecutionsWithoutAWorkerAreCountedAsReclaimable) {
  const auto reclaimable = [&] {
    const auto counts = must(run(CountExecutions{})).counts;
    return counts.size() == 1 ? counts.front().reclaimable : 99;
  };
  const auto shown = [&](const char* line) {
    EXPECT_THAT(must(run(GetMetrics{})).bytes, ::testing::HasSubstr(line));
  };
  for (int i = 0; i < 3; ++i) submit();
  const auto claimed = claim_many(3);
  EXPECT_EQ(reclaimable(), 0u);
  shown("ff_executions_reclaimable{lane=\"default\"} 0\n");
  must(run(RevokeLease{.id = claimed[0].id}));
  EXPECT_EQ(reclaimable(), 1u);
  pass(lease_ttl);
  EXPECT_EQ(reclaimable(), 3u) << "no worker is there";
  shown("ff_executions_reclaimable{lane=\"default\"} 3\n");
  EXPECT_THAT(must(run(ExplainExecution{claimed[1].id})).summary,
              ::testing::StartsWith("the lease of its last worker expired"));
  home_->restart();
  EXPECT_EQ(reclaimable(), 3u);
  claim("heir");
  EXPECT_EQ(reclaimable(), 2u);
}

TEST_P(Conformance, DuplicatesAndRefusalsAreNotCounted) {
  const Submit submit_once{.idempotency_key = key("k"), .kind = greet};
  for (int i = 0; i < 3; ++i) must(run(submit_once));
  error_of(Submit{.kind = greet, .priority = -1});
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default waiting 1");
}

TEST_P(Conformance, CountsAreRightWhenManyChangeAtOnce) {
  constexpr std::uint32_t count = 100;
  for (std::uint32_t i = 0; i < count; ++i) submit();
  std::vector<test::Started<Complete>> ends;
  for (const auto& claimed : claim_many(count)) ends.push_back(start(complete(claimed)));
  for (auto& each : ends) must(each.get());
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default completed 100");
  home_->restart();
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default completed 100");
}

}  // namespace
}  // namespace ff::conformance
