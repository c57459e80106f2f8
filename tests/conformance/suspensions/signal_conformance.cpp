// Signals, answers and suspensions that are sent again, and many of them.
#include "tests/conformance/suspensions/suspension_conformance.hpp"

namespace ff::conformance {
namespace {

SignalId signal_id(std::uint16_t n) { return SignalId{lease_id(n).uuid()}; }

TEST_P(Conformance, SignalWithAKnownIdAnswersAsTheFirstTimeAndCountsOnce) {
  const auto id = submit();
  must(run(suspend(claim(), {CountOf{.n = 2}})));
  auto signal = signal_to(id, "vote", "1");
  signal.signal_id = signal_id(1);
  const auto first = must(run(signal));
  EXPECT_EQ(first.effect, SignalEffect::appended_to_waitpoint);
  EXPECT_EQ(must(run(signal)), first);
  EXPECT_EQ(must(run(GetSignals{.id = id})).signals.size(), 1u);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
  must(run(Cancel{.id = id}));
  EXPECT_EQ(must(run(signal)).effect, first.effect) << "also after the end";
}

TEST_P(Conformance, SignalIdsOfOtherExecutionsAreFree) {
  for (std::uint16_t n = 1; n <= 2; ++n) {
    const auto id = submit(Submit{.id = id_in(3, n), .kind = greet});
    must(run(suspend(claim(), {CountOf{.n = 2}})));
    auto signal = signal_to(id, "vote", std::to_string(n));
    signal.signal_id = signal_id(1);
    signal.idempotency_key = signal_key("k");
    for (const auto* round : {"first", "again"}) {
      const auto reply = must(run(signal));
      EXPECT_EQ(reply.signal_id, signal_id(1)) << round;
      EXPECT_EQ(reply.effect, SignalEffect::appended_to_waitpoint) << round;
    }
    signal.signal_id.reset();
    EXPECT_EQ(must(run(signal)).signal_id, signal_id(1)) << "by its key";
    const auto received = must(run(GetSignals{.id = id})).signals;
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].id, signal_id(1));
    EXPECT_EQ(received[0].payload, std::to_string(n));
    must(run(signal_to(id, "vote")));
    EXPECT_EQ(claim().id, id);
  }
}

TEST_P(Conformance, SuspendRepeatedWithoutAnIdIsNoSecondSuspension) {
  const auto id = submit();
  must(run(signal_to(id, "go")));
  const auto claimed = claim();
  auto command = suspend(claimed, for_signal("go"));
  const auto first = must(run(command));
  ASSERT_TRUE(first.satisfied);
  EXPECT_EQ(must(run(command)), first);
  EXPECT_EQ(state_of(id), ExecutionState::active);
  command.condition = for_signal("more");
  EXPECT_FALSE(must(run(command)).satisfied) << "another call";
}

TEST_P(Conformance, LeaseIdThatIsUsedAgainIsAnotherLease) {
  const auto id = submit();
  auto claim = claim_of(id);
  claim.lease_id = lease_id(5);
  const auto first = must(run(suspend(must(run(claim)), for_signal("go"))));
  must(run(signal_to(id, "go")));
  const auto again = must(run(claim));
  ASSERT_EQ(again.fence.lease_id, lease_id(5));
  const auto second = must(run(suspend(again, for_signal("more"))));
  EXPECT_NE(second.suspension_id, first.suspension_id);
  EXPECT_EQ(must(run(GetSuspension{id})).suspension->condition, for_signal("more"));
}

TEST_P(Conformance, AnswerIsRepeatedAlsoAfterTheNextSuspensionBegan) {
  const auto id = submit();
  const auto tokens = must(run(ask_three(claim()))).waitpoints[0].tokens;
  const AnswerWaitpoint no{.token = tokens[0].token, .signal = signal_name("reject")};
  const auto first = must(run(no));
  EXPECT_EQ(first.effect, SignalEffect::resume_condition_satisfied);
  auto next = suspend(claim(), for_signal("go"));
  next.waitpoints = {{.key = waitpoint_key("other")}};
  must(run(next));

  const auto again = must(run(no));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.effect, first.effect);
  EXPECT_EQ(again.progress, "") << "the next suspension is not theirs";
  EXPECT_EQ(must(run(ReadWaitpoint{tokens[0].token})).answer, signal_name("reject"));
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[0].token, .signal = signal_name("approve")}),
            Errc::waitpoint_answered);
  EXPECT_EQ(error_of(AnswerWaitpoint{.token = tokens[1].token, .signal = signal_name("approve")}),
            Errc::waitpoint_closed);
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
}

TEST_P(Conformance, AnswersAreFoundAmongManySignals) {
  const auto id = submit();
  const auto tokens = must(run(ask_three(claim()))).waitpoints[0].tokens;
  for (int i = 0; i < 20; ++i) must(run(signal_to(id, "noise", "payload")));
  must(run(AnswerWaitpoint{.token = tokens[1].token, .signal = signal_name("approve")}));
  EXPECT_EQ(must(run(ReadWaitpoint{tokens[1].token})).answer, signal_name("approve"));
  EXPECT_FALSE(must(run(ReadWaitpoint{tokens[0].token})).answer);
}

TEST_P(Conformance, ApproversTokenIsOneVoteAlsoThroughTheContractsSignal) {
  const auto id = submit();
  const auto asked = must(run(ask_three(claim()))).waitpoints[0];
  DeliverSignal vote{.id = id,
                     .waitpoint = asked.info.id,
                     .token = asked.tokens[0].token,
                     .signal_id = signal_id(1),
                     .name = signal_name("approve"),
                     .source = {.type = "user", .identity = "mallory"}};
  EXPECT_EQ(must(run(vote)).signal.effect, SignalEffect::appended_to_waitpoint);
  vote.signal_id = signal_id(2);
  vote.source.identity = "trudy";
  vote.idempotency_key = signal_key("other");
  EXPECT_TRUE(must(run(vote)).signal.duplicate);
  vote.name = signal_name("maybe");
  EXPECT_EQ(error_of(vote), Errc::invalid_input) << "no choice of the question";
  const auto received = must(run(GetSignals{.id = id})).signals;
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].source, (SignalSource{.type = "approver", .identity = "ann"}));
  EXPECT_EQ(state_of(id), ExecutionState::suspended);
}

TEST_P(Conformance, WhyNamesAnExpiredWaitpointAndTheOperatorAfterAnEscalation) {
  const auto id = submit();
  auto asked = ask_three(claim());
  asked.waitpoints[0].expires_in = 10s;
  asked.timeout = 20s;
  asked.on_timeout = TimeoutAction::escalate;
  must(run(asked));
  const auto why = [&] { return must(run(ExplainExecution{id})).obstacles.at(0); };
  EXPECT_THAT(why().detail, ::testing::HasSubstr("ann, bob, cy have not answered"));
  EXPECT_THAT(why().remedy, ::testing::HasSubstr("ff approve TOKEN"));
  pass(10s);
  EXPECT_THAT(why().detail, ::testing::HasSubstr(
                                "its waitpoint deploy is closed (expired) and takes no answers"));
  EXPECT_THAT(why().remedy, ::testing::StartsWith("ff resume "));
  pass(10s);
  EXPECT_THAT(why().detail, ::testing::HasSubstr("it timed out and waits for an operator"));
  EXPECT_THAT(why().remedy, ::testing::StartsWith("ff resume "));
}

TEST_P(Conformance, OldestClosedWaitpointsOfALeaseAreForgotten) {
  const auto id = submit();
  const auto claimed = claim();
  for (std::size_t n = 0; n < limits::waitpoints_max + 8; ++n) {
    auto opening = waitpoint_of(claimed, "w");
    opening.waitpoint.question = Question{.title = fmt::format("number {}", n)};
    const auto opened = must(run(opening)).waitpoint.info;
    EXPECT_EQ(opened.question->title, fmt::format("number {}", n));
    must(run(CloseWaitpoint{.id = id, .waitpoint = opened.id}));
  }
  const auto known = must(run(GetSuspension{id})).waitpoints;
  EXPECT_EQ(known.size(), limits::waitpoints_max + 1);
  EXPECT_EQ(known.back().question->title, fmt::format("number {}", limits::waitpoints_max + 7));
}

TEST_P(Conformance, SignalThatManySuspensionsPassedOverStillCounts) {
  const auto id = submit();
  must(run(signal_to(id, "noise", "old")));
  const auto claimed = claim();
  for (std::uint8_t round = 1; round <= 5; ++round) {
    must(run(signal_to(id, "go")));
    auto command = suspend(claimed, for_signal("go"));
    command.suspension_id = SuspensionId{lease_id(round).uuid()};
    EXPECT_TRUE(must(run(command)).satisfied);
  }
  home_->restart();
  EXPECT_TRUE(must(run(suspend(claimed, for_signal("noise")))).satisfied);
  EXPECT_FALSE(must(run(suspend(claimed, {CountOf{.n = 1}}))).satisfied) << "all have counted";
}

TEST_P(Conformance, SourcesThatDifferInTypeOrIdentityCountApart) {
  const auto id = submit();
  must(run(suspend(claim(), {CountOf{.n = 3, .of = Counted::sources}})));
  const auto send_from = [&](const char* type, const char* identity) {
    auto signal = signal_to(id, "vote");
    signal.source = {.type = type, .identity = identity};
    return must(run(signal)).effect;
  };
  EXPECT_EQ(send_from("a:b", "c"), SignalEffect::appended_to_waitpoint);
  EXPECT_EQ(send_from("a", "b:c"), SignalEffect::appended_to_waitpoint);
  EXPECT_EQ(send_from("a", "b:c"), SignalEffect::appended_to_waitpoint_duplicate);
  EXPECT_EQ(send_from("a\\", "b:c"), SignalEffect::resume_condition_satisfied);
}

}  // namespace
}  // namespace ff::conformance
