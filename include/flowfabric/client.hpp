// The submitting side, for programs that do not use coroutines: calls block and answer.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff {

class Engine;

struct NewExecution {
  std::string kind;
  std::string payload = {};
  std::string lane = "default";
  std::string ns = "default";
  std::int32_t priority = 0;
  std::string id = {};  // empty: the engine mints one
};

// May be used from any thread but the engine's own. The engine must outlive it.
class Client {
 public:
  explicit Client(Engine& engine) : engine_(engine) {}

  // The execution is on disk when this returns.
  Result<SubmitReply> submit(NewExecution execution);

  Result<ExecutionInfo> get(const ExecutionId& id);

  // The result of an execution, waiting for it up to `timeout`. Fails with execution_failed if it
  // ended without one, with execution_not_terminal if it has not ended.
  Result<std::string> result(const ExecutionId& id, Millis timeout);

 private:
  Engine& engine_;
};

}  // namespace ff
