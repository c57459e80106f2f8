#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

Submit keyed(const char* text, std::string payload = "in") {
  return {.idempotency_key = key(text), .kind = greet, .payload = std::move(payload)};
}

TEST_P(Conformance, RepeatedSubmitWithAKeyAnswersWithTheFirstId) {
  const auto first = must(run(keyed("order-7")));
  EXPECT_FALSE(first.duplicate);
  EXPECT_EQ(info(first.id).idempotency_key, key("order-7"));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(must(run(keyed("order-7"))),
              (SubmitReply{.id = first.id, .duplicate = true, .state = ExecutionState::waiting}));
  EXPECT_EQ(claim().id, first.id);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, SubmitWithAKnownKeyAndOtherContentIsRefused) {
  const auto first = submit(keyed("k", "first"));
  const auto refused = run(keyed("k", "second"));
  EXPECT_EQ(refused.error().code, Errc::duplicate_mismatch);
  EXPECT_THAT(refused.error().details, ::testing::Contains(Error::Detail{"id", first.str()}));
  EXPECT_EQ(claim().payload, "first");
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, ManySubmitsWithOneKeyAtOnceMakeOneExecution) {
  std::vector<test::Started<Submit>> submits;
  for (int i = 0; i < 20; ++i) submits.push_back(start(keyed("k")));
  std::set<ExecutionId> ids;
  int made = 0;
  for (auto& each : submits) {
    const auto reply = must(each.get());
    ids.insert(reply.id);
    made += reply.duplicate ? 0 : 1;
  }
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_EQ(made, 1);
}

TEST_P(Conformance, SameKeyInAnotherNamespaceIsAnotherExecution) {
  const auto in = [&](const char* tenant) {
    auto submit = keyed("k");
    submit.ns = ns(tenant);
    return must(run(submit));
  };
  EXPECT_FALSE(in("a").duplicate);
  EXPECT_FALSE(in("b").duplicate);
  EXPECT_TRUE(in("a").duplicate);
}

TEST_P(Conformance, NamespaceAndKeyAreNeverTakenForAnother) {
  constexpr std::array<std::pair<const char*, const char*>, 8> pairs{{{"a.b", "c"},
                                                                      {"a", "b.c"},
                                                                      {"a-b", "c"},
                                                                      {"a", "b-c"},
                                                                      {"a", "b:c"},
                                                                      {"a", ":b:c"},
                                                                      {"ab", "c"},
                                                                      {"a", "bc"}}};
  for (const auto& [tenant, text] : pairs) {
    auto submit = keyed(text);
    submit.ns = ns(tenant);
    EXPECT_FALSE(must(run(submit)).duplicate) << tenant << " " << text;
  }
}

TEST_P(Conformance, EveryTextIsAKeyLikeAnyOther) {
  for (const char* text : {"ff:noop:", "x-ff:noop:{fp:1}", "{fp:1}", "ключ", "%00", "\"'\\"}) {
    const auto first = must(run(keyed(text)));
    EXPECT_FALSE(first.duplicate) << text;
    EXPECT_EQ(must(run(keyed(text))).id, first.id) << text;
  }
}

TEST_P(Conformance, KeyIsFreeAgainAfterItsWindow) {
  auto hour = keyed("hour");
  hour.policy.dedup_window = 1h;
  const auto first = submit(hour);
  const auto first_of_day = submit(keyed("day"));
  pass(1h - 1ms);
  EXPECT_TRUE(must(run(hour)).duplicate);
  pass(1ms);
  EXPECT_NE(submit(hour), first);
  EXPECT_TRUE(must(run(hour)).duplicate) << "of the second one";
  EXPECT_EQ(submit(keyed("day")), first_of_day) << "a day is the default";
  pass(23h);
  EXPECT_NE(submit(keyed("day")), first_of_day);
}

TEST_P(Conformance, KeyIsRememberedAfterTheEndOfItsExecution) {
  auto brief = keyed("k");
  brief.policy = {.dedup_window = 1h, .retention = 0ms};
  const auto id = submit(brief);
  must(run(complete(claim())));
  pass(1h - 1ms);
  const auto again = must(run(brief));
  EXPECT_EQ(again, (SubmitReply{.id = id, .duplicate = true, .state = ExecutionState::completed}));
  pass(1ms);
  EXPECT_FALSE(must(run(brief)).duplicate);
}

TEST_P(Conformance, KeyStaysWithItsNewExecutionWhenTheOldOneIsRemoved) {
  auto brief = keyed("k");
  brief.policy = {.dedup_window = 1h, .retention = 2h};
  const auto old = submit(brief);
  must(run(complete(claim())));
  pass(90min);
  const auto young = submit(brief);
  EXPECT_NE(young, old);
  pass(40min);
  EXPECT_EQ(error_of(GetExecution{old}), Errc::execution_not_found);
  EXPECT_EQ(submit(brief), young);
}

TEST_P(Conformance, KeyIsRememberedAcrossARestart) {
  const auto first = submit(keyed("k"));
  home_->restart();
  EXPECT_EQ(must(run(keyed("k"))),
            (SubmitReply{.id = first, .duplicate = true, .state = ExecutionState::waiting}));
  EXPECT_EQ(error_of(keyed("k", "other")), Errc::duplicate_mismatch);
}

TEST_P(Conformance, SubmitThatIsRefusedDoesNotTakeItsKey) {
  auto wrong = keyed("k");
  wrong.priority = 9001;
  EXPECT_EQ(error_of(wrong), Errc::invalid_input);
  EXPECT_FALSE(must(run(keyed("k"))).duplicate);
}

TEST_P(Conformance, DuplicateTellsTheStateOfNow) {
  submit(keyed("k"));
  const auto claimed = claim();
  EXPECT_EQ(must(run(keyed("k"))).state, ExecutionState::active);
  must(run(complete(claimed)));
  EXPECT_EQ(must(run(keyed("k"))).state, ExecutionState::completed);
}

}  // namespace
}  // namespace ff::conformance
