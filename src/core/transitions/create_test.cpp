#include "core/test_support.hpp"

namespace ff::core {
namespace {

Execution created(auto change) {
  auto command = create();
  change(command.submit);
  return after(apply(nullptr, command, t0));
}

// A submit that sets every field, so that each can be changed.
Create full() {
  auto command = create({.retry = RetryPolicy{.backoff = ExponentialBackoff{},
                                              .retryable_categories = {"transient", "timeout"}},
                         .attempt_timeout = 1s,
                         .execution_deadline = 1h,
                         .required_capabilities = capabilities({"gpu"}),
                         .retention = 1h});
  command.submit.delay_until = t0 + 60s;
  command.submit.deadline = t0 + 1h;
  command.submit.tags = {{"app.a", "1"}, {"app.b", "2"}};
  return command;
}

std::string resubmitted(auto change) {
  const auto first = after(apply(nullptr, full(), t0));
  auto again = full();
  change(again.submit);
  return verdict(apply(&first, again, t0 + 1s));
}

ExponentialBackoff& backoff(Submit& submit) {
  return std::get<ExponentialBackoff>(submit.policy.retry->backoff);
}

TEST(Create, MakesAWaitingExecution) {
  const auto step = must(apply(nullptr, create(), t0));
  EXPECT_EQ(step.reply, (SubmitReply{test_id(), false, ExecutionState::waiting}));
  EXPECT_EQ(show(*step.next), "waiting");
  EXPECT_EQ(step.next->created_at, t0);
  EXPECT_EQ(step.next->queued_at, t0);
  EXPECT_EQ(step.payload, "in");
  EXPECT_EQ(step.event, EventType::submitted);
  EXPECT_FALSE(step.archive);
}

TEST(Create, KeepsWhatWasSubmitted) {
  auto command = full();
  command.submit.idempotency_key = *IdempotencyKey::parse("key");
  command.submit.priority = 5;
  const auto execution = after(apply(nullptr, command, t0));
  EXPECT_EQ(execution.priority, 5);
  EXPECT_EQ(execution.tags, command.submit.tags);
  EXPECT_EQ(execution.policy, command.submit.policy);
  EXPECT_EQ(execution.idempotency_key->str(), "key");
  EXPECT_EQ(execution.retention, 1h);
}

TEST(Create, TakesTheEnginesRetentionIfThePolicyHasNone) {
  auto command = create();
  command.retention_default = 5min;
  EXPECT_EQ(after(apply(nullptr, command, t0)).retention, 5min);
}

TEST(Create, IsDelayedUntilATimeThatIsToCome) {
  const auto until = [](TimePoint time) {
    return show(created([&](Submit& s) { s.delay_until = time; }));
  };
  EXPECT_EQ(until(t0 + 1ms), "delayed(until +1)");
  EXPECT_EQ(until(t0), "waiting");
  EXPECT_EQ(until(t0 - 1h), "waiting");
}

TEST(Create, TakesTheEarlierDeadline) {
  const auto deadline = [](std::optional<TimePoint> of_request, std::optional<Millis> of_policy) {
    return created([&](Submit& s) {
             s.deadline = of_request;
             s.policy.execution_deadline = of_policy;
           })
        .deadline;
  };
  EXPECT_EQ(deadline({}, {}), std::nullopt);
  EXPECT_EQ(deadline(t0 + 5s, {}), t0 + 5s);
  EXPECT_EQ(deadline({}, 7s), t0 + 7s);
  EXPECT_EQ(deadline(t0 + 5s, 7s), t0 + 5s);
  EXPECT_EQ(deadline(t0 + 9s, 7s), t0 + 7s);
}

TEST(Create, OfTheSameAgainIsADuplicateInEveryState) {
  for (const auto& existing :
       {waiting(), granted(), delayed(), active(), lapsed(), completed(), failed(), cancelled()}) {
    auto command = create();
    if (show(existing).starts_with("delayed")) command.submit.delay_until = t0 + 60s;
    const auto again = must(apply(&existing, command, t0 + 1h));
    EXPECT_EQ(again.reply, (SubmitReply{test_id(), true, public_state(existing)}));
    EXPECT_FALSE(again.next);
    EXPECT_FALSE(again.payload);
    EXPECT_FALSE(again.event);
  }
}

TEST(Create, UnderAKnownIdempotencyKeyAnswersWithTheFirstId) {
  const auto existing = waiting();
  auto command = create();
  command.id = ExecutionId{8, uuid_of(2)};
  EXPECT_EQ(must(apply(&existing, command, t0)).reply.id, test_id());
}

TEST(Create, IsStillADuplicateAfterPriorityAndTagsChanged) {
  auto existing = after(apply(waiting(), ChangePriority{test_id(), 9}, t0));
  existing = after(apply(existing, SetTags{.id = test_id(), .set = {{"app.k", "v"}}}, t0));
  EXPECT_TRUE(must(apply(&existing, create(), t0)).reply.duplicate);
}

TEST(Create, OfOtherContentIsRefused) {
  EXPECT_EQ(resubmitted([](Submit&) {}), "ok");
  const auto mismatch = "duplicate_mismatch";
  EXPECT_EQ(resubmitted([](Submit& s) { s.ns = *Namespace::parse("other"); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.lane = *LaneId::parse("other"); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.kind = *Kind::parse("other"); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.priority = 6; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.payload = "other"; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.delay_until = t0; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.delay_until.reset(); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.deadline = t0; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.deadline.reset(); }), mismatch);
}

TEST(Create, WithOtherTagsIsRefused) {
  const auto mismatch = "duplicate_mismatch";
  EXPECT_EQ(resubmitted([](Submit& s) { s.tags.clear(); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.tags["app.a"] = "2"; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.tags.erase("app.b"); }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.tags = {{"app.a", "1app.b2"}}; }), mismatch);
}

TEST(Create, WithAnotherPolicyIsRefused) {
  const auto changed = [](auto change) {
    return resubmitted([&](Submit& s) { change(s.policy); });
  };
  const auto mismatch = "duplicate_mismatch";
  EXPECT_EQ(changed([](Policy& p) { p.retry.reset(); }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.attempt_timeout = 2s; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.attempt_timeout.reset(); }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.execution_deadline = 2h; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.max_reclaim_count = 7; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.max_replay_count = 7; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.required_capabilities = capabilities({"cpu"}); }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.dedup_window = 1h; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.retention = 2h; }), mismatch);
  EXPECT_EQ(changed([](Policy& p) { p.retention.reset(); }), mismatch);
}

TEST(Create, WithOtherRetriesIsRefused) {
  const auto mismatch = "duplicate_mismatch";
  EXPECT_EQ(resubmitted([](Submit& s) { s.policy.retry->max_retries = 4; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.policy.retry->backoff = FixedBackoff{}; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { backoff(s).initial_delay = 2s; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { backoff(s).max_delay = 2s; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { backoff(s).multiplier = 2.5; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { backoff(s).jitter = true; }), mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.policy.retry->retryable_categories.pop_back(); }),
            mismatch);
  EXPECT_EQ(resubmitted([](Submit& s) { s.policy.retry->retryable_categories[0] = "x"; }),
            mismatch);
}

// The bytes of this tag are those of the retry policy: only that both are counted tells them apart.
TEST(Create, TellsTagsFromTheRetryPolicy) {
  using namespace std::string_literals;
  auto tagged = create();
  tagged.submit.tags = {{"a\0\0\0\0\0\0\0"s, "\1\0\0\0\0\0\0\0"s + "2" + "\0\0\0\0\0\0\0\0"s}};
  const auto retried = create(retrying(ExponentialBackoff{97ms, 17ms, 2.0, false}, 8));
  const auto first = after(apply(nullptr, tagged, t0));
  EXPECT_EQ(verdict(apply(&first, retried, t0)), "duplicate_mismatch");
}

TEST(Create, NamesTheExecutionThatIsThere) {
  const auto existing = waiting();
  auto other = create();
  other.submit.payload = "other";
  const auto error = apply(&existing, other, t0).error();
  EXPECT_EQ(detail(error, "id"), test_id().str());
  EXPECT_THAT(error.message, ::testing::EndsWith("use a new id"));
  other.submit.idempotency_key = *IdempotencyKey::parse("key");
  EXPECT_THAT(apply(&existing, other, t0).error().message,
              ::testing::EndsWith("use a new idempotency key"));
}

}  // namespace
}  // namespace ff::core
