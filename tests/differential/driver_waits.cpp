// Suspensions, waitpoints, signals and steps on both sides.
#include "tests/differential/driver.hpp"

namespace ff::differential {

using namespace std::chrono_literals;
using namespace property;

namespace {

constexpr std::uint64_t unknown_waitpoint_sort = 11;

SignalName signal_of(unsigned n) {
  static const std::array names{"a", "b", "c"};
  return *SignalName::parse(names[n % names.size()]);
}
WaitpointKey key_of(unsigned n) {
  static const std::array keys{"k0", "k1", "k2"};
  return *WaitpointKey::parse(keys[n % keys.size()]);
}
StepName step_of(unsigned n) {
  static const std::array names{"charge", "mail", "z\xc3\xa4hlen"};
  return *StepName::parse(names[n % names.size()]);
}

Condition one(std::optional<unsigned> name, std::optional<unsigned> key = {}) {
  OneSignal signal;
  if (name) signal.name = signal_of(*name);
  if (key) signal.waitpoint = key_of(*key);
  return {signal};
}
Condition count(std::uint32_t n, Counted of, std::vector<WaitpointKey> keys = {}) {
  return {CountOf{.n = n, .of = of, .waitpoints = std::move(keys)}};
}
Condition all(std::vector<Condition> parts) { return {AllOf{std::move(parts)}}; }
Condition any(std::vector<Condition> parts) { return {AnyOf{std::move(parts)}}; }

// Some can never be satisfied, or name waitpoints that are not there.
Condition condition_of(unsigned n) {
  switch (n % 18) {
    case 0: return one({});
    case 1: return one(0);
    case 2: return one(0, 0);
    case 3: return one({}, 1);
    case 4: return all({one(0), one(1)});
    case 5: return any({one(0, 0), count(2, Counted::signals)});
    case 6: return count(2, Counted::signals);
    case 7: return count(2, Counted::sources);
    case 8: return count(2, Counted::waitpoints);
    case 9: return count(1, Counted::waitpoints, {key_of(0)});
    case 10:
      return all({any({one(0), one(1)}), count(2, Counted::signals, {key_of(0), key_of(1)})});
    case 11:
      return all(
          {count(2, Counted::signals, {key_of(0)}), count(1, Counted::signals, {key_of(1)})});
    case 12: return {OperatorOnly{}};
    case 13: return {TimeoutOnly{}};
    case 14: return any({{OperatorOnly{}}, one(2)});
    case 15: return all({{OperatorOnly{}}, one(2)});
    case 16: return all({});
    default: return all({all({all({all({all({one(0)})})})})});
  }
}

NewWaitpoint waitpoint_of(unsigned n, unsigned time) {
  NewWaitpoint waitpoint{.key = key_of(n)};
  if (time % 3 == 0) waitpoint.expires_in = time % 2 == 0 ? Millis{5s} : Millis{1min};
  if (n == 2)
    waitpoint.question = Question{.title = "Ship \"it\"?",
                                  .text = "\xc3\xa4\n",
                                  .choices = {{.signal = signal_of(0), .label = "Yes"}},
                                  .approvers = {"ann", "bob"}};
  return waitpoint;
}

std::string payload_of(unsigned n) {
  using namespace std::string_literals;
  return n % 4 == 0 ? ""s : n % 4 == 1 ? "\0\xff\x1f\r\n"s : std::string(n * 10, 'p');
}

}  // namespace

ExecutionId Driver::resolve_suspended(const WaitStep& step) const {
  std::vector<ExecutionId> fitting;
  for (const auto& id : order_) {
    const auto& known = known_.at(id);
    if (known.info && (known.info->state == ExecutionState::suspended || !known.waitpoints.empty()))
      fitting.push_back(id);
  }
  if (fitting.empty() || step.target.index % 8 == 0) return resolve(step.target);
  return fitting[step.target.index % fitting.size()];
}

WaitpointId Driver::choose_waitpoint(const ExecutionId& id, unsigned n) const {
  const auto known = known_.find(id);
  if (known == known_.end() || known->second.waitpoints.empty() || n % 16 == 15)
    return WaitpointId{uuid_of(unknown_waitpoint_sort, n)};
  const auto& waitpoints = known->second.waitpoints;
  return waitpoints[(waitpoints.size() - 1 - n % std::min<std::size_t>(waitpoints.size(), 4))].id;
}

void Driver::told(const ExecutionId& id, const IssuedWaitpoint& waitpoint) {
  if (const auto known = known_.find(id); known != known_.end())
    known->second.waitpoints.push_back(waitpoint.info);
}

void Driver::run(const WaitStep& step) {
  const bool by_worker = step.verb == WaitVerb::suspend ||
                         step.verb == WaitVerb::create_waitpoint || step.verb == WaitVerb::put_step;
  const auto id = by_worker ? resolve(step.target) : resolve_suspended(step);
  const auto fence = by_worker ? choose_fence(id, step.fence) : Fence{};
  for (int i = 0; i < (step.repeat ? 2 : 1); ++i) {
    switch (step.verb) {
      case WaitVerb::suspend: suspend(step, id, fence); break;
      case WaitVerb::create_waitpoint: create_waitpoint(step, id, fence); break;
      case WaitVerb::close_waitpoint:
        change("close_waitpoint", CloseWaitpoint{.id = id,
                                                 .waitpoint = choose_waitpoint(id, step.what),
                                                 .reason = step.keys % 2 == 0 ? "" : "not needed"});
        break;
      case WaitVerb::send_signal: send_signal(step, id); break;
      case WaitVerb::resume:
        change("resume", Resume{.id = id,
                                .reason = step.what % 2 == 0 ? "" : "by \x1fhand",
                                .delay = step.time % 3 == 0 ? Millis{5s} : Millis{0}});
        break;
      case WaitVerb::put_step: {
        PutStep put{
            .id = id, .name = step_of(step.what), .fence = fence, .result = payload_of(step.keys)};
        if (step.time % 2 == 0) put.content_type = *ContentType::parse("text/plain");
        change("put_step", put);
        break;
      }
    }
  }
}

void Driver::suspend(const WaitStep& step, const ExecutionId& id, const Fence& fence) {
  static constexpr std::array actions{TimeoutAction::fail, TimeoutAction::cancel,
                                      TimeoutAction::expire, TimeoutAction::auto_resume,
                                      TimeoutAction::escalate};
  Suspend call{.id = id,
               .fence = fence,
               .condition = condition_of(step.what),
               .reason = static_cast<SuspendReason>(step.what % 9),
               .on_timeout = actions[step.time % actions.size()],
               .state = payload_of(step.what)};
  if (step.time % 4 != 0) call.timeout = step.time % 3 == 0 ? Millis{5s} : Millis{1min};
  if (step.time % 7 == 0) call.resume_delay = 31s;
  for (unsigned key = 0; key < 3; ++key)
    if ((step.keys >> key & 1) != 0) call.waitpoints.push_back(waitpoint_of(key, step.time + key));
  const auto reply = change("suspend", call);
  if (!reply) return;
  for (const auto& waitpoint : reply->waitpoints) told(id, waitpoint);
}

void Driver::create_waitpoint(const WaitStep& step, const ExecutionId& id, const Fence& fence) {
  const auto reply =
      change("create_waitpoint",
             CreateWaitpoint{
                 .id = id, .fence = fence, .waitpoint = waitpoint_of(step.keys % 3, step.time)});
  if (reply) told(id, reply->waitpoint);
}

void Driver::send_signal(const WaitStep& step, const ExecutionId& id) {
  SendSignal call{.id = id,
                  .name = signal_of(step.what),
                  .payload = payload_of(step.what),
                  .source = {.type = step.time % 5 == 0   ? ""
                                     : step.time % 5 == 1 ? "a:b"
                                                          : "user",
                             .identity = fmt::format("s{}", step.time % 3)},
                  .category = step.time % 2 == 0 ? "" : "event",
                  .correlation_id = step.keys % 5 == 0 ? "trace" : "",
                  .dedup_window = 1min};
  if (step.keys % 3 != 0) call.waitpoint = choose_waitpoint(id, step.keys);
  // Few ids, so that they come again, for the same execution and for others.
  if (step.time % 4 == 1)
    call.signal_id = SignalId{Uuid{{static_cast<std::uint8_t>(1 + step.what % 4)}}};
  if (step.keys % 4 == 0)
    call.idempotency_key = *SignalKey::parse(fmt::format("key{}", step.what % 2));
  if (step.what % 3 == 0) call.content_type = *ContentType::parse("application/json");
  change("signal", call);
}

void Driver::compare_waits(const ExecutionId& id) {
  auto suspension = sides_.begin(GetSuspension{id});
  auto open = sides_.begin(ListWaitpoints{.id = id, .limit = 2});
  auto first = sides_.begin(GetSignals{.id = id, .limit = 3});
  auto rest = sides_.begin(GetSignals{.id = id, .from = 3});
  auto steps = sides_.begin(ListSteps{id});
  auto step = sides_.begin(GetStep{.id = id, .name = step_of(1)});
  sides_.finish("suspension", std::move(suspension));
  sides_.finish("waitpoints", std::move(open));
  sides_.finish("signals", std::move(first));
  sides_.finish("more signals", std::move(rest));
  sides_.finish("steps", std::move(steps));
  sides_.finish("step", std::move(step));
}

}  // namespace ff::differential
