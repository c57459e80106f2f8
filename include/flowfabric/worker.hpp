// The working side: handlers for kinds of executions, run by a worker.
#pragma once

#include <flowfabric/operations.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ff {

class Engine;

// One attempt at an execution, as its handler sees it.
class Task {
 public:
  const ExecutionId& id() const { return claimed_.id; }
  const Kind& kind() const { return claimed_.kind; }
  const std::string& payload() const { return claimed_.payload; }
  std::uint32_t attempt_index() const { return claimed_.attempt_index; }  // 0 for the first

  // True once this attempt's lease is lost: its result will be refused, so the handler should stop.
  bool lease_lost() const;

 private:
  friend class Worker;
  struct Shared;
  Task(ClaimedExecution claimed, std::shared_ptr<const Shared> shared)
      : claimed_(std::move(claimed)), shared_(std::move(shared)) {}

  ClaimedExecution claimed_;
  std::shared_ptr<const Shared> shared_;
};

// Returns the result's bytes. An exception fails the attempt, with its message as the reason.
using Handler = std::function<std::string(Task&)>;

struct WorkerOptions {
  std::string id = {};  // empty: made from the host's name and the process id
  std::string ns = "default";
  std::vector<std::string> lanes = {"default"};
  std::size_t concurrency = 1;  // handlers at a time
  Millis lease_ttl = std::chrono::seconds{30};
};

// Claims executions, keeps their leases alive, runs their handlers on threads of its own and reports
// what came of it. The engine must outlive it.
class Worker {
 public:
  explicit Worker(Engine& engine, WorkerOptions options = {});
  ~Worker();  // stops

  // Before start(). A second handler for a kind replaces the first. An execution of a kind without one
  // fails, and its reason says so.
  void handle(std::string kind, Handler handler);

  // Fails with invalid_input if the options are wrong or it is started already.
  Result<void> start();

  // Claims no more, waits for the running handlers and reports their results.
  void stop();

 private:
  class Running;
  Engine& engine_;
  WorkerOptions options_;
  std::map<std::string, Handler> handlers_;
  std::unique_ptr<Running> running_;
};

}  // namespace ff
