#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

Submit requiring(std::vector<std::string> tokens, std::string payload = "in") {
  return {.kind = greet,
          .payload = std::move(payload),
          .policy = {.required_capabilities = caps(std::move(tokens))}};
}

Claim with(std::vector<std::string> tokens, Millis wait = 0ms) {
  return {.worker = worker("w1"), .capabilities = caps(std::move(tokens)), .wait = wait};
}

TEST_P(Conformance, WorkerGetsOnlyWhatItCanRun) {
  submit(requiring({"gpu", "eu"}));
  const auto claimed_with = [&](std::vector<std::string> tokens) {
    return must(run(with(std::move(tokens)))).executions.size();
  };
  EXPECT_EQ(claimed_with({}), 0u);
  EXPECT_EQ(claimed_with({"gpu"}), 0u);
  EXPECT_EQ(claimed_with({"GPU", "eu"}), 0u);
  EXPECT_EQ(claimed_with({"eu", "gpu", "ssd"}), 1u);
}

TEST_P(Conformance, WorkerIsGivenWhatIsBehindThatWhichItCannotRun) {
  for (int i = 0; i < 150; ++i) submit(requiring({fmt::format("gpu-{}", i)}));
  advance(1ms);
  const auto plain = submit();
  EXPECT_EQ(claim().id, plain);
}

TEST_P(Conformance, PollOfAWorkerThatCannotRunItChangesNothing) {
  const auto id = submit(requiring({"gpu"}));
  const auto before = info(id);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(must(run(with({"cpu"}))).executions.empty());
  EXPECT_EQ(must(run(Grant{.worker = worker("w2")})).execution, std::nullopt);
  EXPECT_EQ(info(id), before);
  EXPECT_EQ(must(run(with({"gpu"}))).executions.at(0).id, id);
}

TEST_P(Conformance, TwoWorkersTogetherAreNotOneThatIsCapable) {
  const auto id = submit(requiring({"cuda", "gpu"}));
  auto gpu = start(with({"gpu"}, wake_up_max));
  auto cuda = start(with({"cuda"}, wake_up_max));
  EXPECT_EQ(must(run(with({"cuda", "gpu"}))).executions.at(0).id, id);
  submit(requiring({"gpu"}));
  submit(requiring({"cuda"}));
  EXPECT_EQ(must(gpu.get()).executions.size(), 1u);
  EXPECT_EQ(must(cuda.get()).executions.size(), 1u);
}

TEST_P(Conformance, WaitingWorkerThatIsCapableWakesAlthoughOthersWaitLonger) {
  std::vector<test::Started<Claim>> incapable;
  for (int i = 0; i < 5; ++i) incapable.push_back(start(with({"cpu"}, wake_up_max)));
  auto capable = start(with({"gpu"}, wake_up_max));
  const auto id = submit(requiring({"gpu"}));
  EXPECT_EQ(woken(capable).id, id);
  for (int i = 0; i < 5; ++i) submit(requiring({"cpu"}));
  for (auto& each : incapable) EXPECT_EQ(must(each.get()).executions.size(), 1u);
}

TEST_P(Conformance, EveryTokenThatCanBeRequiredCanBeOffered) {
  for (const char* token : {"region=eu", "东京-gpu", "ключ", "\u2603", "a/b:c"}) {
    const auto id = submit(requiring({token}));
    EXPECT_EQ(must(run(with({token}))).executions.at(0).id, id) << token;
  }
}

TEST_P(Conformance, LargestSetsOfCapabilitiesMatch) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < limits::capability_tokens_max; ++i)
    tokens.push_back(fmt::format("capability-{}", i));
  const auto id = submit(requiring(tokens));
  EXPECT_EQ(must(run(with(tokens))).executions.at(0).id, id);
}

TEST_P(Conformance, ClaimOfOneExecutionNamesWhatTheWorkerLacks) {
  const auto id = submit(requiring({"gpu", "cuda", "eu"}));
  auto lacking = claim_of(id);
  lacking.capabilities = caps({"eu"});
  const auto refused = run(lacking);
  EXPECT_EQ(refused.error().code, Errc::capability_mismatch);
  EXPECT_THAT(refused.error().details, ::testing::Contains(Error::Detail{"missing", "cuda,gpu"}));
  EXPECT_EQ(must(run(with({"gpu", "cuda", "eu"}))).executions.size(), 1u);
}

TEST_P(Conformance, RefusedWorkerDoesNotDisturbTheOneWithTheGrant) {
  const auto id = submit(requiring({"gpu"}));
  const Grant grant{.worker = worker("able"), .capabilities = caps({"gpu"})};
  EXPECT_EQ(must(run(grant)).execution->id, id);
  EXPECT_TRUE(must(run(with({"cpu"}))).executions.empty());
  EXPECT_EQ(error_of(claim_of(id, "other")), Errc::grant_already_exists);
  EXPECT_TRUE(run(ClaimGranted{.id = id, .worker = worker("able")}));
}

TEST_P(Conformance, CapabilitiesAreStillRequiredAfterARestartARetryAndALostLease) {
  auto retried = requiring({"gpu"});
  retried.policy.retry = RetryPolicy{.backoff = FixedBackoff{0ms}};
  submit(retried);
  home_->restart();
  EXPECT_EQ(claimable(), 0u);
  must(run(failure(must(run(with({"gpu"}))).executions.at(0))));
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(must(run(with({"gpu"}))).executions.size(), 1u);
  pass(lease_ttl);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(must(run(with({"gpu"}))).executions.size(), 1u);
}

}  // namespace
}  // namespace ff::conformance
