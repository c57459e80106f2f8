// Model of an engine's behaviour, as simple as possible: no store, no indexes, one
// flat struct per execution. It shares no code with the state machine that it is compared with.
#pragma once

#include <flowfabric/operations.hpp>

#include <expected>
#include <map>
#include <set>
#include <vector>

namespace ff::property {

enum class Phase : std::uint8_t { waiting, granted, delayed, active, ended };

// How the newest lease was given up by its worker; a repeated call is answered by it.
enum class GivenUp : std::uint8_t { no, completed, failed, delayed, waited, handed_back };

struct Modelled {
  ExecutionId id;
  Submit submit;  // as it came
  std::int32_t priority = 0;
  Tags tags = {};
  TimePoint created_at;
  TimePoint queued_at;
  std::optional<TimePoint> deadline = {};

  Phase phase = Phase::waiting;
  TimePoint until = {};  // of a grant, a delay or a lease
  WorkerId worker = {};  // of a grant or a lease
  std::optional<TimePoint> attempt_deadline = {};
  std::optional<Millis> timeout_left = {};
  std::vector<Fence> fences = {};  // of every lease, the newest last
  std::vector<AttemptOutcome> attempts = {};
  bool revoked = false;    // its newest lease
  bool replaying = false;  // the next attempt is a replay
  GivenUp given_up{};
  FailReply fail_reply = {};

  std::uint32_t retries = 0;
  std::uint32_t reclaims = 0;
  std::uint32_t replays = 0;
  std::optional<TimePoint> started_at = {};
  std::optional<Progress> progress = {};

  // While ended:
  ExecutionState end_state{};
  TimePoint ended_at = {};
  std::optional<Fence> cancelled_by = {};
  std::optional<std::string> result = {};

  void end(ExecutionState state, TimePoint now);
  // The attempt failed: another one may come, or it ends as `otherwise`.
  FailReply fail_attempt(const std::string& category, ExecutionState otherwise, TimePoint now);

  bool lost_lease() const;  // and nobody has claimed it since
  bool paused() const { return !attempts.empty() && attempts.back() == AttemptOutcome::paused; }
  LeaseEpoch epoch() const { return LeaseEpoch{fences.size()}; }
};

ExecutionState state_of(const Modelled& execution);
StateVector vector_of(const Modelled& execution);
TimePoint retained_until(const Modelled& execution);

// Expected reply of GetExecution. Reasons are words, not behaviour: they are taken from `actual`.
ExecutionInfo info_of(const Modelled& execution, const ExecutionInfo& actual);

// The reply, or the error, that the engine should give.
template <class Reply>
using Predicted = std::expected<Reply, Errc>;

class Model {
 public:
  static constexpr PartitionIndex partition_count = 256;

  // Execution that a submit finds: null if it should create one, or duplicate_mismatch.
  Predicted<const Modelled*> existing(const Submit& submit, TimePoint now) const;
  Modelled& add(const ExecutionId& id, const Submit& submit, TimePoint now);

  // Those that a worker might get now. A claim takes the best, or the one that has waited longest.
  std::vector<const Modelled*> claimable(const Namespace& ns, const std::vector<LaneId>& lanes,
                                         const CapabilitySet& capabilities) const;
  void granted(const ExecutionId& id, const WorkerId& worker, TimePoint until);

  // Whether the claim should succeed; `repeated` if the worker has that lease already.
  struct MayClaim {
    bool repeated = false;
  };
  Predicted<MayClaim> may_claim(const ClaimGranted& claim, TimePoint now) const;
  Predicted<MayClaim> may_claim(const ClaimExecution& claim, TimePoint now) const;
  bool holds(const ExecutionId& id, const WorkerId& worker, const LeaseId& lease,
             TimePoint now) const;
  // Expected reply, except for the ids that the engine generates.
  ClaimedExecution claimed(const ClaimedExecution& actual, const WorkerId& worker, Millis ttl,
                           TimePoint now);

  Predicted<RenewReply> apply(const Renew& call, TimePoint now);
  Predicted<Done> apply(const UpdateProgress& call, TimePoint now);
  Predicted<EndReply> apply(const Complete& call, TimePoint now);
  Predicted<FailReply> apply(const Fail& call, TimePoint now);
  Predicted<EndReply> apply(const Delay& call, TimePoint now);
  Predicted<EndReply> apply(const WaitForChildren& call, TimePoint now);
  Predicted<EndReply> apply(const HandBack& call, TimePoint now);
  Predicted<EndReply> apply(const Cancel& call, TimePoint now);
  Predicted<RevokeReply> apply(const RevokeLease& call, TimePoint now);
  Predicted<PriorityReply> apply(const ChangePriority& call, TimePoint now);
  Predicted<TagsReply> apply(const SetTags& call, TimePoint now);
  Predicted<EndReply> apply(const Replay& call, TimePoint now);

  // Does what is due, and forgets what need not be kept longer.
  void scan(TimePoint now);

  const std::map<ExecutionId, Modelled>& executions() const { return executions_; }
  const Modelled* find(const ExecutionId& id) const;
  const std::set<ExecutionId>& removed() const { return removed_; }

 private:
  Predicted<Modelled*> get(const ExecutionId& id);
  Predicted<const Modelled*> get(const ExecutionId& id) const;
  Predicted<Modelled*> under_lease(const ExecutionId& id, const Fence& fence, TimePoint now);
  Predicted<EndReply> pause(const ExecutionId& id, const Fence& fence, GivenUp how, TimePoint until,
                            TimePoint now);

  std::map<ExecutionId, Modelled> executions_;
  std::map<std::pair<Namespace, IdempotencyKey>, ExecutionId> keys_;
  std::set<ExecutionId> removed_;
};

}  // namespace ff::property
