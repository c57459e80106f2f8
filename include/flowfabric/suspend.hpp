// The parts of a handler that waits: signals and answers, questions, the options of a suspension.
#pragma once

#include <flowfabric/suspensions.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

namespace ff {

// The timeout of a suspension that names none.
inline constexpr Millis suspension_timeout_default = std::chrono::days{7};

// A suspension with a condition of the handler's own; see Outcome::suspended().
struct SuspendOptions {
  Condition condition = {};                   // any signal
  std::vector<NewWaitpoint> waitpoints = {};  // open ones with these keys are taken
  SuspendReason reason{};
  std::optional<Millis> timeout = suspension_timeout_default;  // none: it waits without limit
  TimeoutAction on_timeout{};                                  // fail
  Millis resume_delay{0};
  std::string state = {};               // for Task::suspension_state()
  std::optional<SuspensionId> id = {};  // none: minted
};

// A signal, with its payload as text or JSON (include <boost/json.hpp>). If it is none: throws a
// TaskFailure that is not retryable.
struct Signal : ReceivedSignal {
  const std::string& text() const;
  boost::json::value json() const;
};

// The end of a wait: a signal, or none.
class Answer {
 public:
  explicit Answer(Signal signal) : signal_(std::move(signal)) {}
  explicit Answer(WakeCause cause) : cause_(cause) {}

  explicit operator bool() const { return signal_.has_value(); }  // there is a signal
  // Why the wait ended: signals, the timeout (with TimeoutAction::auto_resume), or an operator.
  WakeCause cause() const { return cause_; }
  bool timed_out() const { return cause_ == WakeCause::timeout; }

  // Without a signal, these throw a TaskFailure that is not retryable.
  const Signal& signal() const;
  const Signal* operator->() const { return &signal(); }
  const std::string& text() const { return signal().text(); }
  boost::json::value json() const;

 private:
  std::optional<Signal> signal_;
  WakeCause cause_ = WakeCause::signals;
};

// Hands out the tokens of a waitpoint, for example by mail.
using HandOut = std::function<void(const IssuedWaitpoint&)>;

struct WaitpointOptions {
  std::optional<Question> question = {};
  std::optional<Millis> expires_in = {};  // none: it lives as long as its suspension
};

// A waitpoint that a handler has opened.
struct WaitpointHandle {
  WaitpointKey key;
  WaitpointId id;
};

struct WaitOptions {
  std::optional<Millis> timeout = suspension_timeout_default;  // none: it waits without limit
  TimeoutAction on_timeout{};                                  // fail
  SuspendReason reason{};
  // Only signals that are sent there. None: only signals that are sent to the execution itself.
  std::optional<WaitpointHandle> waitpoint = {};
};

// ---- Questions to people --------------------------------------------------------------------------

// A question with the choices `approve` and `reject`.
Question approval(std::string title, std::string text = {},
                  std::vector<std::string> approvers = {});

struct AskOptions {
  // The first choice decides once so many people have chosen it; any other choice decides at once.
  std::uint32_t needed = 1;
  std::optional<Millis> timeout = suspension_timeout_default;  // none: it waits without limit
  TimeoutAction on_timeout{};                                  // fail
  SuspendReason reason = SuspendReason::waiting_for_approval;
};

// The end of a question.
struct Decision {
  std::optional<SignalName> choice = {};  // that decided; none: the timeout or an operator ended it
  WakeCause cause{};
  std::vector<Signal> answers = {};  // up to the one that decided, in the order of arrival

  explicit operator bool() const { return choice.has_value(); }
  bool is(std::string_view signal) const { return choice && choice->str() == signal; }
};

}  // namespace ff
