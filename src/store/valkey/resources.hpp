// Budgets, quotas, workers, paused lanes and the audit log of a store on Valkey. Each budget and each quota lives in a
// partition of its kind, the workers of a namespace in one of their own; the others have one place each.
#pragma once

#include <atomic>
#include <memory>

#include "store/store.hpp"
#include "store/valkey/caches/paused_lanes_mirror.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/calls/sent_call.hpp"

namespace ff::valkey_store {

class Resources {
 public:
  struct Parts {
    Background& background;
    Client& client;
    Functions& functions;
    const ServerClock& clock;
    Confirmations* confirmations;  // none: what the server answers counts as safe
    PausedLanesMirror& lanes;
  };
  explicit Resources(Parts parts);

  // An operation whose owner is a budget, a quota or workers.
  void start(store::AnyCall& any);

 private:
  // An operation on its way.
  struct Sent {
    keys::Address address;
    ResourceContext refusal;
    bool only_reads = false;
    bool waits_for_disk = false;
  };

  template <class Op>
  void run(store::Call<Op>& call);
  template <class Op>
  void send_to_owner(store::Call<Op> call, FunctionCall function);
  void send(Sent sent, Request request, std::shared_ptr<SentCall> call);
  template <class Create>
  void send_if_there_is_room(store::Call<Create>& call);

  // Names one call, so that one that is sent again after a lost answer counts once.
  std::string make_call_id() { return fmt::format("{}.{}", calls_, ++calls_made_); }
  keys::Address address_of(const Subject& subject) const;
  // The first value that a function answers.
  Async<std::string> ask_at(keys::Address address, FunctionCall function);
  template <class Id>
  Async<std::vector<Id>> find_ids(std::optional<Namespace> ns, std::optional<Id> after,
                                  std::size_t max);
  template <class Get, class Id>
  Async<std::vector<typename Get::Reply>> get_all(const std::vector<Id>& ids);

  Async<BudgetList> answer(ListBudgets query);
  Async<QuotaList> answer(ListQuotas query);
  Async<std::vector<BudgetId>> answer(core::AllBudgets query);
  Async<std::vector<QuotaId>> answer(core::AllQuotas query);
  Async<std::vector<WorkerInfo>> answer(core::LiveWorkers query);
  Async<core::BudgetsDue> answer(core::ResetsDue query);
  Async<std::vector<core::HeldToken>> answer(core::HeldTokens query);
  Async<std::vector<ExecutionId>> answer(core::LedgerOf query);
  Async<bool> answer(core::ReconcileBudgets query);
  Async<Done> answer(core::ReconcileQuotas query);
  Async<std::size_t> answer(core::RefreshPausedLanes query);
  Async<AuditPage> answer(ReadAudit query);

  Parts parts_;
  std::string calls_;  // of this store alone
  std::atomic<std::uint64_t> calls_made_ = 0;
};

}  // namespace ff::valkey_store
