// One attempt at an execution, as its handler sees it, and the ways in which a handler can end it.
#pragma once

#include <flowfabric/flow.hpp>
#include <flowfabric/operations.hpp>
#include <flowfabric/stream_writer.hpp>
#include <flowfabric/suspend.hpp>

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <variant>

#include <boost/json/fwd.hpp>

namespace ff {

// Why a handler should stop.
enum class CancelReason : std::uint8_t {
  worker_stopping,      // the handler's result still counts, until the worker's drain limit is over
  timed_out,            // the attempt's or the execution's time is over
  execution_cancelled,  // a caller cancelled it; the handler's result is dropped
  lease_lost,           // another worker may hold it; the handler's result is dropped
  budget_exceeded,      // its usage broke a hard limit; the handler's result is dropped
};
FF_NAMES(CancelReason, "worker_stopping", "timed_out", "execution_cancelled", "lease_lost",
         "budget_exceeded");

struct Failure {
  std::string reason;
  std::string category = {};  // input of the execution's retry policy: transient, timeout, …
  // False: final, so of category `permanent`, which is not retried; `category` then leads the reason.
  bool retryable = true;
};

// Thrown by a handler, it fails the attempt. So does any other exception, with what() as the reason.
class TaskFailure : public std::runtime_error {
 public:
  explicit TaskFailure(Failure failure)
      : std::runtime_error(failure.reason), failure_(std::move(failure)) {}
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

// Thrown by Task::throw_if_cancelled().
class TaskCancelled : public std::runtime_error {
 public:
  explicit TaskCancelled(CancelReason reason)
      : std::runtime_error(std::string(to_string(reason))), reason_(reason) {}
  CancelReason reason() const { return reason_; }

 private:
  CancelReason reason_;
};

// The outcome of an attempt. A handler that returns text returns a result.
class Outcome {
 public:
  struct Completed {
    std::optional<std::string> result;
    std::string content_type;  // such as application/json; empty: not told
    std::vector<FlowNode> spawn;
  };
  struct DelayedFor {
    Millis pause;
  };
  struct DelayedUntil {
    TimePoint until;
  };
  struct HandedBack {
    std::string reason;
  };
  struct WaitingForChildren {
    std::vector<FlowNode> children;  // to be added to the flow
  };
  struct Cancelled {
    std::string reason;
  };
  using How = std::variant<Completed, Failure, DelayedFor, DelayedUntil, HandedBack,
                           WaitingForChildren, Cancelled, SuspendOptions>;

  Outcome() = default;  // completed, without a result
  Outcome(std::string result) : how_(Completed{std::move(result), {}, {}}) {}
  Outcome(const char* result) : Outcome(std::string(result)) {}

  static Outcome completed(std::string result, std::string content_type) {
    return Outcome(How(Completed{std::move(result), std::move(content_type), {}}));
  }

  // Adds nodes to the flow that the execution is a node of, in the same change as its end; those without
  // dependencies depend on it. For an outcome that completes. Throws a TaskFailure if a name is wrong.
  Outcome spawn(const Flow& nodes) &&;

  // Whether there is another attempt is for the execution's policy to say.
  static Outcome failed(Failure failure) { return Outcome(How(std::move(failure))); }

  // Gives the execution back for a while; then the same attempt goes on, as task.resumed() tells.
  static Outcome delayed(Millis pause) { return Outcome(How(DelayedFor{pause})); }
  static Outcome delayed_until(TimePoint until) { return Outcome(How(DelayedUntil{until})); }

  // Gives the execution to another worker at once; the same attempt goes on there. This worker claims
  // nothing for a while, longer with each time in a row.
  static Outcome handed_back(std::string reason = {}) {
    return Outcome(How(HandedBack{std::move(reason)}));
  }

  // Gives the execution back until the executions that it depends on have ended; then the same attempt
  // goes on. If there are none, it goes on at once.
  static Outcome waiting_for_children() { return waiting_for_children({}); }
  // The same, with nodes that are added to its flow first: it depends on them then, however they end.
  // Task::run_children() does this for handlers.
  static Outcome waiting_for_children(std::vector<FlowNode> children) {
    return Outcome(How(WaitingForChildren{std::move(children)}));
  }

  // Gives the execution back until signals satisfy the condition, an operator resumes it or its timeout acts;
  // then the same attempt goes on, as task.wake() tells. If signals that have arrived before satisfy it, the
  // handler runs again at once. Task::wait_for() and ask() do this for handlers.
  static Outcome suspended(SuspendOptions options) { return Outcome(How(std::move(options))); }

  // Ends the execution as cancelled. A worker whose token does not allow cancelling fails it instead,
  // with the category `cancelled`.
  static Outcome cancelled(std::string reason = {}) {
    return Outcome(How(Cancelled{std::move(reason)}));
  }

  const How& how() const { return how_; }

 private:
  explicit Outcome(How how) : how_(std::move(how)) {}
  How how_;
};

namespace detail {

// Results of steps as bytes.
Bytes to_step(std::string result);
Bytes to_step(Bytes result);
Bytes to_step(const boost::json::value& result);

template <class T>
struct StepResult;
template <>
struct StepResult<std::string> {
  static std::string from(Bytes kept) { return std::move(kept.bytes); }
};
template <>
struct StepResult<Bytes> {
  static Bytes from(Bytes kept) { return kept; }
};
template <>
struct StepResult<boost::json::value> {
  static boost::json::value from(const Bytes& kept);
};

}  // namespace detail

// Lives as long as its handler runs. Its members may be called from any thread.
class Task {
 public:
  const ExecutionId& id() const { return claimed_.id; }
  const Namespace& ns() const { return claimed_.ns; }
  const LaneId& lane() const { return claimed_.lane; }
  const Kind& kind() const { return claimed_.kind; }
  const Tags& tags() const { return claimed_.tags; }

  const std::string& payload() const { return claimed_.payload; }  // bytes, as submitted
  // The payload as UTF-8 text, and as JSON (include <boost/json.hpp>). If it is none: throws a
  // TaskFailure that is not retryable.
  const std::string& text() const;
  boost::json::value json() const;
  const std::optional<ContentType>& content_type() const { return claimed_.content_type; }
  const std::optional<TraceParent>& traceparent() const { return claimed_.traceparent; }

  std::uint32_t attempt_index() const { return claimed_.attempt_index; }  // 0 for the first
  AttemptType attempt_type() const { return claimed_.attempt_type; }
  bool resumed() const { return claimed_.resumed; }  // the attempt has paused before
  // By the engine's clock.
  const std::optional<TimePoint>& attempt_deadline() const { return claimed_.attempt_deadline; }
  const std::optional<TimePoint>& deadline() const { return claimed_.deadline; }

  // The lease that the attempt runs under: the proof of holding it, for calls to the engine that want one,
  // and its end by the engine's clock, as of the latest renewal.
  const Fence& fence() const { return claimed_.fence; }
  TimePoint lease_expires_at() const;

  // Tells those who look how far it is, from 0 to 100. Waits for the engine, five seconds at most. A
  // handler may ignore a failure: nothing depends on it.
  Result<void> progress(std::uint32_t percent, std::string message = {});

  // The budgets that the execution spends from.
  const std::vector<BudgetId>& budgets() const { return claimed_.budgets; }

  // Tells what was used, to each of its budgets or to one; sent again while the engine cannot be
  // reached, half a minute at most, it counts once. The answer is the worst of them. A hard breach whose
  // action is fail or suspend has ended this attempt: cancellation() is requested with budget_exceeded.
  // After a failure, it may or may not have been counted.
  Result<UsageReply> report_usage(Amounts amounts);
  Result<UsageReply> report_usage(const BudgetId& budget, Amounts amounts);

  // ---- Waiting. A handler that waits runs again from the top when the wait is over, and finds the same
  // answers; work before the wait belongs into once(). While it waits, it holds no worker. These calls wait
  // for the engine, half a minute at most, and then throw; if the lease is lost, they throw TaskCancelled.
  // The calls that wait are for the thread of the handler: they end it with an exception that is no
  // std::exception, so a handler must not catch `...` around them. ------------------------------------

  // The next signal of this name that the run has not read, in the order of arrival. If there is none yet,
  // ends the handler, and the execution is suspended until it arrives.
  Answer wait_for(std::string_view name, WaitOptions options = {});

  // Opens a waitpoint, hands out its tokens, and waits for the answers. `hand_out` is a step: it runs in the
  // first run only, at least once. A waitpoint serves one question or wait.
  Decision ask(std::string_view key, Question question, const HandOut& hand_out,
               AskOptions options = {});

  // Opens a waitpoint for wait_for() or Outcome::suspended(), so that its token can be handed out before.
  // `hand_out` is a step, as for ask().
  WaitpointHandle waitpoint(std::string_view key, const HandOut& hand_out,
                            WaitpointOptions options = {});

  // Why the attempt's newest suspension ended; none: it has not been suspended.
  const std::optional<Wake>& wake() const { return claimed_.wake; }

  // All signals that had arrived when the run first asked, in the order of arrival, and those of one name.
  const std::vector<Signal>& signals();
  std::vector<Signal> signals(std::string_view name);

  // SuspendOptions::state of the newest suspension; empty if there was none.
  std::string suspension_state();

  // Runs `work` and keeps its result with the execution. After a resume, a retry or a reclaim, the same name
  // returns the kept result instead: `work` returns a std::string, Bytes, a boost::json::value or nothing. If
  // the worker dies between the work and the keeping, the work is repeated. Names that begin with `ff:` are
  // reserved.
  template <class Work>
  std::invoke_result_t<Work&> once(std::string_view name, Work&& work) {
    using T = std::invoke_result_t<Work&>;
    check_step_name(name);
    auto kept = kept_step(name);
    if constexpr (std::is_void_v<T>) {
      if (kept) return;
      work();
      keep_step(name, {});
    } else {
      if (!kept) kept = keep_step(name, detail::to_step(work()));
      return detail::StepResult<T>::from(std::move(*kept));
    }
  }

  // A stream for what the handler produces while it runs, to be followed by others. The same name gives the same
  // stream.
  StreamWriter stream(std::string_view name = "output", StreamOptions options = {});

  // ---- Nodes of flows. These calls fetch from the engine, half a minute at most, and then throw. ------------

  // The flow that it is a node of, and its name there.
  const std::optional<FlowId>& flow() const { return claimed_.flow; }
  const std::optional<NodeName>& node() const { return claimed_.node; }

  // The result of the node that an edge into this one gives this name: by default the node's own. Of several, the
  // first that completed. If there is none: throws a TaskFailure that is not retryable.
  Bytes input(std::string_view name);
  boost::json::value input_json(std::string_view name);  // likewise if it is not JSON

  // All inputs of a name, or all of them, in the order of the dependencies, each with the state of its node. Only
  // completed nodes have results.
  std::vector<NodeInput> inputs(std::string_view name);
  std::vector<NodeInput> inputs();

  // Adds nodes to the flow and waits for their ends, however they end; returns them in their order. Ends the handler
  // while they run, and holds no worker then, as wait_for() does. A node that an earlier run added is not run again.
  std::vector<NodeInput> run_children(const Flow& nodes);

  // Asked to stop when this attempt should end early; cancelled() says why. Callbacks run on a thread
  // of the engine and must be brief.
  std::stop_token cancellation() const;
  std::optional<CancelReason> cancelled() const;

  // For handlers that work in steps. The exception means, if the worker stops: hand the execution back;
  // if the time is over: fail.
  void throw_if_cancelled() const;

  class Context;  // state shared with the worker
  class Run;      // what this run of the handler has read and waited for

 private:
  friend class Worker;
  friend struct TaskMaker;
  Task(ClaimedExecution claimed, std::shared_ptr<Context> context);

  // How a wait of this attempt ended without a signal, if it did. A later run finds the same end.
  std::optional<WakeCause> end_of_wait(const std::string& wait);
  std::optional<WakeCause> end_of_waitpoint(const WaitpointHandle& waitpoint);
  WakeCause keep_end(const std::string& wait, WakeCause cause);
  [[noreturn]] void suspend(const std::string& wait, SuspendOptions options);

  std::vector<NodeInput> fetch_inputs(std::optional<NodeName> name);

  static void check_step_name(std::string_view name);
  std::optional<Bytes> kept_step(std::string_view name);
  Bytes keep_step(std::string_view name, Bytes result);  // returns the kept one

  ClaimedExecution claimed_;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Run> run_;
};

}  // namespace ff
