#include "engine/scanners/budget_scanners.hpp"

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

// Calls visit(id) for every budget or quota there is, a page at a time, and adds up. Fails if all of them
// fail: the node of some may be down.
template <class All, class Visit>
Async<Scan> for_each(store::Store& store, Visit visit) {
  Scan scan;
  std::optional<Error> failure;
  bool any = false;
  All query;
  while (true) {
    const auto ids = co_await store.run(query);
    FF_CO_TRY(ids);
    for (const auto& id : *ids) {
      const auto part = co_await visit(id);
      if (!part) failure = part.error();
      if (!part) continue;
      any = true;
      scan.seen += part->seen;
      scan.changed += part->changed;
    }
    if (ids->size() < query.max) break;
    query.after = ids->back();
  }
  if (failure && !any) co_return std::unexpected(std::move(*failure));
  co_return scan;
}

}  // namespace

Async<Scan> BudgetReset::run_once() {
  const auto found = co_await store_.run(core::ResetsDue{batch_max});
  FF_CO_TRY(found);
  std::vector<core::ResetIfDue> resets;
  for (const auto& id : found->due) resets.push_back({id});
  const auto replies = co_await store_.run_all(std::move(resets));
  Scan scan{.seen = found->due.size()};
  if (found->next) scan.next_in = *found->next - store_.now();
  std::optional<Error> failure;
  for (const auto& reply : replies) {
    if (!reply && reply.error().code != Errc::budget_not_found) failure = reply.error();
    scan.changed += reply ? 1 : 0;
  }
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  scan.more = scan.seen >= batch_max && scan.changed > 0;
  co_return scan;
}

Async<Scan> BudgetReconciler::run_once() {
  bool more = true;
  while (more) {
    const auto tidied = co_await store_.run(core::ReconcileBudgets{});
    FF_CO_TRY(tidied);
    more = *tidied;
  }
  const auto now = store_.now();
  const bool due = prune_at_ && now >= *prune_at_;
  if (due || !prune_at_) prune_at_ = now + prune_interval;
  if (!due) co_return Scan{};
  co_return co_await for_each<core::AllBudgets>(store_,
                                                [this](const BudgetId& id) { return prune(id); });
}

Async<Scan> BudgetReconciler::prune(const BudgetId& budget) {
  Scan scan;
  core::LedgerOf query{.budget = budget};
  while (true) {
    const auto spenders = co_await store_.run(query);
    FF_CO_TRY(spenders);
    std::vector<GetExecution> looks;
    for (const auto& id : *spenders) looks.push_back({id});
    const auto found = co_await store_.run_all(std::move(looks));
    std::vector<core::ForgetSpending> gone;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!found[i] && found[i].error().code == Errc::execution_not_found)
        gone.push_back({.budget = budget, .execution = (*spenders)[i]});
    scan.seen += spenders->size();
    scan.changed += gone.size();
    const auto forgotten = co_await store_.run_all(std::move(gone));
    for (const auto& each : forgotten) FF_CO_TRY(each);
    if (spenders->size() < query.max) co_return scan;
    query.after = spenders->back();
  }
}

Async<Scan> QuotaReconciler::run_once() {
  FF_CO_TRY(co_await store_.run(core::ReconcileQuotas{}));
  co_return co_await for_each<core::AllQuotas>(
      store_, [this](const QuotaId& id) { return give_back_lost(id); });
}

// Nothing can become a lease with a token that is no longer valid, so what nobody holds then is
// lost for good.
Async<Scan> QuotaReconciler::give_back_lost(const QuotaId& quota) {
  Scan scan;
  core::HeldTokens query{.quota = quota, .before = store_.now() - 2 * limits::quota_token_valid};
  while (true) {
    const auto held = co_await store_.run(query);
    if (!held && held.error().code == Errc::quota_not_found) co_return scan;
    FF_CO_TRY(held);
    std::vector<core::HoldsToken> questions;
    for (const auto& each : *held) questions.push_back({.id = each.execution, .token = each.token});
    const auto answers = co_await store_.run_all(std::move(questions));
    std::vector<core::ReleaseToken> lost;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] && !*answers[i]) lost.push_back({.quota = quota, .token = (*held)[i].token});
    }
    if (!lost.empty())
      log::info("quota={} slots that nobody held were given back={}", quota.str(), lost.size());
    scan.seen += held->size();
    scan.changed += lost.size();
    const auto released = co_await store_.run_all(std::move(lost));
    for (const auto& each : released) FF_CO_TRY(each);
    if (held->size() < query.max) co_return scan;
    query.after = held->back().token;
  }
}

}  // namespace ff
