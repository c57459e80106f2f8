// Random commands to one execution of the state machine: no store, no clock, only values.
#include <rapidcheck.h>

#include <optional>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include "core/execution/event.hpp"
#include "core/transitions/transitions.hpp"
#include "store/embedded/disk/records.hpp"
#include "tests/property/check.hpp"
#include "tests/property/derived_state.hpp"
#include "tests/property/operation_gen.hpp"

namespace ff::property {

enum class Do : std::uint8_t {
  claim,
  claim_granted,
  claim_held,
  grant,
  renew,
  progress,
  complete,
  fail,
  delay,
  wait_for_children,
  cancel_by_worker,
  cancel,
  revoke,
  priority,
  tags,
  replay,
  timer,
  remove,
  add_child,
  last = add_child,
};
struct CoreStep {
  Do what{};
  Millis later{};         // the clock moves first
  Millis time{};          // of a lease, a grant or a delay
  unsigned who = 0;       // a worker, and its capabilities
  unsigned lease = 0;     // how many leases ago; 0: the newest
  unsigned category = 0;  // of a failure; which timer
};

void showValue(const CoreStep& step, std::ostream& out) {
  constexpr std::array<const char*, 19> names{"claim",
                                              "claim_granted",
                                              "claim_held",
                                              "grant",
                                              "renew",
                                              "progress",
                                              "complete",
                                              "fail",
                                              "delay",
                                              "wait_for_children",
                                              "cancel_by_worker",
                                              "cancel",
                                              "revoke",
                                              "priority",
                                              "tags",
                                              "replay",
                                              "timer",
                                              "remove",
                                              "add_child"};
  static_assert(names.size() == static_cast<std::size_t>(Do::last) + 1);
  out << fmt::format("\n  +{}ms {} time={}ms who={} lease={} category={}", step.later.count(),
                     names[static_cast<std::size_t>(step.what)], step.time.count(), step.who,
                     step.lease, step.category);
}

namespace {

using namespace std::chrono_literals;
using core::apply;
namespace gen = rc::gen;

rc::Gen<CoreStep> core_step() {
  std::vector<Do> verbs;
  for (int i = 0; i <= static_cast<int>(Do::last); ++i) verbs.push_back(static_cast<Do>(i));
  // A claim is the way to most of the states.
  verbs.insert(verbs.end(), {Do::claim, Do::claim, Do::claim, Do::timer, Do::timer, Do::fail});
  return gen::build<CoreStep>(
      gen::set(&CoreStep::what, gen::elementOf(verbs)),
      gen::set(&CoreStep::later, gen::element<Millis>(0ms, 1ms, 1s, 5s, 1min, 25h)),
      gen::set(&CoreStep::time, gen::element<Millis>(30s, 1ms, 5s, 1h)),
      gen::set(&CoreStep::who, gen::inRange(0u, 4u)),
      gen::set(&CoreStep::lease, gen::weightedElement<unsigned>({{6, 0}, {1, 1}, {1, 2}})),
      gen::set(&CoreStep::category, gen::inRange(0u, 5u)));
}

// One execution and all the leases that it had.
class Machine {
 public:
  explicit Machine(const Submission& submission) {
    core::Create create{.id = id_, .submit = {.kind = *Kind::parse("task"), .payload = "in"}};
    create.submit.priority = submission.priority;
    create.submit.policy = submission.policy;
    if (submission.delay) create.submit.delay_until = now_ + *submission.delay;
    if (submission.deadline) create.submit.deadline = now_ + *submission.deadline;
    if (submission.key) create.submit.idempotency_key = *IdempotencyKey::parse("key");
    execution_ = must(apply(nullptr, create, now_)).next.value();
    check_state();
  }

  // False: it was removed.
  bool run(const CoreStep& step) {
    now_ += step.later;
    const auto before = execution_;
    switch (step.what) {
      case Do::claim: decide(lease_grant(step, core::LeaseSource::ready)); break;
      case Do::claim_granted: decide(lease_grant(step, core::LeaseSource::grant)); break;
      case Do::claim_held: decide(lease_grant(step, core::LeaseSource::held)); break;
      case Do::grant:
        decide(core::GrantIssue{.id = id_,
                                .worker = worker_of(step.who),
                                .capabilities = capabilities_of(step.who),
                                .grant_ttl = step.time});
        break;
      case Do::renew: decide(Renew{.id = id_, .fence = fence(step), .lease_ttl = step.time}); break;
      case Do::progress:
        decide(UpdateProgress{.id = id_, .fence = fence(step), .percent = step.category});
        break;
      case Do::complete:
        decide_twice(Complete{.id = id_, .fence = fence(step), .result = "out"});
        break;
      case Do::fail:
        decide_twice(Fail{.id = id_,
                          .fence = fence(step),
                          .reason = "broke",
                          .category = category_of(step.category)});
        break;
      case Do::delay:
        decide_twice(Delay{.id = id_, .fence = fence(step), .until = now_ + step.time - 5s});
        break;
      case Do::wait_for_children:
        decide_twice(WaitForChildren{.id = id_, .fence = fence(step)});
        break;
      case Do::cancel_by_worker:
        decide_twice(Cancel{.id = id_, .reason = "why", .fence = fence(step)});
        break;
      case Do::cancel: decide_twice(Cancel{.id = id_, .reason = "why"}); break;
      case Do::revoke: decide(RevokeLease{.id = id_, .reason = "moved"}); break;
      case Do::priority:
        decide(ChangePriority{.id = id_, .priority = static_cast<std::int32_t>(step.category)});
        break;
      case Do::tags: decide_twice(SetTags{.id = id_, .set = {{tag_key(step.who), "v"}}}); break;
      case Do::replay: decide(Replay{.id = id_, .reason = "again", .requested_by = "ops"}); break;
      case Do::timer: fire_timers(static_cast<core::TimerKind>(step.category)); break;
      case Do::remove: return !remove();
      case Do::add_child:
        if (std::holds_alternative<core::Active>(execution_.state))
          execution_.flow = core::Membership{.flow = {}, .edges_in = step.who};
        break;
    }
    check_state();
    check_change(before, step.what);
    return true;
  }

 private:
  core::LeaseGrant lease_grant(const CoreStep& step, core::LeaseSource source) {
    const auto uuid = uuid_of(1, static_cast<unsigned>(fences_.size()));
    return {.id = id_,
            .source = source,
            .worker = worker_of(step.who),
            .capabilities = capabilities_of(step.who),
            .lease_id = LeaseId{uuid},
            .attempt_id = AttemptId{uuid},
            .lease_ttl = step.time};
  }
  Fence fence(const CoreStep& step) const {
    return step.lease < fences_.size() ? fences_[fences_.size() - 1 - step.lease] : Fence{};
  }

  // Applies the command to the execution. An archived attempt must survive its record unchanged.
  template <class Command>
  core::Decision<Command> decide(const Command& command) {
    auto decision = apply(execution_, command, now_);
    if (!decision || !decision->next) return decision;
    if (decision->archive)
      RC_ASSERT(must(embedded::decode_attempt(id_, embedded::encode(*decision->archive))) ==
                *decision->archive);
    execution_ = *decision->next;
    if (decision->event) {
      const auto change = core::make_change(*decision->event, execution_, now_);
      RC_ASSERT(change.event.state == core::public_state(execution_));
      RC_ASSERT(change.claimable == core::is_claimable(execution_, now_));
    }
    if constexpr (requires { decision->reply.fence; }) fences_.push_back(decision->reply.fence);
    if constexpr (requires { decision->reply.state; })
      RC_ASSERT(decision->reply.state == core::public_state(execution_));
    return decision;
  }

  // A call whose reply was lost is repeated: it hears the same and changes nothing.
  template <class Command>
  void decide_twice(const Command& command) {
    const auto first = decide(command);
    if (!first) return;
    const auto second = apply(execution_, command, now_);
    RC_ASSERT(second.has_value());
    RC_ASSERT(second->reply == first->reply);
    RC_ASSERT_FALSE(second->next.has_value());
  }

  // A timer that is not due does nothing; those that are due come to an end.
  void fire_timers(core::TimerKind other) {
    const auto next = core::next_timer(execution_);
    if (!next || next->kind != other || next->due > now_) {
      const auto idle = must(apply(execution_, core::TimerFire{.id = id_, .kind = other}, now_));
      RC_ASSERT_FALSE(idle.reply.fired);
      RC_ASSERT_FALSE(idle.next.has_value());
    }
    constexpr int fires_max = 3;  // a grant or an attempt, the retry at once, the deadline
    for (int i = 0; i <= fires_max; ++i) {
      const auto due = core::next_timer(execution_);
      if (!due || due->due > now_) return;
      RC_ASSERT(i < fires_max);
      RC_ASSERT(must(decide(core::TimerFire{.id = id_, .kind = due->kind})).reply.fired);
    }
  }

  bool remove() {
    const auto step = must(apply(execution_, core::Remove{id_}, now_));
    const bool due = core::has_ended(execution_) && core::retained_until(execution_) <= now_;
    RC_ASSERT(step.reply.removed == due);
    RC_ASSERT(step.remove == due);
    return due;
  }

  void check_state() const {
    const auto& e = execution_;
    const auto vector = core::state_vector(e);
    RC_ASSERT(derived_state(vector) == core::public_state(e));
    RC_ASSERT(is_sound(vector));
    const auto* active = std::get_if<core::Active>(&e.state);
    RC_ASSERT(e.last_epoch == LeaseEpoch{fences_.size()});
    RC_ASSERT(e.attempt.has_value() == (e.attempt_count > 0));
    if (e.attempt) {
      RC_ASSERT(e.attempt->index + 1 == e.attempt_count);
      RC_ASSERT(e.attempt->fence == fences_.back());
      RC_ASSERT(!active || !e.attempt->end);
      RC_ASSERT(!core::has_ended(e) || e.attempt->end);
    }
    if (active) RC_ASSERT(active->lease.fence == fences_.back());
    RC_ASSERT(!core::has_ended(e) || !core::next_timer(e));
    RC_ASSERT(must(embedded::decode(id_, embedded::encode(e))) == e);
  }

  void check_change(core::Execution before, Do what) const {
    RC_ASSERT(execution_.last_epoch >= before.last_epoch);
    RC_ASSERT(execution_.attempt_count >= before.attempt_count);
    RC_ASSERT(execution_.created_at == before.created_at);
    if (!core::has_ended(before) || what == Do::replay) return;
    before.tags = execution_.tags;  // may be changed even then
    RC_ASSERT(execution_ == before);
  }

  const ExecutionId id_{7, uuid_of(2, 1)};
  TimePoint now_{Millis{1'800'000'000'000}};
  core::Execution execution_;
  std::vector<Fence> fences_;  // of every lease, the newest last
};

TEST(CoreProperty, EveryStateIsSoundWhateverTheCommands) {
  const auto runs = gen::pair(
      submissions(),
      gen::resize(60, gen::container<std::vector<CoreStep>>(gen::resize(100, core_step()))));
  check(1000, runs, [](const auto& run) {
    Machine machine(run.first);
    for (const auto& step : run.second)
      if (!machine.run(step)) return;
  });
}

}  // namespace
}  // namespace ff::property
