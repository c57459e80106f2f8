// Commands that the tests of suspensions and signals have in common.
#pragma once

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {

inline SignalName signal_name(const char* text) { return must(SignalName::parse(text)); }
inline WaitpointKey waitpoint_key(const char* text) { return must(WaitpointKey::parse(text)); }
inline SignalKey signal_key(const char* text) { return must(SignalKey::parse(text)); }
inline StepName step_name(const char* text) { return must(StepName::parse(text)); }

inline Suspend suspend(const ClaimedExecution& claimed, Condition condition = {}) {
  return {.id = claimed.id, .fence = claimed.fence, .condition = std::move(condition)};
}
inline Condition for_signal(const char* name) { return {OneSignal{.name = signal_name(name)}}; }
inline SendSignal signal_to(const ExecutionId& id, const char* name, std::string payload = {}) {
  return {.id = id, .name = signal_name(name), .payload = std::move(payload)};
}
inline CreateWaitpoint waitpoint_of(const ClaimedExecution& claimed, const char* key) {
  return {.id = claimed.id, .fence = claimed.fence, .waitpoint = {.key = waitpoint_key(key)}};
}

// Two of three people, or one rejection.
inline Suspend ask_three(const ClaimedExecution& claimed) {
  auto asked = suspend(
      claimed,
      {AnyOf{{{CountOf{.n = 2,
                       .of = Counted::sources,
                       .name = signal_name("approve"),
                       .waitpoints = {waitpoint_key("deploy")}}},
              {OneSignal{.name = signal_name("reject"), .waitpoint = waitpoint_key("deploy")}}}}});
  asked.reason = SuspendReason::waiting_for_approval;
  asked.waitpoints = {{.key = waitpoint_key("deploy"),
                       .question = Question{.title = "Deploy?",
                                            .choices = {{signal_name("approve"), "Approve"},
                                                        {signal_name("reject"), "Reject"}},
                                            .approvers = {"ann", "bob", "cy"}}}};
  return asked;
}

}  // namespace ff::conformance
