// Does an operation twice, in the engine and in the model, and fails if they do not agree.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/property/model.hpp"
#include "tests/property/operation.hpp"
#include "tests/property/world.hpp"

namespace ff::property {

class Driver {
 public:
  explicit Driver(World& world) : world_(world) {}

  void carry_out(const Operation& operation) {
    std::visit([this](const auto& each) { run(each); }, operation);
  }

  // Time, scanners and one worker that can do everything: all must come to an end.
  void drain();

  const Model& model() const { return model_; }
  World& world() { return world_; }

  // The executions that the latest operation was about.
  std::vector<ExecutionId> take_touched() { return std::exchange(touched_, {}); }

 private:
  using Answer = std::vector<std::pair<ExecutionId, LeaseId>>;

  void run(const SubmitOne& operation);
  void run(const SubmitBatch& operation);
  void run(const SubmitAgain& operation);
  void run(const ClaimSome& operation);
  void run(const GrantOne& operation);
  void run(const ClaimGrantedOne& operation);
  void run(const ClaimOne& operation);
  void run(const ByWorker& operation);
  void run(const CompleteBatch& operation);
  void run(const CancelOne& operation);
  void run(const RevokeOne& operation);
  void run(const Prioritise& operation);
  void run(const Tag& operation);
  void run(const ReplayOne& operation);
  void run(const Advance& operation) { world_.advance(operation.by); }
  void run(const Scan& operation);
  void run(const Restart& operation);

  Submit to_submit(const Submission& submission);
  void submitted(const Submit& submit, const Result<SubmitReply>& reply);

  void claim(const Claim& claim);
  void check_repeated(const Claim& claim, const ClaimReply& reply, const Answer& before);
  // `id` is what the engine chose for a worker, out of `candidates`.
  void check_choice(const ExecutionId& id, std::vector<const Modelled*>& candidates);
  template <class Op>
  void claim_by_id(const Op& claim);
  void check_claimed(const ClaimedExecution& actual, const WorkerId& worker, Millis ttl);

  // Runs `call` in both and compares the replies.
  template <class Op>
  void change(std::string_view what, const Op& call);
  void by_worker(const ByWorker& operation, const ExecutionId& id, const Fence& fence);

  ExecutionId resolve(const Target& target) const;
  Fence choose_fence(const ExecutionId& id, FenceChoice choice);
  Fence invent_fence();

  World& world_;
  Model model_;
  std::vector<ExecutionId> order_;  // all that were ever made, the oldest first
  std::vector<ExecutionId> touched_;
  std::map<std::pair<Namespace, RequestId>, Answer> answered_;
  unsigned invented_ = 0;
  unsigned submitted_ = 0;
  // A claim out of turn needs `oldest_first_every - 1` claims in turn before it.
  unsigned claims_in_turn_ = 0;
  unsigned claims_out_of_turn_ = 0;
};

}  // namespace ff::property
