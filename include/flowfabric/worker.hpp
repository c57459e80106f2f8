// The working side: handlers for kinds of executions, run by a worker.
#pragma once

#include <flowfabric/task.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ff {

class Engine;

// Returns what came of the attempt; a text is the result's bytes. An exception fails the attempt, with
// its message as the reason.
using Handler = std::function<Outcome(Task&)>;

struct WorkerOptions {
  // Empty: made from the host's name, the process id and a random part. Of workers with the same id and
  // namespace, only one works at a time; see Worker::start().
  std::string id = {};
  std::string ns = "default";
  std::vector<std::string> lanes = {"default"};
  std::vector<std::string> capabilities = {};  // offered by this worker, such as "gpu"
  std::size_t concurrency = 1;                 // handlers at a time
  bool polls = true;  // false: it gets work only through claim_from_grant() and its siblings
  Millis lease_ttl = std::chrono::seconds{30};
  // How long it counts as alive after a sign of life; it gives three in that time.
  Millis alive_ttl = std::chrono::seconds{30};
  // How long stop() lets the running handlers go on. 0: not at all; Millis::max(): as long as they take.
  Millis drain_limit = std::chrono::seconds{30};
  // Called once if the engine refuses the worker for good (unauthenticated, permission_denied,
  // worker_id_in_use) after it was started. The worker claims nothing more; running handlers finish. Runs on
  // a thread of the engine: it must be brief, and must not call stop().
  std::function<void(const Error&)> on_error = {};
};

// Makes itself known to the engine, claims executions, keeps their leases alive, runs their handlers on
// threads of its own and reports what came of it. While an operator drains it, it claims nothing. While the engine cannot be reached it tries again and again: the handlers run on,
// and what they return is reported as long as the lease may hold. The engine must outlive it.
class Worker {
 public:
  explicit Worker(Engine& engine, WorkerOptions options = {});
  // Stops, and waits for handlers that were still running: they use what belongs to the program.
  ~Worker();

  // Before start(). A second handler for a kind replaces the first. The worker claims only executions of
  // kinds that have a handler; those of other kinds wait for a worker that has one.
  // Without any handler it claims nothing.
  void handle(std::string kind, Handler handler);
  // For all kinds that have no handler of their own: the worker then claims executions of every kind.
  void handle_others(Handler handler);

  // Fails with invalid_input if the options are wrong or it is started already, and with
  // unauthenticated or permission_denied if the engine refuses the worker. An engine that cannot be
  // reached is no failure: the worker keeps trying. Waits five seconds at most for the engine's reply.
  //
  // If another worker with this id is registered, this one claims nothing and tries again: the other may have
  // crashed, and then its registration expires (alive_ttl). Once the other gives a sign of life, or if it
  // takes the id while this one cannot reach the engine, on_error is called with worker_id_in_use.
  Result<void> start();

  // For a started worker whose work is chosen elsewhere (WorkerOptions::polls). Each claims one execution;
  // its handler then runs as for any other. While all handlers are busy they fail with
  // worker_at_capacity before the engine is asked: a grant stays untouched. Wait for the engine, half a
  // minute at most; not from a thread of the engine.

  // The execution that a grant sets aside for this worker (Grant, with this worker's id).
  Result<ExecutionId> claim_from_grant(const GrantedExecution& grant);
  // The same for an execution that another attempt lost: a grant does not differ.
  Result<ExecutionId> claim_from_reclaim_grant(const GrantedExecution& grant) {
    return claim_from_grant(grant);
  }
  // Asks the engine's scheduler for a grant and claims it. None: there is nothing to do.
  Result<std::optional<ExecutionId>> claim_via_server(Millis grant_ttl = std::chrono::seconds{5});
  // A named execution, whichever lane it is in, without a grant. It is handed back if its kind has no
  // handler, and so is that of a grant.
  Result<ExecutionId> claim_execution(const ExecutionId& id);

  // Claims no more, tells the running handlers (CancelReason::worker_stopping), and waits for them and
  // for the reports of what they return, up to the drain limit. What has not ended then is handed back,
  // so that another worker has it at once, and what its handler still returns is dropped. Takes at most
  // five seconds longer than the limit. Not from a handler.
  void stop();

 private:
  class Running;
  Result<Running*> running_for_claim();

  Engine& engine_;
  WorkerOptions options_;
  std::map<std::string, Handler> handlers_;
  bool has_unnamed_handler_ = false;
  std::unique_ptr<Running> running_;
};

}  // namespace ff
