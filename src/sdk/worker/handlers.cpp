#include "sdk/worker/handlers.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "sdk/worker/task_context.hpp"
#include "sdk/worker/task_run.hpp"

namespace ff {
namespace {

Outcome outcome_of(const Handler& handler, Task& task) {
  try {
    return handler(task);
  } catch (SuspendHandler& wait) {
    return Outcome::suspended(std::move(wait.options));
  } catch (RunChildren& wait) {
    return Outcome::waiting_for_children(std::move(wait.children));
  } catch (const TaskCancelled& cancelled) {
    if (cancelled.reason() == CancelReason::timed_out)
      return Outcome::failed({.reason = "the attempt's time is over", .category = "timeout"});
    return Outcome::handed_back(cancelled.what());
  } catch (const TaskFailure& failure) {
    return Outcome::failed(failure.failure());
  } catch (const std::exception& failure) {
    return Outcome::failed({failure.what()});
  } catch (...) {
    return Outcome::failed({"the handler threw something that is not a std::exception"});
  }
}

// With what it has written to streams sent: those who read them find it before the end.
Outcome with_streams_sent(const Outcome& outcome, Task& task) {
  auto& run = TaskMaker::run(task);
  if (run.streams.empty()) return outcome;
  return outcome_of(
      [&](Task&) {
        run.flush_streams();
        return outcome;
      },
      task);
}

}  // namespace

Outcome call_handler(const Handlers& handlers, const std::string& worker, Task& task) {
  auto handler = handlers.find(task.kind().str());
  if (handler == handlers.end()) handler = handlers.find("");
  if (handler == handlers.end())
    return Outcome::handed_back(
        fmt::format("worker {} has no handler for kind '{}'", worker, task.kind().str()));
  auto outcome = with_streams_sent(outcome_of(handler->second, task), task);
  const auto& wanted = TaskMaker::run(task).suspension;
  if (!wanted || std::holds_alternative<SuspendOptions>(outcome.how())) return outcome;
  log::warn("a handler for kind '{}' caught the end of its wait and went on; it is suspended",
            task.kind().str());
  return Outcome::suspended(*wanted);
}

Outcome no_progress() {
  return Outcome::failed(
      {.reason = "the handler suspends under an id whose signals have arrived, and does "
                 "not read them",
       .retryable = false});
}

}  // namespace ff
