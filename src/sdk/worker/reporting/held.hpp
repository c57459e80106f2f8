// An execution in a worker's hands.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/async/wakeup.hpp"
#include "sdk/worker/task_context.hpp"

namespace ff {

// From its claim until what came of it is reported, or given up. Belongs to the worker's strand.
struct Held {
  using Steady = std::chrono::steady_clock;

  Held(const ClaimedExecution& claimed, Millis lease_ttl, std::shared_ptr<Task::Context> c,
       const asio::any_io_executor& strand)
      : id(claimed.id), fence(claimed.fence), context(std::move(c)), renewal(strand) {
    for (const auto& deadline : {claimed.attempt_deadline, claimed.deadline})
      if (deadline) due = std::min(*deadline, due.value_or(*deadline));
    leased(claimed.lease_expires_at - lease_ttl);
  }

  // The lease began or was renewed at `at` by the engine's clock, just now by ours.
  void leased(TimePoint at) {
    engine_time_ = at;
    seen_at_ = Steady::now();
  }
  TimePoint engine_time() const {
    return engine_time_ + std::chrono::duration_cast<Millis>(Steady::now() - seen_at_);
  }

  void lose(CancelReason why) {
    lost = true;
    context->cancel(why);
  }

  const ExecutionId id;
  const Fence fence;
  std::optional<TimePoint> due;  // when the attempt's or the execution's time is over; told once
  const std::shared_ptr<Task::Context> context;
  const Steady::time_point claimed_at = Steady::now();
  Wakeup renewal;  // renew at once, or see that it is done

  bool returned = false;     // its handler has
  bool handed_back = false;  // what the handler returns is dropped
  bool lost = false;         // the lease is gone
  bool done = false;         // nothing is left to do for it

 private:
  TimePoint engine_time_;
  Steady::time_point seen_at_;
};

}  // namespace ff
