// The quotas of the embedded store. Slots are only in memory: who holds one is in the executions.
#pragma once

#include "core/execution/execution.hpp"
#include "core/quotas/quota.hpp"
#include "store/embedded/resources/shelf.hpp"

namespace ff::embedded {

// Not thread-safe.
class Quotas {
 public:
  Result<void> restore(const Database& database);

  // After restore(): what the execution holds of its quota is held again.
  void hold(const core::Execution& execution, TimePoint now);

  Result<CreateQuotaReply> execute(const CreateQuota& command, Turn& turn);
  Result<QuotaInfo> execute(const GetQuota& query, Turn& turn);
  Result<QuotaList> execute(const ListQuotas& query, Turn& turn);
  Result<Done> execute(const DeleteQuota& command, Turn& turn);
  Result<Done> execute(const core::KeepQuota& command, Turn& turn);
  Result<core::AdmitReply> execute(const core::Admit& command, Turn& turn);
  Result<Done> execute(const core::ReleaseToken& command, Turn& turn);
  Result<std::vector<core::HeldToken>> execute(const core::HeldTokens& query, Turn& turn);
  Result<Done> execute(const core::ReconcileQuotas& command, Turn& turn);
  Result<std::vector<QuotaId>> execute(const core::AllQuotas& query, Turn& turn);

 private:
  using Entry = Shelf<core::Quota>::Entry;

  Result<Entry*> load(const QuotaId& id, Turn& turn);
  static void forget_past(Entry& entry, Turn& turn);

  Shelf<core::Quota> shelf_;
};

}  // namespace ff::embedded
