#include "store/embedded/disk/suspension_records.hpp"

#include <gtest/gtest.h>

#include "core/suspensions/memory_view.hpp"
#include "store/embedded/disk/records.hpp"

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;
using core::t0;

// Waitpoints and a suspension that have everything they can have at once.
core::Waits full_waits() {
  const auto deploy = core::waitpoint_key("deploy");
  const auto approve = core::signal_name("approve");
  core::Suspension suspension{
      .id = SuspensionId{core::uuid_of(1)},
      .lease_id = LeaseId{core::uuid_of(2)},
      .lease_epoch = LeaseEpoch{6},
      .attempt_index = 3,
      .reason = SuspendReason::waiting_for_approval,
      .since = t0,
      .condition = {AnyOf{
          {{AllOf{{{OneSignal{.name = approve, .waitpoint = deploy}}, {OneSignal{}}}}},
           {CountOf{.n = 2, .of = Counted::sources, .name = approve, .waitpoints = {deploy}}},
           {OperatorOnly{}},
           {TimeoutOnly{}}}}},
      .tally = {{{"a"}, {}, {"user:ann", "user:bob"}}},
      .timeout_at = t0 + 1h,
      .on_timeout = TimeoutAction::escalate,
      .escalated = true,
      .resume_delay = 5s,
      .waitpoints = {WaitpointId{core::uuid_of(4)}},
      .satisfied_at_once = true,
      .closed_at = t0 + 2h,
      .close_reason = "resumed"};
  return {.waitpoints = {{.id = WaitpointId{core::uuid_of(4)},
                          .key = deploy,
                          .state = WaitpointState::closed,
                          .created_at = t0,
                          .expires_at = t0 + 3h,
                          .closed_at = t0 + 2h,
                          .close_reason = "resumed",
                          .signals = 5,
                          .counted = 2}},
          .suspension = std::move(suspension),
          .first_uncounted = 7,
          .has_details = true};
}

core::WaitDetails full_details() {
  return {.state = std::string("\0\xff", 2),
          .questions = {{WaitpointId{core::uuid_of(4)},
                         {.title = "Deploy?",
                          .text = "Version 7",
                          .choices = {{core::signal_name("approve"), "Yes"}},
                          .approvers = {"ann", "bob"}}}},
          .passed_over = {0, 3}};
}

TEST(SuspensionRecords, ReadAsTheyWereWritten) {
  const auto id = core::test_id();
  EXPECT_EQ(must(decode_waits(id, encode(full_waits()))), full_waits());
  EXPECT_EQ(must(decode_waits(id, encode(core::Waits{}))), core::Waits{});
  EXPECT_EQ(must(decode_details(id, encode(full_details()))), full_details());

  const core::StoredSignal signal{.index = 9,
                                  .id = SignalId{core::uuid_of(1)},
                                  .name = core::signal_name("go"),
                                  .waitpoint = WaitpointId{core::uuid_of(2)},
                                  .waitpoint_key = core::waitpoint_key("w"),
                                  .source = {.type = "user", .identity = "ann"},
                                  .category = "c",
                                  .correlation_id = "42",
                                  .accepted_at = t0,
                                  .effect = SignalEffect::resume_condition_satisfied,
                                  .counted_for = SuspensionId{core::uuid_of(3)},
                                  .content_type = *ContentType::parse("text/plain")};
  EXPECT_EQ(must(decode_signal(id, 9, encode(signal))), signal);

  const core::KnownSignal known{.key = *SignalKey::parse("k"),
                                .id = signal.id,
                                .effect = SignalEffect::appended_to_waitpoint,
                                .until = t0 + 1h};
  EXPECT_EQ(must(decode_known_signal(id, known.key, encode(known))), known);

  const core::StoredStep step{.name = *StepName::parse("s"),
                              .at = t0,
                              .content_type = *ContentType::parse("text/plain"),
                              .result = std::string("\0\xff", 2)};
  EXPECT_EQ(must(decode_step(id, "s", encode(step))), step);
}

TEST(SuspensionRecords, OfASuspendedExecutionReadAsItWasWritten) {
  core::MemoryView view(core::active());
  must(view.run(Suspend{.id = core::test_id(),
                        .fence = core::fence(1),
                        .suspension_id = SuspensionId{core::uuid_of(1)},
                        .waitpoints = {{.key = core::waitpoint_key("w"), .expires_in = 1h}},
                        .timeout = 2h},
                t0 + 1s));
  EXPECT_EQ(must(decode(core::test_id(), encode(view.execution()))), view.execution());
  must(view.run(Resume{.id = core::test_id(), .reason = "checked"}, t0 + 2s));
  EXPECT_EQ(must(decode(core::test_id(), encode(view.execution()))), view.execution());
}

TEST(SuspensionRecords, DamageIsFound) {
  const auto id = core::test_id();
  const auto is_damage = [](const auto& decoded) {
    return !decoded && decoded.error().code == Errc::store_damaged;
  };
  EXPECT_TRUE(is_damage(decode_signal(id, 0, "")));
  EXPECT_TRUE(is_damage(decode_known_signal(id, *SignalKey::parse("k"), "")));
  EXPECT_TRUE(is_damage(decode_waits(id, "\xff")));
  EXPECT_TRUE(is_damage(decode_details(id, "\xff")));
  EXPECT_TRUE(is_damage(decode_step(id, "", encode(core::StoredStep{}))));
}

}  // namespace
}  // namespace ff::embedded
