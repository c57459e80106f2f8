#include "tests/conformance/suspensions/suspension_conformance.hpp"

namespace ff::conformance {
namespace {

// "name=payload effect", one after the other.
std::string story(const SignalPage& page) {
  std::string all;
  for (const auto& each : page.signals)
    all += fmt::format("{}{}={} {}", all.empty() ? "" : ", ", each.name.str(), each.payload,
                       to_string(each.effect));
  return all;
}

TEST_P(Conformance, SuspendedExecutionResumesOnItsSignal) {
  const auto id = submit("work");
  const auto first = claim("w1");
  EXPECT_EQ(must(run(suspend(first, for_signal("go")))).state, ExecutionState::suspended);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
  EXPECT_EQ(info(id).state_vector.lifecycle_phase, LifecyclePhase::suspended);
  EXPECT_EQ(info(id).state_vector.blocking_reason, BlockingReason::waiting_for_signal);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(must(run(signal_to(id, "stop"))).effect, SignalEffect::signal_ignored_matcher_failed);
  const auto reply = must(run(signal_to(id, "go", "now")));
  EXPECT_EQ(reply.effect, SignalEffect::resume_condition_satisfied);
  EXPECT_EQ(reply.state, ExecutionState::waiting);

  const auto second = claim("w2");
  EXPECT_TRUE(second.resumed);
  EXPECT_EQ(second.payload, "work");
  EXPECT_EQ(second.attempt_index, 0u);
  EXPECT_EQ(second.fence.attempt_id, first.fence.attempt_id);
  EXPECT_EQ(second.wake->cause, WakeCause::signals);
  EXPECT_EQ(story(must(run(GetSignals{.id = id}))),
            "stop= signal_ignored_matcher_failed, go=now resume_condition_satisfied");
  EXPECT_TRUE(run(complete(second)));
  EXPECT_EQ(attempts_of(id), "0 initial by w2: success");
  EXPECT_EQ(leases_of(id),
            "acquired#1 w1, released#1 w1 (suspend), acquired#2 w2, released#2 w2 "
            "(completed)");
}

TEST_P(Conformance, SignalWakesAClaimThatWaits) {
  const auto id = submit();
  must(run(suspend(claim("w1"), for_signal("go"))));
  auto waiting = start(claim_by("w2", wake_up_max));
  await_waiting_claims(1);
  must(run(signal_to(id, "go")));
  EXPECT_EQ(woken(waiting).id, id);
}

TEST_P(Conformance, SignalThatComesBeforeTheSuspensionCounts) {
  const auto id = submit();
  EXPECT_EQ(must(run(signal_to(id, "go"))).effect, SignalEffect::buffered_for_pending_waitpoint);
  const auto claimed = claim();
  const auto reply = must(run(suspend(claimed, for_signal("go"))));
  EXPECT_TRUE(reply.satisfied);
  EXPECT_EQ(reply.state, ExecutionState::active);
  EXPECT_TRUE(run(renew(claimed))) << "the lease goes on";
  auto second = suspend(claimed, for_signal("go"));
  second.suspension_id = SuspensionId{lease_id(7).uuid()};
  EXPECT_FALSE(must(run(second)).satisfied) << "it counted already";
}

TEST_P(Conformance, SignalThatDidNotCountIsKeptForALaterSuspension) {
  const auto id = submit();
  must(run(suspend(claim(), for_signal("first"))));
  must(run(signal_to(id, "second", "2")));
  must(run(signal_to(id, "first", "1")));
  const auto resumed = claim();
  EXPECT_TRUE(must(run(suspend(resumed, for_signal("second")))).satisfied);
}

TEST_P(Conformance, RepeatedSuspendAnswersAsTheFirstTime) {
  const auto id = submit();
  auto command = suspend(claim(), for_signal("go"));
  command.suspension_id = SuspensionId{lease_id(7).uuid()};
  const auto first = must(run(command));
  EXPECT_EQ(must(run(command)), first);
  must(run(signal_to(id, "go")));
  claim("w2");
  EXPECT_EQ(must(run(command)).suspension_id, first.suspension_id) << "also after the resume";
}

TEST_P(Conformance, AnotherSuspendUnderTheSameLeaseIsRefused) {
  const auto id = submit();
  const auto claimed = claim();
  const auto command = suspend(claimed, for_signal("a"));
  const auto first = must(run(command));
  auto other = suspend(claimed, for_signal("b"));
  EXPECT_EQ(error_of(other), Errc::execution_not_active) << "another condition";
  other = command;
  other.waitpoints = {{.key = waitpoint_key("w")}};
  EXPECT_EQ(error_of(other), Errc::execution_not_active) << "other waitpoints";
  other = command;
  other.suspension_id = SuspensionId{lease_id(7).uuid()};
  EXPECT_EQ(error_of(other), Errc::execution_not_active) << "another id";
  EXPECT_EQ(must(run(command)), first) << "the same call";
  must(run(signal_to(id, "a")));
  EXPECT_EQ(claim().id, id) << "the first condition holds";
  EXPECT_EQ(error_of(other), Errc::stale_lease);
}

TEST_P(Conformance, AnotherSuspensionIdUnderTheSameLeaseIsRefused) {
  submit();
  auto command = suspend(claim(), for_signal("a"));
  command.suspension_id = SuspensionId{lease_id(7).uuid()};
  const auto first = must(run(command));
  auto other = command;
  other.suspension_id = SuspensionId{lease_id(8).uuid()};
  EXPECT_EQ(error_of(other), Errc::execution_not_active);
  EXPECT_EQ(must(run(command)), first);
}

TEST_P(Conformance, RepeatedSignalAnswersAsTheFirstTimeAndCountsOnce) {
  const auto id = submit();
  must(run(suspend(claim(), {CountOf{.n = 2}})));
  auto signal = signal_to(id, "vote");
  signal.idempotency_key = signal_key("ann");
  const auto first = must(run(signal));
  EXPECT_EQ(first.effect, SignalEffect::appended_to_waitpoint);
  const auto again = must(run(signal));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.signal_id, first.signal_id);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
  advance(signal.dedup_window);
  EXPECT_FALSE(must(run(signal)).duplicate) << "the key is forgotten";
}

TEST_P(Conformance, SignalPayloadIsBytes) {
  const auto id = submit();
  std::string bytes("\0\xff\x80 \r\n", 6);
  auto signal = signal_to(id, "go", bytes);
  signal.content_type = must(ContentType::parse("application/x-test"));
  signal.source = {.type = "user", .identity = "ann"};
  signal.category = "c";
  signal.correlation_id = "42";
  must(run(signal));
  const auto page = must(run(GetSignals{.id = id}));
  ASSERT_EQ(page.signals.size(), 1u);
  EXPECT_EQ(page.signals[0].payload, bytes);
  EXPECT_EQ(page.signals[0].content_type, signal.content_type);
  EXPECT_EQ(page.signals[0].source, signal.source);
  EXPECT_EQ(page.signals[0].category, "c");
  EXPECT_EQ(page.signals[0].correlation_id, "42");
  EXPECT_EQ(page.signals[0].accepted_at, now());
}

TEST_P(Conformance, SignalsAreReadPageByPage) {
  const auto id = submit();
  for (int i = 0; i < 5; ++i) must(run(signal_to(id, "n", std::to_string(i))));
  const auto first = must(run(GetSignals{.id = id, .limit = 3}));
  EXPECT_EQ(first.signals.size(), 3u);
  ASSERT_TRUE(first.next);
  const auto rest = must(run(GetSignals{.id = id, .from = *first.next, .limit = 3}));
  EXPECT_EQ(rest.signals.size(), 2u);
  EXPECT_FALSE(rest.next);
  EXPECT_EQ(rest.signals.back().payload, "4");
}

TEST_P(Conformance, SignalIsRefusedWhereItCannotCount) {
  const auto id = submit(Submit{.kind = greet, .policy = {.max_signals = 1}});
  auto elsewhere = signal_to(id, "go");
  elsewhere.waitpoint = WaitpointId{lease_id(9).uuid()};
  EXPECT_EQ(error_of(elsewhere), Errc::waitpoint_not_found);
  EXPECT_EQ(error_of(signal_to(id, "go", std::string(limits::signal_bytes_max + 1, 'x'))),
            Errc::payload_too_large);
  must(run(signal_to(id, "go")));
  EXPECT_EQ(error_of(signal_to(id, "go")), Errc::signal_limit_exceeded);
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(signal_to(id, "go")), Errc::target_not_signalable);
  EXPECT_EQ(error_of(signal_to(id_in(id.partition(), 99), "go")), Errc::execution_not_found);
}

TEST_P(Conformance, OperatorResumesWhateverTheConditionIs) {
  const auto id = submit();
  must(run(suspend(claim(), {OperatorOnly{}})));
  EXPECT_EQ(must(run(signal_to(id, "__operator_only__"))).effect,
            SignalEffect::signal_ignored_not_in_condition);
  EXPECT_EQ(must(run(Resume{.id = id, .reason = "checked"})).state, ExecutionState::waiting);
  const auto resumed = claim();
  EXPECT_EQ(resumed.wake->cause, WakeCause::operator_);
  EXPECT_EQ(resumed.wake->reason, "checked");
  EXPECT_EQ(error_of(Resume{.id = id}), Errc::execution_not_suspended);
}

TEST_P(Conformance, ResumeMayBeDelayed) {
  const auto id = submit();
  auto command = suspend(claim(), for_signal("go"));
  command.resume_delay = 10s;
  must(run(command));
  EXPECT_EQ(must(run(signal_to(id, "go"))).state, ExecutionState::delayed);
  EXPECT_EQ(info(id).state_vector.blocking_reason, BlockingReason::waiting_for_resume_delay);
  pass(10s);
  EXPECT_TRUE(claim().resumed);
}

TEST_P(Conformance, SuspensionKeepsWhatIsLeftOfTheAttemptsTime) {
  const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 60s}});
  const auto first = claim();
  advance(20s);
  must(run(suspend(first, for_signal("go"))));
  pass(24h);
  must(run(signal_to(id, "go")));
  EXPECT_EQ(claim().attempt_deadline, now() + 40s);
}

TEST_P(Conformance, TimeoutOfASuspensionActsAsItSays) {
  const auto outcome = [&](TimeoutAction action) {
    const auto id = submit();
    auto command = suspend(claim(), for_signal("go"));
    command.timeout = 10s;
    command.on_timeout = action;
    EXPECT_EQ(must(run(command)).timeout_at, now() + 10s);
    EXPECT_EQ(info(id).suspension_timeout, now() + 10s);
    pass(10s - 1ms);
    EXPECT_EQ(state_of(id), ExecutionState::suspended);
    pass(1ms);
    return info(id);
  };
  EXPECT_EQ(outcome(TimeoutAction::fail).failure_reason, "suspension_timeout:fail");
  EXPECT_EQ(outcome(TimeoutAction::cancel).state, ExecutionState::cancelled);
  EXPECT_EQ(outcome(TimeoutAction::expire).state, ExecutionState::expired);
  const auto escalated = outcome(TimeoutAction::escalate);
  EXPECT_EQ(escalated.state, ExecutionState::suspended);
  EXPECT_EQ(escalated.state_vector.blocking_reason, BlockingReason::paused_by_operator);
  EXPECT_TRUE(must(run(GetSuspension{escalated.id})).suspension->escalated);
  EXPECT_EQ(must(run(signal_to(escalated.id, "go"))).effect, SignalEffect::appended_to_waitpoint)
      << "only an operator resumes it";
  EXPECT_EQ(state_of(escalated.id), ExecutionState::suspended);
  must(run(Resume{.id = escalated.id}));
  must(run(complete(claim())));
  EXPECT_EQ(outcome(TimeoutAction::auto_resume).state, ExecutionState::waiting);
  EXPECT_EQ(claim().wake->cause, WakeCause::timeout);
}

TEST_P(Conformance, SuspensionIsKeptAcrossARestart) {
  const auto id = submit();
  auto command = suspend(claim(), {CountOf{.n = 2}});
  command.state = "half-way";
  command.timeout = 1h;
  command.waitpoints = {{.key = waitpoint_key("deploy")}};
  must(run(command));
  must(run(signal_to(id, "a", "1")));
  home_->restart();
  const auto known = must(run(GetSuspension{id}));
  EXPECT_EQ(known.suspension->state, "half-way");
  EXPECT_EQ(known.suspension->progress, "1 of 2 signals");
  EXPECT_EQ(known.suspension->condition, command.condition);
  EXPECT_EQ(known.waitpoints.size(), 1u);
  EXPECT_EQ(must(run(signal_to(id, "b"))).effect, SignalEffect::resume_condition_satisfied);
  EXPECT_EQ(claim().wake->cause, WakeCause::signals);
}

TEST_P(Conformance, ListAndCountsKnowSuspendedExecutions) {
  const auto id = submit();
  must(run(suspend(claim(), for_signal("go"))));
  submit("other");
  const auto listed = must(run(ListExecutions{.state = ExecutionState::suspended}));
  ASSERT_EQ(listed.executions.size(), 1u);
  EXPECT_EQ(listed.executions[0].id, id);
  EXPECT_EQ(listed.executions[0].suspended_since, now());
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default waiting 1, default suspended 1");
}

TEST_P(Conformance, EventsTellOfSuspensionsAndSignals) {
  const auto id = submit();
  const auto from = must(run(ReadEvents{.id = id})).next;
  must(run(suspend(claim(), {CountOf{.n = 2}})));
  must(run(signal_to(id, "a")));
  must(run(signal_to(id, "b")));
  std::string types;
  for (const auto& event : must(run(ReadEvents{.id = id, .after = from})).events)
    types += std::string(to_string(event.type)) + " ";
  EXPECT_EQ(types, "claimed suspended signalled resumed ");
}

TEST_P(Conformance, CancelAndDeadlineEndASuspendedExecution) {
  const auto id = submit();
  must(run(suspend(claim(), for_signal("go"))));
  EXPECT_EQ(must(run(Cancel{.id = id})).state, ExecutionState::cancelled);
  const auto late = submit(Submit{.kind = greet, .deadline = now() + 10s});
  must(run(suspend(claim(), for_signal("go"))));
  pass(10s);
  EXPECT_EQ(state_of(late), ExecutionState::expired);
  EXPECT_EQ(must(run(ListWaitpoints{.id = id})).waitpoints.size(), 0u);
}

TEST_P(Conformance, ReplayStartsWithoutSignalsAndSteps) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(PutStep{.id = id, .name = step_name("s"), .fence = claimed.fence, .result = "kept"}));
  must(run(signal_to(id, "go", "1")));
  must(run(complete(claimed)));
  must(run(Replay{.id = id}));
  EXPECT_EQ(must(run(GetSignals{.id = id})).signals.size(), 0u);
  EXPECT_EQ(must(run(ListSteps{id})).steps.size(), 0u);
  EXPECT_FALSE(must(run(suspend(claim(), for_signal("go")))).satisfied);
}

TEST_P(Conformance, RemovedExecutionTakesItsSignalsAlong) {
  const auto id = submit(Submit{.id = id_in(3, 1), .kind = greet, .policy = {.retention = 1h}});
  const auto claimed = claim();
  must(run(PutStep{.id = id, .name = step_name("s"), .fence = claimed.fence, .result = "kept"}));
  auto signal = signal_to(id, "go", "1");
  signal.idempotency_key = signal_key("k");
  must(run(signal));
  must(run(waitpoint_of(claimed, "w")));
  must(run(complete(claimed)));
  pass(1h);
  EXPECT_EQ(error_of(GetSignals{.id = id}), Errc::execution_not_found);
  submit(Submit{.id = id_in(3, 1), .kind = greet});
  EXPECT_EQ(must(run(GetSignals{.id = id})).signals.size(), 0u);
  EXPECT_FALSE(must(run(signal)).duplicate) << "the key of the removed one";
  EXPECT_EQ(error_of(GetStep{.id = id, .name = step_name("s")}), Errc::step_not_found);
  EXPECT_EQ(must(run(ListWaitpoints{.id = id})).waitpoints.size(), 0u);
}

TEST_P(Conformance, ConditionsThatCanNeverBeSatisfiedAreRefusedAndTheLeaseStays) {
  submit();
  const auto claimed = claim();
  const auto refused = run(suspend(claimed, {AllOf{{for_signal("a"), {OperatorOnly{}}}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_condition);
  EXPECT_THAT(refused.error().message, ::testing::StartsWith("condition.all[1] "));
  EXPECT_EQ(error_of(suspend(claimed, {TimeoutOnly{}})), Errc::invalid_condition);
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, ConditionThatAsksForMoreSignalsThanThePolicyAllowsIsRefused) {
  submit(Submit{.kind = greet, .policy = {.max_signals = 2}});
  const auto claimed = claim();
  const auto refused = run(suspend(claimed, {AnyOf{{for_signal("a"), {CountOf{.n = 5}}}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_condition);
  EXPECT_EQ(refused.error().message,
            "condition.any[1].count asks for 5 signals, and the policy allows 2");
  EXPECT_TRUE(run(suspend(claimed, {CountOf{.n = 2}})));
}

TEST_P(Conformance, RetryStillLearnsHowTheSuspensionEnded) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  must(run(suspend(claim(), for_signal("paid"))));
  must(run(signal_to(id, "paid")));
  must(run(failure(claim())));
  const auto again = claim();
  EXPECT_EQ(again.attempt_index, 1u);
  ASSERT_TRUE(again.wake);
  EXPECT_EQ(again.wake->cause, WakeCause::signals);
}

// ---- Waitpoints

TEST_P(Conformance, WaitpointCanBeOpenedBeforeTheSuspension) {
  const auto id = submit();
  const auto claimed = claim();
  const auto opened = must(run(waitpoint_of(claimed, "deploy")));
  EXPECT_FALSE(opened.duplicate);
  ASSERT_EQ(opened.waitpoint.tokens.size(), 1u);
  const auto again = must(run(waitpoint_of(claimed, "deploy")));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.waitpoint.info, opened.waitpoint.info);
  const auto listed = must(run(ListWaitpoints{.id = id})).waitpoints;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].state, WaitpointState::pending);

  EXPECT_EQ(must(run(AnswerWaitpoint{.token = opened.waitpoint.tokens[0].token,
                                     .signal = signal_name("approve")}))
                .effect,
            SignalEffect::buffered_for_pending_waitpoint);
  auto command = suspend(claimed, {OneSignal{.waitpoint = waitpoint_key("deploy")}});
  command.waitpoints = {{.key = waitpoint_key("deploy")}};
  EXPECT_TRUE(must(run(command)).satisfied);
}

TEST_P(Conformance, TokenAnswersItsWaitpointOnce) {
  const auto id = submit();
  const auto suspended = must(run(ask_three(claim())));
  ASSERT_EQ(suspended.waitpoints.size(), 1u);
  ASSERT_EQ(suspended.waitpoints[0].tokens.size(), 3u);
  const auto& tokens = suspended.waitpoints[0].tokens;
  EXPECT_EQ(tokens[0].approver, "ann");
  const auto before = must(run(ReadWaitpoint{tokens[0].token}));
  EXPECT_EQ(before.question->title, "Deploy?");
  EXPECT_EQ(before.approver, "ann");
  EXPECT_FALSE(before.answer);
  EXPECT_EQ(before.answers, 0u);

  const AnswerWaitpoint yes{
      .token = tokens[0].token, .signal = signal_name("approve"), .comment = "fine"};
  EXPECT_EQ(must(run(yes)).effect, SignalEffect::appended_to_waitpoint);
  EXPECT_TRUE(must(run(yes)).duplicate);
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[0].token, .signal = signal_name("reject")}),
            Errc::waitpoint_answered);
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[1].token, .signal = signal_name("maybe")}),
            Errc::invalid_input);
  const auto view = must(run(ReadWaitpoint{tokens[0].token}));
  EXPECT_EQ(view.answer, signal_name("approve"));
  EXPECT_EQ(view.answers, 1u);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);

  EXPECT_EQ(
      must(run(AnswerWaitpoint{.token = tokens[1].token, .signal = signal_name("approve")})).effect,
      SignalEffect::resume_condition_satisfied);
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[2].token, .signal = signal_name("approve")}),
            Errc::waitpoint_closed);
  EXPECT_EQ(error_of(ReadWaitpoint{tokens[2].token}), Errc::waitpoint_closed);
  EXPECT_EQ(must(run(ReadWaitpoint{tokens[0].token})).answer, signal_name("approve"));
  const auto signals = must(run(GetSignals{.id = id})).signals;
  ASSERT_EQ(signals.size(), 2u);
  EXPECT_EQ(signals[0].source, (SignalSource{.type = "approver", .identity = "ann"}));
  EXPECT_EQ(signals[0].payload, R"({"comment":"fine"})");
}

TEST_P(Conformance, RejectionEndsAnApproval) {
  submit();
  const auto suspended = must(run(ask_three(claim())));
  EXPECT_EQ(must(run(AnswerWaitpoint{.token = suspended.waitpoints[0].tokens[2].token,
                                     .signal = signal_name("reject")}))
                .effect,
            SignalEffect::resume_condition_satisfied);
}

TEST_P(Conformance, BadTokensOpenNothing) {
  const auto id = submit();
  auto command = suspend(claim(), {OneSignal{.waitpoint = waitpoint_key("w")}});
  command.waitpoints = {{.key = waitpoint_key("w")}};
  const auto token = must(run(command)).waitpoints[0].tokens[0].token;
  const auto answer = [&](std::string text) {
    return error_of(AnswerWaitpoint{.token = std::move(text), .signal = signal_name("go")});
  };
  for (std::size_t at : {token.size() - 1, token.size() / 2}) {
    auto forged = token;
    forged[at] = forged[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(answer(forged), Errc::waitpoint_not_found);
  }
  EXPECT_EQ(answer(token.substr(0, token.size() - 1)), Errc::waitpoint_not_found);
  EXPECT_EQ(answer("x"), Errc::waitpoint_not_found);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
}

TEST_P(Conformance, TokenOfAnEarlierRunIsUseless) {
  const auto id = submit();
  auto command = suspend(claim());
  command.waitpoints = {{.key = waitpoint_key("w")}};
  const auto token = must(run(command)).waitpoints[0].tokens[0].token;
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = token, .signal = signal_name("go")}),
            Errc::waitpoint_closed);
  must(run(Replay{.id = id}));
  auto again = suspend(claim());
  again.waitpoints = {{.key = waitpoint_key("w")}};
  must(run(again));
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = token, .signal = signal_name("go")}),
            Errc::waitpoint_closed);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
}

TEST_P(Conformance, WaitpointExpires) {
  const auto id = submit();
  auto command = waitpoint_of(claim(), "w");
  command.waitpoint.expires_in = 10s;
  const auto opened = must(run(command)).waitpoint;
  EXPECT_EQ(opened.info.expires_at, now() + 10s);
  advance(10s);
  EXPECT_EQ(error_of(SendSignal{.id = id, .name = signal_name("go"), .waitpoint = opened.info.id}),
            Errc::waitpoint_closed);
  EXPECT_EQ(must(run(ListWaitpoints{.id = id})).waitpoints.size(), 0u);
  pass(1ms);
  const auto known = must(run(GetSuspension{id})).waitpoints;
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].close_reason, "never_committed");
}

TEST_P(Conformance, WaitpointIsClosedByItsOwner) {
  const auto id = submit();
  const auto opened = must(run(waitpoint_of(claim(), "w"))).waitpoint;
  EXPECT_EQ(must(run(GetWaitpointTokens{.id = id, .waitpoint = opened.info.id})).tokens.size(), 1u);
  EXPECT_TRUE(must(run(CloseWaitpoint{.id = id, .waitpoint = opened.info.id})).closed);
  EXPECT_FALSE(must(run(CloseWaitpoint{.id = id, .waitpoint = opened.info.id})).closed);
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = opened.tokens[0].token, .signal = signal_name("x")}),
            Errc::waitpoint_closed);
  EXPECT_EQ(error_of(GetWaitpointTokens{.id = id, .waitpoint = opened.info.id}),
            Errc::waitpoint_closed);
}

TEST_P(Conformance, OpenWaitpointsAreListedPageByPage) {
  const auto id = submit();
  const auto claimed = claim();
  for (const auto* key : {"a", "b", "c"}) must(run(waitpoint_of(claimed, key)));
  const auto first = must(run(ListWaitpoints{.id = id, .limit = 2}));
  EXPECT_EQ(first.waitpoints.size(), 2u);
  ASSERT_TRUE(first.next);
  const auto rest = must(run(ListWaitpoints{.id = id, .limit = 2, .cursor = first.next}));
  ASSERT_EQ(rest.waitpoints.size(), 1u);
  EXPECT_EQ(rest.waitpoints[0].key, waitpoint_key("c"));
  EXPECT_FALSE(rest.next);
}

TEST_P(Conformance, ManySuspensionsLeaveOneRecordBehind) {
  const auto id = submit();
  for (int round = 0; round < 20; ++round) {
    auto command = suspend(claim(), for_signal("go"));
    command.waitpoints = {{.key = waitpoint_key("w")}};
    must(run(command));
    must(run(signal_to(id, "go")));
  }
  EXPECT_EQ(must(run(GetSuspension{id})).waitpoints.size(), 1u);
}

TEST_P(Conformance, AnswersOfPeopleCannotBeForged) {
  const auto id = submit();
  must(run(ask_three(claim())));
  auto forged = signal_to(id, "approve");
  forged.source = {.type = "approver", .identity = "ann"};
  EXPECT_EQ(error_of(forged), Errc::invalid_input);
  auto blocking = signal_to(id, "noise");
  blocking.idempotency_key = signal_key("answer:x");
  EXPECT_EQ(error_of(blocking), Errc::invalid_input);
  EXPECT_EQ(error_of(signal_to(id, "*")), Errc::invalid_input);
}

TEST_P(Conformance, TokenOfOtherPeopleOpensNoWaitpointWithTheSameId) {
  const auto id = submit();
  auto asked = ask_three(claim());
  asked.waitpoints[0].id = WaitpointId{lease_id(5).uuid()};
  const auto tokens = must(run(asked)).waitpoints[0].tokens;
  must(run(Cancel{.id = id}));
  must(run(Replay{.id = id}));
  auto others = ask_three(claim());
  others.waitpoints[0].id = asked.waitpoints[0].id;
  others.waitpoints[0].question->approvers = {"dee", "eve"};
  must(run(others));
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[0].token, .signal = signal_name("approve")}),
            Errc::waitpoint_closed);
}

TEST_P(Conformance, EarlierSuspensionIdUnderANewLeaseSuspendsAnew) {
  const auto id = submit();
  auto first = suspend(claim("w1"), for_signal("go"));
  first.suspension_id = SuspensionId{lease_id(7).uuid()};
  must(run(first));
  must(run(Resume{.id = id}));
  auto second = suspend(claim("w2"), for_signal("go"));
  second.suspension_id = first.suspension_id;
  EXPECT_EQ(must(run(second)).state, ExecutionState::suspended);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
}

// ---- Steps

TEST_P(Conformance, StepIsKeptOnceUnderTheLease) {
  const auto id = submit();
  const auto claimed = claim();
  PutStep step{.id = id,
               .name = step_name("mail"),
               .fence = claimed.fence,
               .result = std::string("\0\xff", 2),
               .content_type = must(ContentType::parse("application/x-test"))};
  EXPECT_FALSE(must(run(step)).duplicate);
  auto other = step;
  other.result = "other";
  EXPECT_TRUE(must(run(other)).duplicate);
  const auto kept = must(run(GetStep{.id = id, .name = step.name}));
  EXPECT_EQ(kept.bytes, step.result);
  EXPECT_EQ(kept.content_type, step.content_type);
  const auto listed = must(run(ListSteps{id})).steps;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].bytes, 2u);
  EXPECT_EQ(error_of(GetStep{.id = id, .name = step_name("none")}), Errc::step_not_found);
  must(run(RevokeLease{.id = id}));
  step.name = step_name("late");
  EXPECT_EQ(error_of(step), Errc::lease_revoked);
}

TEST_P(Conformance, StepsSurviveARetryAndARestart) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  const auto claimed = claim();
  must(run(PutStep{.id = id, .name = step_name("s"), .fence = claimed.fence, .result = "kept"}));
  must(run(failure(claimed)));
  home_->restart();
  claim();
  EXPECT_EQ(must(run(GetStep{.id = id, .name = step_name("s")})).bytes, "kept");
}

}  // namespace
}  // namespace ff::conformance
