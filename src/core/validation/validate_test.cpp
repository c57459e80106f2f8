#include "core/validation/validate_test.hpp"

#include <flowfabric/limits.hpp>

#include <cmath>

namespace ff::core::validation {
namespace {

template <class Op>
std::string with(Op operation, auto change) {
  change(operation);
  return verdict(operation);
}

Submit submit() { return {.kind = *Kind::parse("greet")}; }
Claim claim() { return {.worker = *WorkerId::parse("w1")}; }
Grant grant() { return {.worker = *WorkerId::parse("w1")}; }

std::string submitted(auto change) { return with(submit(), change); }
std::string claimed(auto change) { return with(claim(), change); }
std::string granted(auto change) { return with(grant(), change); }
std::string with_policy(auto change) {
  return submitted([&](Submit& s) { change(s.policy); });
}
std::string with_retry(auto change) {
  return with_policy([&](Policy& p) {
    p.retry = RetryPolicy{};
    change(*p.retry);
  });
}

Tags tags(std::size_t count) {
  Tags tags;
  for (std::size_t i = 0; i < count; ++i) tags["app." + std::to_string(i)] = "v";
  return tags;
}

// ---- Submit

TEST(ValidateSubmit, TakesWhatIsRight) { EXPECT_EQ(verdict(submit()), "ok"); }

TEST(ValidateSubmit, NeedsEveryName) {
  EXPECT_EQ(submitted([](Submit& s) { s.kind = {}; }), "invalid_input: kind");
  EXPECT_EQ(submitted([](Submit& s) { s.lane = {}; }), "invalid_input: lane");
  EXPECT_EQ(submitted([](Submit& s) { s.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(submitted([](Submit& s) { s.idempotency_key = IdempotencyKey{}; }),
            "invalid_input: idempotency_key");
}

TEST(ValidateSubmit, TakesAnIdOrAKeyButNotBoth) {
  const auto key = *IdempotencyKey::parse("key");
  EXPECT_EQ(submitted([&](Submit& s) { s.idempotency_key = key; }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.id = ExecutionId{255, {}}; }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.id = ExecutionId{256, {}}; }), "invalid_input: id");
  EXPECT_EQ(submitted([&](Submit& s) {
              s.id = id;
              s.idempotency_key = key;
            }),
            "invalid_input: idempotency_key");
}

TEST(ValidateSubmit, LimitsThePriority) {
  EXPECT_EQ(submitted([](Submit& s) { s.priority = 9000; }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.priority = 9001; }), "invalid_input: priority");
  EXPECT_EQ(submitted([](Submit& s) { s.priority = -1; }), "invalid_input: priority");
}

TEST(ValidateSubmit, LimitsThePayload) {
  EXPECT_EQ(submitted([](Submit& s) { s.payload.assign(limits::payload_bytes_max, '\xff'); }),
            "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.payload.resize(limits::payload_bytes_max + 1); }),
            "payload_too_large: payload");
}

TEST(ValidateSubmit, LimitsTimes) {
  EXPECT_EQ(submitted([](Submit& s) { s.delay_until = limits::time_max; }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.delay_until = limits::time_max + 1ms; }),
            "invalid_input: delay_until_ms");
  EXPECT_EQ(submitted([](Submit& s) { s.delay_until = TimePoint{-1ms}; }),
            "invalid_input: delay_until_ms");
  EXPECT_EQ(submitted([](Submit& s) { s.deadline = TimePoint{0ms}; }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.deadline = limits::time_max + 1ms; }),
            "invalid_input: deadline_ms");
}

TEST(ValidateSubmit, LimitsTags) {
  EXPECT_EQ(submitted([](Submit& s) { s.tags = tags(limits::tags_max); }), "ok");
  EXPECT_EQ(submitted([](Submit& s) { s.tags = tags(limits::tags_max + 1); }),
            "invalid_input: tags");
  const auto tagged = [](std::string key, std::string value) {
    return submitted([&](Submit& s) { s.tags = {{key, value}}; });
  };
  EXPECT_EQ(tagged("k." + std::string(126, 'k'), std::string(1024, 'v')), "ok");
  EXPECT_EQ(tagged("k." + std::string(127, 'k'), "v"), "invalid_input: tag key");
  EXPECT_EQ(tagged("k.k", std::string(1025, 'v')), "invalid_input: tag value");
  EXPECT_EQ(tagged("", "v"), "invalid_input: tag key");
  EXPECT_EQ(tagged(bad_utf8, "v"), "invalid_input: tag key");
  EXPECT_EQ(tagged("k.k", bad_utf8), "invalid_input: tag value");
}

TEST(ValidateSubmit, WantsTagKeysOfTheSameFormAsAChangeOfTags) {
  for (const char* wrong : {"customer", "No Pattern", "A.b", "a."}) {
    auto tagged = submit();
    tagged.tags = {{wrong, ""}};
    const auto submitting = validate(tagged, any_partition);
    const auto setting = validate(SetTags{.id = {}, .set = {{wrong, ""}}}, any_partition);
    EXPECT_EQ(submitting.error().code, Errc::invalid_tag_key) << wrong;
    EXPECT_EQ(submitting.error(), setting.error()) << wrong;
  }
}

// ---- Policy

TEST(ValidatePolicy, LimitsDurations) {
  EXPECT_EQ(with_policy([](Policy& p) {
              p.attempt_timeout = p.execution_deadline = p.retention = limits::duration_max;
              p.dedup_window = limits::duration_max;
            }),
            "ok");
  EXPECT_EQ(with_policy([](Policy& p) {
              p.attempt_timeout = p.execution_deadline = p.dedup_window = 1ms;
              p.retention = 0ms;
            }),
            "ok");
  const auto beyond = limits::duration_max + 1ms;
  for (const auto wrong : {Millis{0}, beyond}) {
    EXPECT_EQ(with_policy([&](Policy& p) { p.attempt_timeout = wrong; }),
              "invalid_input: attempt_timeout_ms");
    EXPECT_EQ(with_policy([&](Policy& p) { p.execution_deadline = wrong; }),
              "invalid_input: execution_deadline_ms");
    EXPECT_EQ(with_policy([&](Policy& p) { p.dedup_window = wrong; }),
              "invalid_input: dedup_window_ms");
  }
  for (const auto wrong : {Millis{-1}, beyond})
    EXPECT_EQ(with_policy([&](Policy& p) { p.retention = wrong; }), "invalid_input: retention_ms");
}

TEST(ValidatePolicy, LimitsCounts) {
  EXPECT_EQ(with_policy([](Policy& p) {
              p.max_reclaim_count = limits::reclaims_max;
              p.max_replay_count = limits::replays_max;
            }),
            "ok");
  EXPECT_EQ(with_policy([](Policy& p) { p.max_reclaim_count = p.max_replay_count = 0; }), "ok");
  EXPECT_EQ(with_policy([](Policy& p) { p.max_reclaim_count = limits::reclaims_max + 1; }),
            "invalid_input: max_reclaim_count");
  EXPECT_EQ(with_policy([](Policy& p) { p.max_replay_count = limits::replays_max + 1; }),
            "invalid_input: max_replay_count");
}

TEST(ValidatePolicy, LimitsRetries) {
  EXPECT_EQ(with_retry([](RetryPolicy& r) { r.max_retries = limits::retries_max; }), "ok");
  EXPECT_EQ(with_retry([](RetryPolicy& r) { r.max_retries = limits::retries_max + 1; }),
            "invalid_input: max_retries");
  EXPECT_EQ(with_retry([](RetryPolicy& r) {
              r.retryable_categories.assign(limits::retryable_categories_max,
                                            std::string(limits::category_bytes_max, 'c'));
            }),
            "ok");
  EXPECT_EQ(with_retry([](RetryPolicy& r) {
              r.retryable_categories.assign(limits::retryable_categories_max + 1, "c");
            }),
            "invalid_input: retryable_categories");
  for (const auto& wrong : {std::string(limits::category_bytes_max + 1, 'c'), bad_utf8})
    EXPECT_EQ(with_retry([&](RetryPolicy& r) { r.retryable_categories = {wrong}; }),
              "invalid_input: retryable_categories");
}

TEST(ValidatePolicy, LimitsTheBackoff) {
  const auto backoff = [](Backoff value) {
    return with_retry([&](RetryPolicy& r) { r.backoff = value; });
  };
  const auto beyond = limits::duration_max + 1ms;
  EXPECT_EQ(backoff(FixedBackoff{0ms}), "ok");
  EXPECT_EQ(backoff(FixedBackoff{limits::duration_max}), "ok");
  EXPECT_EQ(backoff(FixedBackoff{-1ms}), "invalid_input: delay_ms");
  EXPECT_EQ(backoff(FixedBackoff{beyond}), "invalid_input: delay_ms");
  EXPECT_EQ(backoff(ExponentialBackoff{0ms, limits::duration_max}), "ok");
  EXPECT_EQ(backoff(ExponentialBackoff{-1ms, 1s}), "invalid_input: initial_delay_ms");
  EXPECT_EQ(backoff(ExponentialBackoff{beyond, 1s}), "invalid_input: initial_delay_ms");
  EXPECT_EQ(backoff(ExponentialBackoff{1s, -1ms}), "invalid_input: max_delay_ms");
  EXPECT_EQ(backoff(ExponentialBackoff{1s, beyond}), "invalid_input: max_delay_ms");
}

TEST(ValidatePolicy, LimitsTheMultiplier) {
  const auto multiplier = [](double value) {
    return with_retry([&](RetryPolicy& r) { r.backoff = ExponentialBackoff{1s, 1s, value}; });
  };
  EXPECT_EQ(multiplier(1), "ok");
  EXPECT_EQ(multiplier(1000), "ok");
  for (const auto wrong : {0.99, 1000.01, -2.0, HUGE_VAL, -HUGE_VAL, std::nan("")})
    EXPECT_EQ(multiplier(wrong), "invalid_input: multiplier") << wrong;
}

// ---- Batches

TEST(ValidateBatch, LimitsTheNumber) {
  EXPECT_EQ(verdict(SubmitMany{}), "invalid_input: executions");
  EXPECT_EQ(verdict(SubmitMany{std::vector(limits::batch_items_max, submit())}), "ok");
  EXPECT_EQ(verdict(SubmitMany{std::vector(limits::batch_items_max + 1, submit())}),
            "invalid_input: executions");
  EXPECT_EQ(verdict(CompleteMany{}), "invalid_input: executions");
  EXPECT_EQ(verdict(CompleteMany{std::vector<Complete>(limits::batch_items_max)}), "ok");
  EXPECT_EQ(verdict(CompleteMany{std::vector<Complete>(limits::batch_items_max + 1)}),
            "invalid_input: executions");
}

TEST(ValidateBatch, LimitsTheBytesAltogether) {
  SubmitMany many{std::vector(16, submit())};
  for (auto& each : many.executions) each.payload.resize(limits::batch_bytes_max / 16);
  EXPECT_EQ(verdict(many), "ok");
  many.executions[3].payload += '.';
  EXPECT_EQ(verdict(many), "payload_too_large: executions");
  CompleteMany results{std::vector<Complete>(16)};
  for (auto& each : results.executions)
    each.result = std::string(limits::batch_bytes_max / 16, 'r');
  EXPECT_EQ(verdict(results), "ok");
  results.executions[3].result->push_back('.');
  EXPECT_EQ(verdict(results), "payload_too_large: executions");
}

// Each is accepted or refused on its own.
TEST(ValidateBatch, LeavesItemsToTheirOwnCheck) {
  EXPECT_EQ(verdict(SubmitMany{{Submit{.kind = {}}}}), "ok");
}

// ---- Claim and grant

TEST(ValidateClaim, NeedsEveryName) {
  EXPECT_EQ(verdict(claim()), "ok");
  EXPECT_EQ(claimed([](Claim& c) { c.worker = {}; }), "invalid_input: worker");
  EXPECT_EQ(claimed([](Claim& c) { c.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(granted([](Grant& g) { g.worker = {}; }), "invalid_input: worker");
  EXPECT_EQ(granted([](Grant& g) { g.ns = {}; }), "invalid_input: namespace");
}

TEST(ValidateClaim, LimitsTheLanes) {
  const auto lanes = [](std::vector<LaneId> value) {
    const auto claim_says = claimed([&](Claim& c) { c.lanes = value; });
    EXPECT_EQ(granted([&](Grant& g) { g.lanes = value; }), claim_says);
    return claim_says;
  };
  EXPECT_EQ(lanes(std::vector(limits::claim_lanes_max, default_lane())), "ok");
  EXPECT_EQ(lanes(std::vector(limits::claim_lanes_max + 1, default_lane())),
            "invalid_input: lanes");
  EXPECT_EQ(lanes({}), "invalid_input: lanes");
  EXPECT_EQ(lanes({default_lane(), LaneId{}}), "invalid_input: lanes");
}

TEST(ValidateClaim, LimitsTheKinds) {
  const auto kinds = [](std::vector<Kind> value) {
    const auto claim_says = claimed([&](Claim& c) { c.kinds = value; });
    EXPECT_EQ(granted([&](Grant& g) { g.kinds = value; }), claim_says);
    return claim_says;
  };
  const auto some = *Kind::parse("some");
  EXPECT_EQ(kinds({}), "ok");
  EXPECT_EQ(kinds(std::vector(limits::claim_kinds_max, some)), "ok");
  EXPECT_EQ(kinds(std::vector(limits::claim_kinds_max + 1, some)), "invalid_input: kinds");
  EXPECT_EQ(kinds({some, Kind{}}), "invalid_input: kinds");
}

TEST(ValidateClaim, LimitsNumbers) {
  EXPECT_EQ(claimed([](Claim& c) { c.max = limits::claim_batch_max; }), "ok");
  EXPECT_EQ(claimed([](Claim& c) { c.max = limits::claim_batch_max + 1; }), "invalid_input: max");
  EXPECT_EQ(claimed([](Claim& c) { c.max = 0; }), "invalid_input: max");
  EXPECT_EQ(claimed([](Claim& c) { c.wait = limits::wait_max; }), "ok");
  EXPECT_EQ(claimed([](Claim& c) { c.wait = limits::wait_max + 1ms; }), "invalid_input: wait_ms");
  EXPECT_EQ(claimed([](Claim& c) { c.wait = -1ms; }), "invalid_input: wait_ms");
  EXPECT_EQ(granted([](Grant& g) { g.grant_ttl = 1ms; }), "ok");
  EXPECT_EQ(granted([](Grant& g) { g.grant_ttl = limits::grant_ttl_max; }), "ok");
  EXPECT_EQ(granted([](Grant& g) { g.grant_ttl = limits::grant_ttl_max + 1ms; }),
            "invalid_input: grant_ttl_ms");
  EXPECT_EQ(granted([](Grant& g) { g.grant_ttl = 0ms; }), "invalid_input: grant_ttl_ms");
}

}  // namespace
}  // namespace ff::core::validation
