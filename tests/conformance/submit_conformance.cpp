#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, SubmittedExecutionWaits) {
  const auto id = submit();
  const auto info = must(run(GetExecution{id}));
  EXPECT_EQ(info, (ExecutionInfo{.id = id,
                                 .ns = default_namespace(),
                                 .lane = default_lane(),
                                 .kind = *Kind::parse("greet"),
                                 .state = ExecutionState::waiting,
                                 .created_at = now()}));
}

TEST_P(Conformance, SubmitWithAKnownIdIsADuplicateAndChangesNothing) {
  const auto id = submit("first");
  const auto again = must(run(Submit{.id = id, .kind = *Kind::parse("greet"), .payload = "first"}));
  EXPECT_EQ(again, (SubmitReply{.id = id, .duplicate = true, .state = ExecutionState::waiting}));
  EXPECT_EQ(claim().payload, "first");
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, SubmitWithAKnownIdAndOtherContentIsRefused) {
  const auto id = submit("first");
  EXPECT_EQ(error_of(Submit{.id = id, .kind = *Kind::parse("greet"), .payload = "second"}),
            Errc::duplicate_mismatch);
  EXPECT_EQ(claim().payload, "first");
}

TEST_P(Conformance, PayloadAndResultAreAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const auto id = submit(bytes);
  const auto claimed = claim();
  EXPECT_EQ(claimed.payload, bytes);
  must(run(complete(claimed, bytes)));
  EXPECT_EQ(must(run(GetResult{id})).bytes, bytes);
}

TEST_P(Conformance, PayloadOfTheLargestSizeIsTakenAndOneByteMoreIsNot) {
  const auto kind = *Kind::parse("greet");
  constexpr std::size_t bytes_max = 1024 * 1024;
  for (const char byte : {'\xff', 'x', '\n', '\0'})
    EXPECT_TRUE(run(Submit{.kind = kind, .payload = std::string(bytes_max, byte)}));
  for (const std::size_t too_many : {bytes_max + 1, 10 * bytes_max})
    EXPECT_EQ(error_of(Submit{.kind = kind, .payload = std::string(too_many, 'x')}),
              Errc::payload_too_large);
}

TEST_P(Conformance, SubmitThatIsRefusedLeavesNothing) {
  SCOPED_TRACE("priority");
  EXPECT_EQ(error_of(Submit{.kind = *Kind::parse("greet"), .priority = 9001}), Errc::invalid_input);
  EXPECT_EQ(error_of(Submit{.kind = Kind{}}), Errc::invalid_input);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, IdOutsideThePartitionsIsRefused) {
  const auto id = *ExecutionId::parse("{fp:256}:01920000-0000-7000-8000-000000000001");
  EXPECT_EQ(error_of(Submit{.id = id, .kind = *Kind::parse("greet")}), Errc::invalid_input);
  EXPECT_EQ(error_of(GetExecution{id}), Errc::invalid_input);
}

TEST_P(Conformance, UnknownExecutionIsNotFound) {
  const auto id = *ExecutionId::parse("{fp:1}:01920000-0000-7000-8000-000000000001");
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(GetResult{id}), Errc::execution_not_found);
  EXPECT_EQ(error_of(Renew{.id = id, .fence = {}}), Errc::execution_not_found);
  EXPECT_EQ(error_of(Complete{.id = id, .fence = {}}), Errc::execution_not_found);
  EXPECT_EQ(error_of(Fail{.id = id, .fence = {}, .reason = "r"}), Errc::execution_not_found);
}

TEST_P(Conformance, EverythingAcknowledgedIsThereAfterARestart) {
  const auto waiting = submit("waiting");
  const auto done = submit("done");
  auto all = claim_by("w1");
  all.max = 2;
  const auto claimed = must(run(all)).executions;
  for (const auto& each : claimed)
    if (each.id == done) must(run(complete(each, "kept")));

  home_->restart();

  EXPECT_EQ(must(run(GetResult{done})).bytes, "kept");
  EXPECT_EQ(state_of(waiting), ExecutionState::active);
  for (const auto& each : claimed)
    if (each.id == waiting) must(run(complete(each)));
}

TEST_P(Conformance, HealthyEngineSaysItsVersion) {
  EXPECT_FALSE(must(run(Health{})).version.empty());
}

}  // namespace
}  // namespace ff::conformance
