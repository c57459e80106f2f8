// A claim names the kinds that it takes.
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

class ClaimKinds : public Conformance {
 protected:
  ExecutionId submit_kind(const char* name, std::int32_t priority = 0) {
    return submit(Submit{.kind = kind(name), .priority = priority});
  }
  // Into one partition, where they stand in one queue.
  ExecutionId submit_to_partition(const char* name, std::uint16_t number) {
    return submit(Submit{.id = id_in(0, number), .kind = kind(name)});
  }
  void submit_backlog(const char* name, std::uint16_t count) {
    SubmitMany many;
    for (std::uint16_t number = 0; number < count; ++number) {
      many.executions.push_back({.id = id_in(0, number), .kind = kind(name)});
      if (many.executions.size() < limits::batch_items_max && number + 1 < count) continue;
      for (const auto& each : must(run(std::exchange(many, {}))).results) must(each);
    }
  }
  Claim of(std::vector<Kind> kinds, Millis wait = 0ms, std::uint32_t max = 1) {
    return {.worker = worker("w1"),
            .kinds = std::move(kinds),
            .max = max,
            .lease_ttl = lease_ttl,
            .wait = wait};
  }
  std::vector<std::string> claimed_kinds(Claim claim) {
    std::vector<std::string> kinds;
    for (const auto& each : must(run(std::move(claim))).executions)
      kinds.push_back(each.kind.str());
    return kinds;
  }
  const Kind a = kind("a");
  const Kind b = kind("b");
  const Kind c = kind("c");
};
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(ClaimKinds, OnlyTheNamedKindsAreClaimed) {
  for (const char* name : {"a", "b", "c", "a", "b"}) submit_kind(name);
  EXPECT_THAT(claimed_kinds(of({kind("d")}, 0ms, 10)), IsEmpty());
  EXPECT_THAT(claimed_kinds(of({b}, 0ms, 10)), ElementsAre("b", "b"));
  EXPECT_THAT(claimed_kinds(of({c, a, c}, 0ms, 10)), UnorderedElementsAre("a", "a", "c"));
}

TEST_P(ClaimKinds, AClaimThatNamesNoneTakesAll) {
  for (const char* name : {"a", "b", "c"}) submit_kind(name);
  EXPECT_THAT(claimed_kinds(of({}, 0ms, 10)), UnorderedElementsAre("a", "b", "c"));
}

TEST_P(ClaimKinds, TheBestOfTheNamedKindsComesFirst) {
  submit_kind("a", 1);
  submit_kind("b", 3);
  submit_kind("c", 9);
  submit_kind("a", 2);
  EXPECT_THAT(claimed_kinds(of({a, b}, 0ms, 10)), ElementsAre("b", "a", "a"));
}

TEST_P(ClaimKinds, AGrantIsForANamedKind) {
  submit_kind("a", 9);
  const auto wanted = submit_kind("b");
  EXPECT_EQ(must(run(Grant{.worker = worker("w1"), .kinds = {c}})).execution, std::nullopt);
  EXPECT_EQ(must(run(Grant{.worker = worker("w1"), .kinds = {b, c}})).execution->id, wanted);
}

TEST_P(ClaimKinds, AWaitingClaimWakesForItsKindAndNotForAnother) {
  auto first = start(of({a}, wake_up_max));
  await_waiting_claims(1);
  auto second = start(of({b}, wake_up_max));
  await_waiting_claims(2);
  const auto for_second = submit_kind("b");
  EXPECT_EQ(woken(second).id, for_second);
  const auto for_first = submit_kind("a");
  EXPECT_EQ(woken(first).id, for_first);
}

TEST_P(ClaimKinds, WorkOfAnotherKindWakesAWaitingClaimThatTakesAll) {
  auto picky = start(of({a}, wake_up_max));
  await_waiting_claims(1);
  auto any = start(of({}, wake_up_max));
  await_waiting_claims(2);
  const auto id = submit_kind("b");
  EXPECT_EQ(woken(any).id, id);
  submit_kind("a");
  EXPECT_EQ(woken(picky).kind, a);
}

TEST_P(ClaimKinds, EachOfManyWaitingClaimsGetsItsKind) {
  std::vector<test::Started<Claim>> waiting;
  for (int i = 0; i < 6; ++i) waiting.push_back(start(of({i % 2 ? a : b}, wake_up_max)));
  await_waiting_claims(6);
  for (int i = 0; i < 6; ++i) submit_kind(i < 3 ? "a" : "b");
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(woken(waiting[static_cast<std::size_t>(i)]).kind, i % 2 ? a : b);
}

// Workers of the old release run beside those of the new one, which know one kind more.
TEST_P(ClaimKinds, ARollingDeployFailsNothing) {
  for (int i = 0; i < 6; ++i) submit_kind(i % 2 ? "a" : "b");
  const auto finish_all = [&](std::vector<Kind> kinds) {
    for (auto& each : must(run(of(std::move(kinds), 0ms, 10))).executions)
      must(run(complete(each)));
  };
  finish_all({a});
  EXPECT_EQ(must(run(ListExecutions{.state = ExecutionState::waiting})).executions.size(), 3u);
  finish_all({a, b});
  EXPECT_EQ(must(run(ListExecutions{.state = ExecutionState::completed})).executions.size(), 6u);
}

TEST_P(ClaimKinds, AKindBehindManyOthersIsClaimedAtOnce) {
  submit_backlog("a", 2'000);
  advance(1ms);
  submit_to_partition("b", 3'000);
  EXPECT_THAT(claimed_kinds(of({c})), IsEmpty());
  EXPECT_THAT(claimed_kinds(of({b})), ElementsAre("b"));
  EXPECT_THAT(claimed_kinds(of({b})), IsEmpty());
  auto waiting = start(of({b}, wake_up_max));
  await_waiting_claims(1);
  const auto id = submit_to_partition("b", 3'001);
  EXPECT_EQ(woken(waiting).id, id);
  EXPECT_THAT(claimed_kinds(of({}, 0ms, 2)), ElementsAre("a", "a"));
}

TEST_P(ClaimKinds, LostWorkIsForTheKindsOfTheNextWorker) {
  submit_kind("a");
  must(run(of({a})));
  pass(lease_ttl + 1ms);
  EXPECT_THAT(claimed_kinds(of({b})), IsEmpty());
  EXPECT_THAT(claimed_kinds(of({a})), ElementsAre("a"));
}

TEST_P(ClaimKinds, AFreedSlotWakesTheClaimOfItsKind) {
  const auto quota = must(run(CreateQuota{.spec = {.max_concurrent = 1}})).id;
  const auto under_quota = [&](const char* name) {
    return submit(Submit{.kind = kind(name), .policy = {.quota = quota}});
  };
  under_quota("a");
  const auto running = must(run(of({a}))).executions.at(0);
  const auto next = under_quota("b");
  auto other = start(of({a}, wake_up_max));
  await_waiting_claims(1);
  auto waiting = start(of({b}, wake_up_max));
  await_waiting_claims(2);
  must(run(complete(running)));
  EXPECT_EQ(woken(waiting).id, next);
  submit_kind("a");
  EXPECT_EQ(woken(other).kind, a);
}

TEST_P(ClaimKinds, WhyTellsThatTheWorkersOfTheLaneTakeOtherKinds) {
  const auto id = submit_kind("b");
  const auto why = [&] { return must(run(ExplainExecution{id})); };
  must(run(of({a, c})));
  EXPECT_THAT(why().summary, HasSubstr("1 live worker serves lane default, but it does not claim "
                                       "kind b"));
  EXPECT_THAT(why().obstacles.at(0).remedy, HasSubstr("with a handler for kind b"));
  auto any = claim_by("w2");
  any.lanes = {lane("elsewhere")};
  must(run(any));
  EXPECT_THAT(why().summary, HasSubstr("does not claim kind b"));
  must(run(of({a, b})));
  EXPECT_THAT(why().summary, HasSubstr("it runs"));
}

TEST_P(ClaimKinds, TooManyKindsAreRefused) {
  EXPECT_EQ(error_of(of(std::vector(limits::claim_kinds_max + 1, a))), Errc::invalid_input);
  EXPECT_EQ(
      error_of(Grant{.worker = worker("w1"), .kinds = std::vector(limits::claim_kinds_max + 1, a)}),
      Errc::invalid_input);
  EXPECT_EQ(error_or_none(of(std::vector(limits::claim_kinds_max, a))), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(, ClaimKinds, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
