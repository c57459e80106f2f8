// Does the steps of a sequence on both sides, and compares what they answer and what they then have.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/differential/sides.hpp"
#include "tests/differential/step.hpp"

namespace ff::differential {

class Driver {
 public:
  explicit Driver(Sides& sides) : sides_(sides) {}

  void carry_out(const Step& step);

  // Every execution, every list, all counts.
  void compare_all();

  // Time, scanners and one worker that can do everything: all must come to an end.
  void drain();

 private:
  struct Known {
    Submit submit;
    std::vector<Fence> fences = {};  // of every lease, the newest last
    std::optional<WorkerId> granted_to = {};
    std::optional<TimePoint> attempt_deadline = {};
    std::optional<ExecutionInfo> info = {};      // none: it is gone
    std::vector<WaitpointInfo> waitpoints = {};  // that were ever told
  };

  void run(const property::SubmitOne& operation);
  void run(const property::SubmitBatch& operation);
  void run(const property::SubmitAgain& operation);
  void run(const property::ClaimSome& operation);
  void run(const property::GrantOne& operation);
  void run(const property::ClaimGrantedOne& operation);
  void run(const property::ClaimOne& operation);
  void run(const property::ByWorker& operation);
  void run(const property::CompleteBatch& operation);
  void run(const property::CancelOne& operation);
  void run(const property::RevokeOne& operation);
  void run(const property::Prioritise& operation);
  void run(const property::Tag& operation);
  void run(const property::ReplayOne& operation);
  void run(const property::Advance& operation) { sides_.advance(operation.by); }
  void run(const property::Scan& operation);
  void run(const property::Restart& operation);
  void run(const property::Operation& operation);
  void run(const ToNextTimer& step);
  void run(const WaitStep& step);
  void suspend(const WaitStep& step, const ExecutionId& id, const Fence& fence);
  void create_waitpoint(const WaitStep& step, const ExecutionId& id, const Fence& fence);
  void send_signal(const WaitStep& step, const ExecutionId& id);
  ExecutionId resolve_suspended(const WaitStep& step) const;
  WaitpointId choose_waitpoint(const ExecutionId& id, unsigned n) const;
  void told(const ExecutionId& id, const IssuedWaitpoint& waitpoint);
  void compare_waits(const ExecutionId& id);

  template <class Op>
  Result<typename Op::Reply> change(std::string_view what, const Op& operation);
  void by_worker(const property::ByWorker& operation, const ExecutionId& id, const Fence& fence);
  Complete completion(const ExecutionId& id, const Fence& fence, unsigned kind_of_result);

  Submit to_submit(const property::Submission& submission);
  void submitted(const Submit& submit, const Result<SubmitReply>& reply);
  void claimed(const ClaimedExecution& execution);

  ExecutionId resolve(const property::Target& target) const;
  Fence choose_fence(const ExecutionId& id, property::FenceChoice choice);
  std::optional<TimePoint> next_timer() const;

  void touch(const ExecutionId& id) { touched_.insert(id); }
  // Answers of both engines about an execution.
  struct Said;
  Said ask(const ExecutionId& id);
  void compare(const ExecutionId& id, Said said);
  void compare_touched();
  void compare_lists(const Namespace& ns);

  Sides& sides_;
  std::map<ExecutionId, Known> known_;
  std::vector<ExecutionId> order_;  // all that were ever made, the oldest first
  std::set<ExecutionId> touched_;
  unsigned submitted_ = 0;
  unsigned invented_ = 0;
};

}  // namespace ff::differential
