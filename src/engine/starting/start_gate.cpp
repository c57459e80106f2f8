#include "engine/starting/start_gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"

namespace ff {
namespace {

// A full budget or quota is asked again after this, even without an opening.
constexpr Millis ask_again_after{1'000};
// How long a budget that refuses no more work is looked at.
constexpr Millis remembered_for{60'000};
constexpr std::size_t refusals_max = 100'000;
constexpr Millis attachable_for{5'000};
constexpr std::size_t attachable_max = 100'000;
constexpr Millis told_for{60'000};

bool is_plain(const store::Candidate& candidate) {
  return candidate.needs.budgets.empty() && !candidate.needs.quota;
}

std::string_view name_of(core::QuotaRefusal refusal) {
  return refusal == core::QuotaRefusal::rate ? "rate" : "concurrency";
}

std::string name_of(const StartGate::Resource& what) {
  if (const auto* budget = std::get_if<BudgetId>(&what)) return "budget=" + budget->str();
  return "quota=" + std::get<QuotaId>(what).str();
}

// Of many executions that one budget or quota refuses, one is news.
void log_blocked(const std::vector<std::pair<ExecutionId, Refused>>& all) {
  std::set<std::string_view> told;
  for (const auto& [id, refused] : all) {
    const bool is_news = refused.is_news && told.insert(refused.detail).second;
    log::at(is_news ? log::Level::info : log::Level::debug, "execution={} blocked reason={}: {}",
            id.str(), to_string(refused.reason), refused.detail);
  }
}

}  // namespace

std::optional<Refused> refusal_of(const BudgetId& budget, const Result<core::BudgetCheck>& check) {
  Refused refused{.reason = BlockingReason::waiting_for_budget, .detail = {}};
  if (!check) {
    refused.unreadable = check.error().code != Errc::budget_not_found;
    refused.detail = refused.unreadable ? check.error().message
                                        : fmt::format("budget {} does not exist", budget.str());
    return refused;
  }
  if (!check->breach) return std::nullopt;
  const auto& [dimension, usage, limit] = *check->breach;
  refused.detail = fmt::format("budget {}: {} {}/{}", budget.str(), dimension, usage, limit);
  refused.dimension = dimension;
  refused.until = check->next_reset_at;
  return refused;
}

std::optional<Refused> refusal_of(const QuotaId& quota, const Result<core::AdmitReply>& reply) {
  if (reply && reply->token) return std::nullopt;
  Refused refused{.reason = BlockingReason::waiting_for_quota, .detail = {}};
  if (reply) {
    refused.detail = reply->detail;
    return refused;
  }
  refused.unreadable = reply.error().code != Errc::quota_not_found;
  refused.detail = refused.unreadable ? reply.error().message
                                      : fmt::format("quota {} does not exist", quota.str());
  return refused;
}

asio::awaitable<StartGate::Cycle> StartGate::begin(const Namespace& ns) {
  Cycle cycle{.ns = ns};
  std::vector<BudgetId> due;
  {
    const std::lock_guard lock(mutex_);
    const auto now = store_.now();
    for (const auto& [what, refusal] : refusals_) {
      if (refusal.ns != ns || refusal.over) continue;
      const auto ask_again_at = refusal.looked_at + ask_again_after;
      if (const auto* quota = std::get_if<QuotaId>(&what)) {
        if (now < refusal.until.value_or(ask_again_at)) cycle.closed.quotas.insert(*quota);
        continue;
      }
      const auto& budget = std::get<BudgetId>(what);
      if (now < std::min(ask_again_at, refusal.until.value_or(ask_again_at)))
        cycle.closed.budgets.insert(budget);
      else if (now - refusal.at <= remembered_for)
        due.push_back(budget);
    }
  }
  const auto refusals = co_await look_at(cycle, std::move(due));
  cycle.failure.reset();  // there may be no work that needs what cannot be read
  const std::lock_guard lock(mutex_);
  for (const auto& [budget, refused] : refusals)
    if (const auto known = refusals_.find(budget); known != refusals_.end())
      known->second.looked_at = store_.now();
  co_return cycle;
}

asio::awaitable<std::vector<Chosen>> StartGate::admit(Cycle& cycle,
                                                      std::vector<store::Candidate> taken) {
  Asked asked;
  if (std::ranges::all_of(taken, is_plain)) {
    for (const auto& each : taken) asked.chosen.push_back({.id = each.id});
    co_return std::move(asked.chosen);
  }
  const Asking asking(*this, taken);
  const auto refusals = co_await check_budgets(cycle, taken);
  std::vector<store::Candidate> wanting;
  for (auto& each : taken) {
    const auto refused_by = std::ranges::find_if(
        each.needs.budgets, [&](const BudgetId& id) { return refusals.contains(id); });
    if (refused_by == each.needs.budgets.end()) {
      wanting.push_back(std::move(each));
      continue;
    }
    const auto& refused = refusals.at(*refused_by);
    if (refused.dimension) metrics_.budget_hit(*refused.dimension);
    asked.refused.emplace_back(each.id, refused);
  }
  co_await ask_quotas(cycle, std::move(wanting), asked);
  log_blocked(asked.refused);
  std::vector<ExecutionId> refused;
  for (const auto& [id, why] : asked.refused) refused.push_back(id);
  co_await put_back(std::move(refused));
  asking.reopen(cycle);
  co_return std::move(asked.chosen);
}

asio::awaitable<StartGate::BudgetRefusals> StartGate::check_budgets(
    Cycle& cycle, const std::vector<store::Candidate>& taken) {
  std::set<BudgetId> unknown;
  for (const auto& each : taken)
    for (const auto& budget : each.needs.budgets)
      if (!cycle.open.contains(budget)) unknown.insert(budget);
  std::vector<BudgetId> budgets(unknown.begin(), unknown.end());
  auto refusals = co_await look_at(cycle, std::move(budgets));
  for (auto& [budget, refused] : refusals)
    refused.is_news = refused.unreadable || note_refusal(cycle, budget, refused.until);
  co_return refusals;
}

asio::awaitable<StartGate::BudgetRefusals> StartGate::look_at(Cycle& cycle,
                                                              std::vector<BudgetId> budgets) {
  BudgetRefusals refusals;
  auto replies = co_await checks_.ask(budgets);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& budget = budgets[i];
    auto& reply = replies[i];
    if (auto refused = refusal_of(budget, reply)) {
      if (refused->unreadable) cycle.failure = std::move(reply.error());
      cycle.closed.budgets.insert(budget);
      refusals.emplace(budget, std::move(*refused));
      continue;
    }
    cycle.open.insert(budget);
    const std::lock_guard lock(mutex_);
    end_refusal(budget);
  }
  co_return refusals;
}

// Each candidate asks for itself: a slot that one of them gets no other has.
asio::awaitable<void> StartGate::ask_quotas(Cycle& cycle, std::vector<store::Candidate> wanting,
                                            Asked& asked) {
  std::vector<core::Admit> questions;
  for (const auto& each : wanting)
    if (each.needs.quota)
      questions.push_back({.quota = *each.needs.quota, .token = mint_(), .execution = each.id});
  auto replies = co_await store_.run_all(questions);

  std::size_t next = 0;
  for (const auto& each : wanting) {
    if (!each.needs.quota) {
      asked.chosen.push_back({.id = each.id});
      continue;
    }
    const auto& quota = *each.needs.quota;
    auto& reply = replies[next];
    ++next;
    auto refused = refusal_of(quota, reply);
    if (!refused) {
      asked.chosen.push_back({.id = each.id, .quota = quota, .token = reply->token});
      continue;
    }
    if (reply) metrics_.quota_hit(name_of(reply->refusal));
    cycle.closed.quotas.insert(quota);
    if (refused->unreadable) {
      refused->is_news = true;
      cycle.failure = std::move(reply.error());
    } else {
      refused->is_news = note_refusal(cycle, quota, reply ? reply->retry_at : std::nullopt);
    }
    asked.refused.emplace_back(each.id, std::move(*refused));
  }
}

Async<Chosen> StartGate::admit_one(const Namespace& ns, ExecutionId id, core::Needs needs) {
  Cycle cycle{.ns = ns};
  std::vector<store::Candidate> candidates{{.id = id, .needs = std::move(needs)}};
  const auto refusals = co_await check_budgets(cycle, candidates);
  if (cycle.failure) co_return std::unexpected(std::move(*cycle.failure));
  if (!refusals.empty() && refusals.begin()->second.dimension)
    metrics_.budget_hit(*refusals.begin()->second.dimension);
  if (!refusals.empty())
    co_return fail(
        Errc::budget_exceeded,
        fmt::format("execution {} may not start: {}", id.str(), refusals.begin()->second.detail),
        {{"budget", refusals.begin()->first.str()}});
  Asked asked;
  co_await ask_quotas(cycle, std::move(candidates), asked);
  if (cycle.failure) co_return std::unexpected(std::move(*cycle.failure));
  if (!asked.refused.empty())
    co_return fail(Errc::quota_exceeded, fmt::format("execution {} may not start: {}", id.str(),
                                                     asked.refused.front().second.detail));
  co_return std::move(asked.chosen.front());
}

asio::awaitable<void> StartGate::give_back(std::vector<Chosen> unused) {
  std::vector<core::ReleaseToken> releases;
  for (const auto& each : unused)
    if (each.token)
      releases.push_back({.quota = *each.quota, .token = each.token->id, .unused = true});
  const auto released = co_await store_.run_all(releases);
  for (std::size_t i = 0; i < releases.size(); ++i)
    if (!released[i])
      log::warn(
          "quota={} a slot of work that did not start is not released, the reconciler will: {}",
          releases[i].quota.str(), released[i].error().message);
}

asio::awaitable<void> StartGate::put_back(std::vector<ExecutionId> ids) {
  std::vector<store::PutBack> back;
  for (const auto& id : ids) back.push_back({id});
  co_await store_.run_all(std::move(back));
}

bool StartGate::note_refusal(const Cycle& cycle, const Resource& what,
                             std::optional<TimePoint> until) {
  const auto now = store_.now();
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    if (refusals_.size() >= refusals_max)
      std::erase_if(refusals_,
                    [&](const auto& each) { return now - each.second.at > remembered_for; });
    auto& refusal = refusals_[what];
    is_news = !refusal.told_at || now - *refusal.told_at >= told_for;
    refusal = {.ns = cycle.ns,
               .at = now,
               .looked_at = now,
               .until = until,
               .told_at = is_news ? now : refusal.told_at,
               .told = is_news || refusal.told};
  }
  if (std::holds_alternative<QuotaId>(what))
    on_closed_(until ? std::max(Millis{0}, *until - now) : ask_again_after);
  return is_news;
}

void StartGate::expect_opening(const QuotaId& quota) {
  const std::lock_guard lock(mutex_);
  const auto refusal = refusals_.find(quota);
  if (refusal != refusals_.end() && !refusal->second.until) refusal->second.over = true;
}

bool StartGate::end_refusal(const Resource& what) {
  const auto refusal = refusals_.find(what);
  if (refusal == refusals_.end()) return false;
  refusal->second.over = true;
  if (std::exchange(refusal->second.told, false))
    log::info("{} has room again, so its work is unblocked", name_of(what));
  return true;
}

bool StartGate::opened(const Resource& what) {
  // Before it is noted: a claim whose `Asking` does not hear of it asks anew.
  if (const auto* budget = std::get_if<BudgetId>(&what)) checks_.changed(*budget);
  const std::lock_guard lock(mutex_);
  if (const auto asked = questions_.find(what); asked != questions_.end()) ++asked->second.openings;
  return end_refusal(what);
}

std::vector<StartGate::Wanted> StartGate::wanted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Wanted> all;
  for (const auto& [what, refusal] : refusals_)
    all.push_back({.what = what, .until = refusal.over ? std::nullopt : refusal.until});
  return all;
}

void StartGate::not_wanted(const Resource& what) {
  const std::lock_guard lock(mutex_);
  // A question under way may be refused, with the execution that wants it taken from the queue.
  if (!questions_.contains(what)) refusals_.erase(what);
}

StartGate::Asking::Asking(StartGate& gate, const std::vector<store::Candidate>& candidates)
    : gate_(gate) {
  const std::lock_guard lock(gate_.mutex_);
  const auto note = [&](const Resource& what) {
    if (openings_before_.contains(what)) return;
    auto& questions = gate_.questions_[what];
    ++questions.count;
    openings_before_[what] = questions.openings;
  };
  for (const auto& each : candidates) {
    for (const auto& budget : each.needs.budgets) note(budget);
    if (each.needs.quota) note(*each.needs.quota);
  }
}

StartGate::Asking::~Asking() {
  const std::lock_guard lock(gate_.mutex_);
  for (const auto& [what, before] : openings_before_) {
    const auto questions = gate_.questions_.find(what);
    if (--questions->second.count == 0) gate_.questions_.erase(questions);
  }
}

void StartGate::Asking::reopen(Cycle& cycle) const {
  const std::lock_guard lock(gate_.mutex_);
  for (const auto& [what, before] : openings_before_) {
    if (gate_.questions_.at(what).openings == before) continue;
    if (const auto* budget = std::get_if<BudgetId>(&what))
      cycle.closed.budgets.erase(*budget);
    else
      cycle.closed.quotas.erase(std::get<QuotaId>(what));
    gate_.end_refusal(what);
  }
}

Async<void> StartGate::attachable(const Namespace& ns, const Policy& policy) {
  std::vector<Resource> wanted;
  {
    const std::lock_guard lock(mutex_);
    const auto consider = [&](const Resource& what) {
      const auto known = attachable_.find({ns, what});
      if (known == attachable_.end() || store_.now() - known->second > attachable_for)
        wanted.push_back(what);
    };
    for (const auto& budget : policy.budgets) consider(budget);
    if (policy.quota) consider(*policy.quota);
  }
  for (const auto& what : wanted) {
    if (const auto* budget = std::get_if<BudgetId>(&what)) {
      const auto info = co_await store_.run(GetBudget{*budget});
      FF_CO_TRY(info);
      if (info->ns != ns) co_return core::refusals::not_found(*budget);
    } else {
      const auto& quota = std::get<QuotaId>(what);
      const auto info = co_await store_.run(GetQuota{quota});
      FF_CO_TRY(info);
      if (info->ns != ns) co_return core::refusals::not_found(quota);
    }
    const std::lock_guard lock(mutex_);
    if (attachable_.size() >= attachable_max) attachable_.clear();
    attachable_[{ns, what}] = store_.now();
  }
  co_return Result<void>{};
}

Async<void> StartGate::keep_limit(const Namespace& ns, const LaneId& lane, Policy& policy) {
  if (!policy.max_running || !policy.fairness_key) co_return Result<void>{};
  const auto id = core::quota_of_key(ns, lane, *policy.fairness_key);
  const auto max = *policy.max_running;
  policy.quota = id;
  core::KeepQuota keep{.id = id, .ns = ns, .max_concurrent = max};
  {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_limits_.find(id);
    keep.is_known = kept != kept_limits_.end();
    if (keep.is_known && kept->second.max == max &&
        store_.now() - kept->second.at <= attachable_for)
      co_return Result<void>{};
  }
  const auto kept = co_await store_.run(std::move(keep));
  FF_CO_TRY(kept);
  const std::lock_guard lock(mutex_);
  if (kept_limits_.size() >= attachable_max) kept_limits_.clear();
  kept_limits_[id] = {.max = max, .at = store_.now()};
  co_return Result<void>{};
}

void StartGate::forget(const Resource& attached) {
  const std::lock_guard lock(mutex_);
  if (const auto* quota = std::get_if<QuotaId>(&attached)) kept_limits_.erase(*quota);
  std::erase_if(attachable_, [&](const auto& each) { return each.first.second == attached; });
}

}  // namespace ff
