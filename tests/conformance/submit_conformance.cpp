#include "core/execution/partitions.hpp"
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, SubmittedExecutionWaits) {
  const auto id = submit();
  const auto info = must(run(GetExecution{id}));
  EXPECT_EQ(info,
            (ExecutionInfo{.id = id,
                           .ns = default_namespace(),
                           .lane = default_lane(),
                           .kind = *Kind::parse("greet"),
                           .state = ExecutionState::waiting,
                           .state_vector = {.blocking_reason = BlockingReason::waiting_for_worker},
                           .created_at = now()}));
}

TEST_P(Conformance, SubmitWithAKnownIdIsADuplicateAndChangesNothing) {
  const auto id = submit("first");
  const auto again = must(run(Submit{.id = id, .kind = *Kind::parse("greet"), .payload = "first"}));
  EXPECT_EQ(again, (SubmitReply{.id = id, .duplicate = true, .state = ExecutionState::waiting}));
  EXPECT_EQ(claim().payload, "first");
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, SubmitWithAUuidAloneIsPlacedByTheEngine) {
  const auto uuid = id_in(0, 7).uuid();
  const Submit anywhere{.id = ExecutionId{core::partition_by_uuid, uuid}, .kind = greet};
  const auto first = must(run(anywhere));
  EXPECT_FALSE(first.duplicate);
  EXPECT_EQ(first.id.uuid(), uuid);
  EXPECT_EQ(info(first.id).id, first.id);
  EXPECT_EQ(must(run(anywhere)), (SubmitReply{first.id, true, ExecutionState::waiting}));
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
  const auto id = id_in(3, 1);
  const auto with = [&](auto change) {
    Submit submit{.id = id, .kind = greet};
    change(submit);
    return error_of(std::move(submit));
  };
  EXPECT_EQ(with([](Submit& s) { s.priority = 9001; }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) { s.priority = -1; }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) { s.kind = {}; }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) { s.deadline = TimePoint{-1ms}; }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) { s.delay_until = limits::time_max + 1ms; }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) { s.idempotency_key = key("k"); }), Errc::invalid_input);
  EXPECT_EQ(with([](Submit& s) {
              for (std::size_t i = 0; i <= limits::tags_max; ++i) s.tags[std::to_string(i)] = "";
            }),
            Errc::invalid_input);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(error_of(GetExecution{id}), Errc::execution_not_found);
  EXPECT_FALSE(must(run(Submit{.id = id, .kind = greet})).duplicate);
}

TEST_P(Conformance, PolicyBeyondALimitIsRefused) {
  const auto with = [&](Policy policy) {
    return error_of(Submit{.kind = greet, .policy = std::move(policy)});
  };
  const auto retrying = [&](RetryPolicy retry) { return with({.retry = std::move(retry)}); };
  EXPECT_EQ(with({.attempt_timeout = 0ms}), Errc::invalid_input);
  EXPECT_EQ(with({.execution_deadline = -1ms}), Errc::invalid_input);
  EXPECT_EQ(with({.max_reclaim_count = limits::reclaims_max + 1}), Errc::invalid_input);
  EXPECT_EQ(with({.max_replay_count = limits::replays_max + 1}), Errc::invalid_input);
  EXPECT_EQ(with({.dedup_window = 0ms}), Errc::invalid_input);
  EXPECT_EQ(with({.retention = limits::duration_max + 1ms}), Errc::invalid_input);
  EXPECT_EQ(retrying({.max_retries = limits::retries_max + 1}), Errc::invalid_input);
  EXPECT_EQ(retrying({.backoff = FixedBackoff{-1ms}}), Errc::invalid_input);
  EXPECT_EQ(retrying({.backoff = ExponentialBackoff{.multiplier = 0.5}}), Errc::invalid_input);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, SubmitKeepsItsWholePolicy) {
  const Policy policy{.retry = RetryPolicy{.max_retries = 7,
                                           .backoff = ExponentialBackoff{.initial_delay = 5ms,
                                                                         .max_delay = 1h,
                                                                         .multiplier = 1.5,
                                                                         .jitter = true},
                                           .retryable_categories = {"transient", "timeout"}},
                      .attempt_timeout = 1min,
                      .execution_deadline = 2h,
                      .max_reclaim_count = 3,
                      .max_replay_count = 4,
                      .required_capabilities = caps({"gpu", "eu"}),
                      .dedup_window = 5h,
                      .retention = 6h};
  const auto id = submit(Submit{.kind = greet, .policy = policy});
  EXPECT_EQ(info(id).policy, policy);
  home_->restart();
  EXPECT_EQ(info(id).policy, policy);
}

TEST_P(Conformance, SubmitKeepsItsTags) {
  const Tags tags{{"app.key", "value"}, {"app.Any Form", ""}, {"app.größe", "\"1=2,3\""}};
  const auto id = submit(Submit{.kind = greet, .tags = tags});
  EXPECT_EQ(info(id).tags, tags);
  EXPECT_EQ(claim().tags, tags);
}

TEST_P(Conformance, SubmitWithADelayWaitsForItsTime) {
  const auto submitted = must(run(Submit{.kind = greet, .delay_until = now() + 10s}));
  EXPECT_EQ(submitted.state, ExecutionState::delayed);
  EXPECT_EQ(info(submitted.id).delay_until, now() + 10s);
  pass(10s - 1ms);
  EXPECT_EQ(claimable(), 0u);
  pass(1ms);
  EXPECT_EQ(info(submitted.id).delay_until, std::nullopt);
  EXPECT_EQ(claim().id, submitted.id);
}

TEST_P(Conformance, SubmitWithADelayThatHasPassedIsReadyAtOnce) {
  for (const auto until : {now(), now() - 1ms, TimePoint{}}) {
    const auto submitted = must(run(Submit{.kind = greet, .delay_until = until}));
    EXPECT_EQ(submitted.state, ExecutionState::waiting);
    home_->run_scanners();
    EXPECT_EQ(claim().id, submitted.id);
  }
}

TEST_P(Conformance, DelayedExecutionKeepsItsTimeAcrossARestart) {
  const auto id = submit(Submit{.kind = greet, .delay_until = now() + 10s});
  home_->restart();
  EXPECT_EQ(state_of(id), ExecutionState::delayed);
  pass(10s);
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, TheEarlierOfTwoDeadlinesCounts) {
  const auto deadline_of = [&](std::optional<TimePoint> at, std::optional<Millis> in) {
    const Submit submit{.kind = greet, .deadline = at, .policy = {.execution_deadline = in}};
    return info(must(run(submit)).id).deadline;
  };
  EXPECT_EQ(deadline_of(std::nullopt, std::nullopt), std::nullopt);
  EXPECT_EQ(deadline_of(now() + 5s, std::nullopt), now() + 5s);
  EXPECT_EQ(deadline_of(std::nullopt, 7s), now() + 7s);
  EXPECT_EQ(deadline_of(now() + 5s, 7s), now() + 5s);
  EXPECT_EQ(deadline_of(now() + 9s, 7s), now() + 7s);
}

TEST_P(Conformance, PayloadCanBeReadBackInEveryState) {
  const std::string bytes("\0a\0\xff", 4);
  const auto id = submit(bytes);
  EXPECT_EQ(must(run(GetPayload{id})).bytes, bytes);
  const auto claimed = claim();
  EXPECT_EQ(must(run(GetPayload{id})).bytes, bytes);
  must(run(complete(claimed)));
  home_->restart();
  EXPECT_EQ(must(run(GetPayload{id})).bytes, bytes);
  EXPECT_EQ(must(run(GetPayload{submit("")})), Bytes{});
}

TEST_P(Conformance, ExecutionsOfOneLaneAreSpreadOverThePartitions) {
  std::set<PartitionIndex> partitions;
  for (int i = 0; i < 20; ++i) partitions.insert(submit().partition());
  EXPECT_GT(partitions.size(), 5u);
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

TEST_P(Conformance, ContentTypesAndTraceTravelWithTheBytes) {
  const auto trace =
      must(TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  const auto png = must(ContentType::parse("image/png"));
  const auto pdf = must(ContentType::parse("application/pdf"));
  const auto id = submit(
      Submit{.kind = greet, .payload = "picture", .content_type = png, .traceparent = trace});
  EXPECT_EQ(must(run(GetPayload{id})), (Bytes{.bytes = "picture", .content_type = png}));
  EXPECT_EQ(info(id).content_type, png);
  EXPECT_EQ(info(id).traceparent, trace);
  home_->restart();
  const auto claimed = claim();
  EXPECT_EQ(claimed.content_type, png);
  EXPECT_EQ(claimed.traceparent, trace);
  must(run(Complete{.id = id, .fence = claimed.fence, .result = "document", .content_type = pdf}));
  EXPECT_EQ(must(run(GetResult{id})), (Bytes{.bytes = "document", .content_type = pdf}));
}

TEST_P(Conformance, RepeatedSubmitMayComeFromAnotherTraceButNotWithAnotherContentType) {
  Submit first{.idempotency_key = key("k"), .kind = greet};
  first.traceparent =
      must(TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  submit(first);
  auto again = first;
  again.traceparent.reset();
  EXPECT_TRUE(must(run(again)).duplicate);
  again.content_type = must(ContentType::parse("text/plain"));
  EXPECT_EQ(error_of(again), Errc::duplicate_mismatch);
}

TEST_P(Conformance, StateCanBeAskedForAlone) {
  const auto id = submit();
  EXPECT_EQ(must(run(GetState{id})).state, ExecutionState::waiting);
  claim();
  EXPECT_EQ(must(run(GetState{id})).state, ExecutionState::active);
  EXPECT_EQ(error_of(GetState{id_in(7, 7)}), Errc::execution_not_found);
}

}  // namespace
}  // namespace ff::conformance
