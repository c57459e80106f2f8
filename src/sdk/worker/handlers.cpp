#include "sdk/worker/handlers.hpp"

#include <fmt/format.h>

namespace ff {

Outcome call_handler(const Handlers& handlers, const std::string& worker, Task& task) {
  auto handler = handlers.find(task.kind().str());
  if (handler == handlers.end()) handler = handlers.find("");
  if (handler == handlers.end())
    return Outcome::handed_back(
        fmt::format("worker {} has no handler for kind '{}'", worker, task.kind().str()));
  try {
    return handler->second(task);
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

}  // namespace ff
