// What a task shares with the worker that runs it.
#pragma once

#include <flowfabric/task.hpp>

#include <atomic>

namespace ff {

class Engine;

// Thread-safe.
class Task::Context {
 public:
  explicit Context(Engine& engine) : engine_(engine) {}

  Engine& engine() { return engine_; }

  // The first reason counts, but one that the worker stops gives way to a better one.
  void cancel(CancelReason reason);
  std::optional<CancelReason> cancelled() const { return reason_.load(); }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  Engine& engine_;
  std::stop_source stop_;
  std::atomic<std::optional<CancelReason>> reason_;
};

}  // namespace ff
