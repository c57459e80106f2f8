// A test kit: handlers, retry policies and callers are tested in milliseconds, without a disk, a server or
// real time.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/worker.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ff {

// An outcome as one line: `completed: text`, `failed: reason (category)`, `delayed for 500 ms`, `suspended: the
// signal approve`, …
std::string to_string(const Outcome& outcome);

}  // namespace ff

namespace ff::testing {

struct TestSignal {
  std::string name;
  std::string payload = {};
  std::string source = {};  // the identity of its sender, such as an approver
  std::string waitpoint =
      {};  // the key of the waitpoint that it is sent to; empty: to the execution itself
};

// The result of a node before the task's, in its flow.
struct TestInput {
  std::string name;
  std::string result = {};
  std::string content_type = {};
  ExecutionState state = ExecutionState::completed;
  std::string node = {};  // empty: the same as the input's name
};

struct TaskParts {
  std::string kind = "test";
  std::string payload = {};
  std::string content_type = {};
  Tags tags = {};
  std::string lane = "default";
  std::string ns = "default";
  std::uint32_t attempt_index = 0;
  AttemptType attempt_type{};
  bool resumed = false;
  std::optional<TimePoint> attempt_deadline = {};
  std::optional<TimePoint> deadline = {};
  std::vector<BudgetId> budgets = {};
  std::vector<TestSignal> signals = {};           // that have arrived
  std::map<std::string, std::string> steps = {};  // results that are kept, by name
  std::optional<Wake> wake = {};
  std::string suspension_state = {};
  std::string node =
      {};  // its name in a flow; with it or with inputs, the task is a node of a flow
  std::vector<TestInput> inputs = {};
};

// A task without an engine, for calling a handler. Not thread-safe, except for cancel().
class TestTask {
 public:
  // Throws an Exception if a part is not valid.
  explicit TestTask(TaskParts parts = {});
  ~TestTask();
  TestTask(const TestTask&) = delete;
  TestTask& operator=(const TestTask&) = delete;

  Task& task();

  // Calls the handler as a worker does: an exception becomes an outcome. After an outcome that suspends it, the
  // next call is the run after the suspension.
  Outcome run(const Handler& handler);

  // Before the next run: a signal arrives, or the suspension ends for another reason.
  void signal(TestSignal signal);
  void wake(WakeCause cause);

  // As the worker does when the lease is lost, the execution is cancelled, its time is over, …
  void cancel(CancelReason reason);

  // The handler's calls to the engine.
  std::vector<UpdateProgress> progress() const;
  std::vector<ReportUsage> usage() const;
  std::vector<NewWaitpoint> waitpoints() const;      // that it has opened
  std::map<std::string, std::string> steps() const;  // that are kept

  // The reply to its later calls: an error, such as store_unavailable; for usage, also a breach.
  void fail_calls(std::optional<Errc> code);
  void set_usage_reply(UsageReply reply);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

// Attempts that MemoryEngine::work() made.
struct Attempt {
  ExecutionId id;
  std::string kind;
  std::uint32_t index;
  TimePoint at;         // its start, in virtual time
  std::string outcome;  // as to_string() says it
};

// A whole engine in memory, with time that only the test moves, and with faults on demand. Clients and
// workers use it as any other engine. Thread-safe.
class MemoryEngine final : public Engine {
 public:
  MemoryEngine();
  ~MemoryEngine() override;

  asio::awaitable<void> perform(EngineCall& call) override;
  asio::any_io_executor executor() override;

  TimePoint now() const;
  // Moves time, and does everything that becomes due: retries, delays, timeouts, lost leases, deadlines.
  void advance(Millis time);

  struct WorkOptions {
    std::string ns = "default";
    std::vector<std::string> lanes = {"default"};
    std::vector<std::string> capabilities = {};
    std::size_t attempts_max = 1000;  // throws if there are more: a test that would never end
  };
  // Runs handlers by kind ("": all others) on the calling thread, one after the other, until all
  // executions have ended or are suspended. When only delayed ones are left, it moves time to the next one;
  // advance() moves it to the timeout of a suspension.
  std::vector<Attempt> work(const std::map<std::string, Handler>& handlers, WorkOptions options);
  std::vector<Attempt> work(const std::map<std::string, Handler>& handlers);

  // ---- Faults. During work(), a handler hears of the first two through Task::cancelled(). -----------

  void lose_lease(const ExecutionId& id);
  void cancel(const ExecutionId& id);

  // Until it is up again, every call fails with store_unavailable.
  void set_down(bool down);

  enum class Fault { before, reply_lost };  // reply_lost: the operation was carried out
  // The next `count` calls of this kind fail.
  template <ListedIn<EngineOperations> Op>
  void fail_next(int count, Errc code, Fault fault = Fault::before) {
    fail_next(index_of<EngineOperations, Op>, count, code, fault);
  }

 private:
  class State;
  void fail_next(std::size_t operation, int count, Errc code, Fault fault);
  std::unique_ptr<State> state_;
};

}  // namespace ff::testing
