// Queries of a store on Valkey that concern all partitions, or one as a whole.
#pragma once

#include "store/store.hpp"
#include "store/valkey/caches/local_copy.hpp"
#include "store/valkey/calls/functions.hpp"

namespace ff::valkey_store {

class Sweeps {
 public:
  struct Parts {
    Background& background;
    Client& client;
    Functions& functions;
    LocalCopy& copy;
    const Membership& membership;
    const ServerClock& clock;
  };
  explicit Sweeps(Parts parts) : parts_(parts) {}

  // An operation that has no single owner, or reads much of one.
  void start(store::AnyCall& any);

 private:
  Async<StateCounts> answer(CountExecutions query);
  Async<StateCounts> answer(store::CountAll query);
  Async<std::vector<store::WaitingCount>> answer(store::CountWaiting query);
  Async<std::vector<store::HeldExecution>> answer(store::FindHeld query);
  Async<std::vector<store::BlockedCount>> answer(store::CountBlocked query);
  Async<store::BlockedPage> answer(store::FindBlocked query);
  Async<store::FlowPage> answer(store::FindOpenFlows query);
  Async<store::OwedCancels> answer(store::FindOwedCancels query);
  Async<store::DueReply> answer(store::RetentionDue query);
  Async<store::ReconcileReply> answer(store::Reconcile query);
  Async<store::EffectPage> answer(store::FindEffects query);
  Async<Done> answer(store::SettleEffects command);
  Async<ExecutionList> answer(ListExecutions query);
  Async<FlowList> answer(ListFlows query);
  Async<FlowNodes> answer(ListFlowNodes query);
  Async<Done> answer(store::Probe query);
  Async<BackupReply> answer(Backup operation);

  Async<StateCounts> count(std::optional<Namespace> ns, std::optional<LaneId> lane);
  Async<void> drop_owed(PartitionIndex partition, store::OwedTo to, std::string entry);

  Parts parts_;
};

}  // namespace ff::valkey_store
