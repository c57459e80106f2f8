// State shared by a task and the worker that runs it.
#pragma once

#include <flowfabric/task.hpp>

#include <atomic>

namespace ff {

class Engine;

// Thread-safe.
class Task::Context {
 public:
  Context(Engine& engine, TimePoint lease_expires_at)
      : engine_(engine), lease_expires_at_(lease_expires_at) {}

  Engine& engine() { return engine_; }

  // The first reason counts, but one that the worker stops gives way to a better one, and that the lease
  // is lost to why it is.
  void cancel(CancelReason reason);
  std::optional<CancelReason> cancelled() const { return reason_.load(); }
  void renewed(TimePoint lease_expires_at) { lease_expires_at_ = lease_expires_at; }
  TimePoint lease_expires_at() const { return lease_expires_at_; }
  // Counts the reports of usage.
  std::uint64_t next_report() { return reports_.fetch_add(1); }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  Engine& engine_;
  std::stop_source stop_;
  std::atomic<std::optional<CancelReason>> reason_;
  std::atomic<std::uint64_t> reports_ = 0;
  std::atomic<TimePoint> lease_expires_at_;
};

// Makes tasks outside of a worker, and looks into them.
struct TaskMaker {
  static Task make(ClaimedExecution claimed, std::shared_ptr<Task::Context> context) {
    return {std::move(claimed), std::move(context)};
  }
  static Task::Run& run(Task& task) { return *task.run_; }
};

}  // namespace ff
