#include "store/valkey/calls/joined_calls.hpp"

#include <gtest/gtest.h>

#include "store/valkey/calls/answers.hpp"

namespace ff::valkey_store {
namespace {

Reply text(std::string bytes) { return {std::move(bytes)}; }

std::string shown(std::vector<Reply> list) { return to_text(Reply{std::move(list)}); }

core::Create create() {
  return {.id = {}, .submit = {.kind = *Kind::parse("work"), .payload = "bytes"}, .minted = true};
}

TEST(JoinedCalls, ALeaseHasItsValuesOneByOne) {
  const std::vector<Reply> joined{
      {1}, text("OK"), text("event"), text("default\x1fmain\x1f\x1f"), text("tag"), text("value")};
  EXPECT_EQ(shown(lease_answer(joined)),
            R"([1, "OK", "event", "default", "main", "", "", "tag", "value"])");
  EXPECT_EQ(shown(lease_answer({{0}, text("execution_not_found")})),
            R"([0, "execution_not_found"])");
}

TEST(JoinedCalls, EachGetsItsOwnAnswer) {
  std::vector<Reply> answer{{1}, text("OK")};
  answer.push_back({std::vector<Reply>{{1}, text("OK"), text("event")}});
  answer.push_back({ReplyError{"ERR it broke"}});
  const auto answers = answers_of_joined(std::move(answer), 2);
  EXPECT_EQ(shown(*answers[0]), R"([1, "OK", "event"])");
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, Errc::internal);
}

TEST(JoinedCalls, WhatCannotBeReadIsAnErrorForAll) {
  const auto too_few = answers_of_joined(std::vector<Reply>{{1}, text("OK")}, 2);
  EXPECT_EQ(too_few[1].error().code, Errc::malformed_response);
  const auto failed = answers_of_joined(fail(Errc::timed_out, "no answer"), 2);
  EXPECT_EQ(failed[0].error().code, Errc::timed_out);
}

TEST(JoinedCalls, ASubmitThatNeedsMoreGoesByItself) {
  auto plain = create();
  EXPECT_EQ(joinable_call_for(plain)->own[0], "=bytes");
  auto delayed = create();
  delayed.submit.delay_until = TimePoint{Millis{1}};
  EXPECT_FALSE(joinable_call_for(delayed));
  EXPECT_EQ(delayed.submit.payload, "bytes");
  auto retried = create();
  retried.submit.policy.max_replay_count = 3;
  EXPECT_FALSE(joinable_call_for(retried));
}

}  // namespace
}  // namespace ff::valkey_store
