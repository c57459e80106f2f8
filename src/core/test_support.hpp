// Shared by the tests of the state machine: commands, executions in every state, and a printer for
// the effect of a command.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/overloaded.hpp"
#include "core/transitions/transitions.hpp"
#include "tests/support/values.hpp"

namespace ff::core {

using namespace std::chrono_literals;

using test::t0;
inline constexpr Millis ttl = 30s;

inline ExecutionId test_id() {
  return *ExecutionId::parse("{fp:7}:01920000-0000-7000-8000-000000000001");
}
inline Uuid uuid_of(std::uint8_t last) {
  Uuid::Bytes bytes{};
  bytes[15] = last;
  return Uuid{bytes};
}
inline WorkerId worker(int n) { return *WorkerId::parse(fmt::format("w{}", n)); }
inline SignalName signal_name(std::string text) { return *SignalName::parse(std::move(text)); }
inline WaitpointKey waitpoint_key(std::string text) {
  return *WaitpointKey::parse(std::move(text));
}
inline CapabilitySet capabilities(std::vector<std::string> tokens) {
  return *CapabilitySet::parse(std::move(tokens));
}

// ---- Commands ----------------------------------------------------------------------------------

// Of lease n, which is the first of attempt n unless the attempt was paused.
inline Fence fence(std::uint8_t n, std::uint8_t attempt) {
  return {.lease_id = LeaseId{uuid_of(n)},
          .lease_epoch = LeaseEpoch{n},
          .attempt_id = AttemptId{uuid_of(attempt)}};
}
inline Fence fence(std::uint8_t n) { return fence(n, n); }

inline Create create(Policy policy = {}) {
  return {.id = test_id(),
          .submit = {.kind = *Kind::parse("greet"), .payload = "in", .policy = std::move(policy)}};
}
inline LeaseGrant claim(std::uint8_t n, Millis lease_ttl = ttl) {
  return {.id = test_id(),
          .worker = worker(n),
          .lease_id = LeaseId{uuid_of(n)},
          .attempt_id = AttemptId{uuid_of(n)},
          .lease_ttl = lease_ttl};
}
inline LeaseGrant claim_granted(std::uint8_t n) {
  auto command = claim(n);
  command.source = LeaseSource::grant;
  return command;
}
inline LeaseGrant claim_held(std::uint8_t n) {
  auto command = claim(n);
  command.source = LeaseSource::held;
  return command;
}
inline GrantIssue grant(int n, Millis grant_ttl = 60s) {
  return {.id = test_id(), .worker = worker(n), .grant_ttl = grant_ttl};
}
inline Renew renew(Fence fence, Millis lease_ttl = ttl) {
  return {.id = test_id(), .fence = fence, .lease_ttl = lease_ttl};
}
inline UpdateProgress progress(Fence fence) {
  return {.id = test_id(), .fence = fence, .percent = 50, .message = "half"};
}
inline Complete complete(Fence fence) { return {.id = test_id(), .fence = fence, .result = "out"}; }
inline Fail fail_with(Fence fence, std::string category = "") {
  return {.id = test_id(), .fence = fence, .reason = "broke", .category = std::move(category)};
}
inline Delay delay(Fence fence, TimePoint until = t0 + 60s) {
  return {.id = test_id(), .fence = fence, .until = until};
}
inline WaitForChildren wait_for_children(Fence fence) { return {.id = test_id(), .fence = fence}; }
inline Cancel cancel(std::optional<Fence> fence = {}) {
  return {.id = test_id(), .reason = "why", .fence = fence};
}
inline RevokeLease revoke(std::string reason = "") {
  return {.id = test_id(), .reason = std::move(reason)};
}
inline Replay replay() { return {.id = test_id(), .reason = "again", .requested_by = "ops"}; }
inline TimerFire fire(TimerKind kind) { return {.id = test_id(), .kind = kind}; }

// ---- Executions --------------------------------------------------------------------------------

inline Execution after(const auto& decision) { return must(decision).next.value(); }

inline Execution waiting(Policy policy = {}) {
  return after(apply(nullptr, create(std::move(policy)), t0));
}
inline Execution granted(Policy policy = {}) {
  return after(apply(waiting(std::move(policy)), grant(1), t0));
}
inline Execution delayed(Policy policy = {}) {
  auto command = create(std::move(policy));
  command.submit.delay_until = t0 + 60s;
  return after(apply(nullptr, command, t0));
}
inline Execution active(Policy policy = {}) {
  return after(apply(waiting(std::move(policy)), claim(1), t0));
}
inline Execution paused(Policy policy = {}) {
  return after(apply(active(std::move(policy)), delay(fence(1)), t0 + 1s));
}
inline Execution waiting_children(Policy policy = {}) {
  auto parent = active(std::move(policy));
  parent.flow = Membership{.flow = {}, .edges_in = 1};
  return after(apply(parent, wait_for_children(fence(1)), t0 + 1s));
}
inline Execution lapsed(Policy policy = {}) {  // its lease has run out
  const auto held = after(apply(waiting(std::move(policy)), claim(1, 1s), t0));
  return after(apply(held, fire(TimerKind::lease_expiry), t0 + 1s));
}
inline Execution revoked(Policy policy = {}) {
  return after(apply(active(std::move(policy)), revoke(), t0 + 1s));
}
inline Execution completed(Policy policy = {}) {
  return after(apply(active(std::move(policy)), complete(fence(1)), t0 + 1s));
}
inline Execution failed(Policy policy = {}) {
  return after(apply(active(std::move(policy)), fail_with(fence(1), "permanent"), t0 + 1s));
}
inline Execution cancelled(Policy policy = {}) {
  return after(apply(active(std::move(policy)), cancel(), t0 + 1s));
}
inline Execution expired(Policy policy = {}) {
  policy.execution_deadline = 1s;
  return after(apply(waiting(policy), fire(TimerKind::execution_deadline), t0 + 1s));
}
inline Execution replayed(Policy policy = {}) {
  return after(apply(failed(std::move(policy)), replay(), t0 + 2s));
}

inline Policy retrying(Backoff backoff = FixedBackoff{1s}, std::uint32_t max_retries = 3) {
  return {.retry = RetryPolicy{.max_retries = max_retries, .backoff = backoff}};
}
inline Execution retry_delayed() {
  return after(apply(active(retrying()), fail_with(fence(1)), t0 + 1s));
}

// ---- Printing ----------------------------------------------------------------------------------

inline std::string show(TimePoint time) { return fmt::format("+{}", (time - t0).count()); }

inline std::string show(const Outcome& outcome) {
  return std::visit(
      Overloaded{
          [](const Completed&) -> std::string { return ""; },
          [](const Failed& f) { return fmt::format(", {}, {}", f.reason, f.category); },
          [](const auto& other) { return ", " + other.reason; },
      },
      outcome);
}

// With what the next claim begins, unless that is the first attempt.
inline std::string show_next(const Execution& execution) {
  const auto type = next_attempt_type(execution);
  if (!type) return "(resume)";
  return *type == AttemptType::initial ? "" : fmt::format("({})", to_string(*type));
}

inline std::string show(const Execution& execution) {
  return std::visit(
      Overloaded{
          [&](const Waiting&) { return "waiting" + show_next(execution); },
          [](const Granted& g) {
            return fmt::format("granted({} until {})", g.worker.str(), show(g.expires_at));
          },
          [](const Delayed& d) { return fmt::format("delayed(until {})", show(d.until)); },
          [](const WaitingChildren&) -> std::string { return "waiting_children"; },
          [](const Suspended& s) {
            return fmt::format("suspended({} since {})", to_string(s.reason), show(s.since));
          },
          [](const Blocked& b) {
            return fmt::format("blocked({} since {})", to_string(b.reason), show(b.since));
          },
          [](const Active& a) {
            return fmt::format("active({}#{} until {})", a.lease.worker.str(),
                               std::to_underlying(a.lease.fence.lease_epoch),
                               show(a.lease.expires_at));
          },
          [&](const Ended& e) {
            return fmt::format("{}({}{})", to_string(public_state(execution)), show(e.at),
                               show(e.outcome));
          },
      },
      execution.state);
}

// "before -> after [event]", "before: unchanged" or "before: error".
template <class Command>
std::string trace(const Execution& before, Command command, TimePoint now) {
  const auto decision = apply(before, std::move(command), now);
  if (!decision) return fmt::format("{}: {}", show(before), decision.error().name());
  if (!decision->next) return show(before) + ": unchanged";
  return fmt::format("{} -> {} [{}]", show(before), show(*decision->next),
                     decision->event ? to_string(*decision->event) : "");
}

// The effect of a command in each state, ten seconds after the start, one line each.
template <class Command>
std::string in_every_state(const Command& command) {
  std::string lines = "\n";
  for (const auto& execution : {waiting(), granted(), delayed(), waiting_children(), active(),
                                lapsed(), revoked(), completed(), failed(), cancelled(), expired()})
    lines += trace(execution, command, t0 + 10s) + "\n";
  return lines;
}

// "ok" or the name of the error.
std::string verdict(const auto& decision) {
  return decision ? "ok" : std::string(decision.error().name());
}

inline std::string detail(const Error& error, std::string_view name) {
  for (const auto& each : error.details)
    if (each.name == name) return each.value;
  return "(none)";
}

}  // namespace ff::core
