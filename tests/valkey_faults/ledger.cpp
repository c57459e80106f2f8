#include "tests/valkey_faults/ledger.hpp"

#include <fmt/format.h>

#include "sdk/client/blocking.hpp"

namespace ff::faults {
namespace {

// A worker was too late: its lease is another's, or the execution has ended.
bool is_too_late(Errc code) {
  return code == Errc::stale_lease || code == Errc::lease_expired || code == Errc::lease_revoked ||
         code == Errc::execution_not_active;
}

// Errors of the store are worth another try; nobody asks for ever.
template <class Op>
Result<typename Op::Reply> ask(Engine& engine, const Op& operation) {
  constexpr int tries_max = 5;
  auto reply = run_blocking(engine, operation);
  for (int i = 1; i < tries_max && !reply && reply.error().code == Errc::store_unavailable; ++i)
    reply = run_blocking(engine, operation);
  return reply;
}

}  // namespace

void Ledger::submitted(const ExecutionId& id, std::string payload) {
  const std::lock_guard lock(mutex_);
  auto& told = told_[id];
  told.submitted = true;
  told.payload = std::move(payload);
  ++submitted_;
}

void Ledger::claimed(const ClaimedExecution& execution, Millis ttl) {
  const std::lock_guard lock(mutex_);
  auto& leases = told_[execution.id].leases;
  const Lease lease{.id = execution.fence.lease_id,
                    .from = execution.lease_expires_at - ttl,
                    .until = execution.lease_expires_at};
  const auto [at, first] = leases.try_emplace(execution.fence.lease_epoch, lease);
  if (!first && at->second.id != lease.id)
    problem(execution.id, fmt::format("lease #{} was given twice",
                                      std::to_underlying(execution.fence.lease_epoch)));
}

void Ledger::renewed(const ClaimedExecution& execution, TimePoint until) {
  const std::lock_guard lock(mutex_);
  auto& lease = told_[execution.id].leases.at(execution.fence.lease_epoch);
  lease.until = std::max(lease.until, until);
}

void Ledger::given_up(const ClaimedExecution& execution) {
  const std::lock_guard lock(mutex_);
  told_[execution.id].leases.at(execution.fence.lease_epoch).given_up = true;
}

void Ledger::completed(const ClaimedExecution& execution, std::string result) {
  const std::lock_guard lock(mutex_);
  auto& told = told_[execution.id];
  told.leases.at(execution.fence.lease_epoch).given_up = true;
  told.results[execution.fence.lease_epoch] = std::move(result);
  ++completed_;
}

void Ledger::refused(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (is_too_late(error.code)) return;
  ++troubles_;
  if (!error.retryable())
    problems_.push_back(
        fmt::format("a call failed for good: {} ({})", error.name(), error.message));
}

void Ledger::problem(const ExecutionId& id, std::string text) {
  problems_.push_back(id.str() + ": " + std::move(text));
}

std::size_t Ledger::submitted_count() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}
std::size_t Ledger::completed_count() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}
std::size_t Ledger::troubles() const {
  const std::lock_guard lock(mutex_);
  return troubles_;
}

std::vector<ExecutionId> Ledger::submitted_ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExecutionId> ids;
  for (const auto& [id, told] : told_)
    if (told.submitted) ids.push_back(id);
  return ids;
}

std::vector<ExecutionId> Ledger::unfinished() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExecutionId> ids;
  for (const auto& [id, told] : told_)
    if (told.results.empty()) ids.push_back(id);
  return ids;
}

void Ledger::check(const ExecutionId& id, const Told& told, Engine& engine,
                   std::vector<std::string>& problems) {
  const auto problem = [&](std::string text) { problems.push_back(id.str() + ": " + text); };
  const auto info = ask(engine, GetExecution{id});
  if (!info) return problem(fmt::format("{} ({})", info.error().name(), info.error().message));
  if (info->state != ExecutionState::completed) {
    // A submit without a reply may be carried out at the very end.
    const bool acknowledged = told.submitted || !told.results.empty();
    if (acknowledged) problem(fmt::format("is {} in the end", to_string(info->state)));
    return;
  }
  if (told.results.size() > 1) problem("was completed twice");
  const auto result = ask(engine, GetResult{.id = id});
  if (!result)
    problem("has no result: " + result.error().message);
  else if (!told.results.empty() && result->bytes != told.results.rbegin()->second)
    problem("has another result than was acknowledged");
  if (told.submitted) {
    const auto payload = ask(engine, GetPayload{id});
    if (!payload || payload->bytes != told.payload) problem("has another payload");
  }
  const Lease* before = nullptr;
  for (const auto& [epoch, lease] : told.leases) {
    if (before && !before->given_up && lease.from < before->until)
      problem(fmt::format("lease #{} began {} ms before the one before it ended",
                          std::to_underlying(epoch), (before->until - lease.from).count()));
    before = &lease;
  }
}

std::string Ledger::problems(Engine& engine) const {
  constexpr std::size_t shown_max = 10;
  const std::lock_guard lock(mutex_);
  auto problems = problems_;
  for (const auto& [id, told] : told_) check(id, told, engine, problems);
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), shown_max); ++i) text += problems[i] + "\n";
  if (problems.size() > shown_max)
    text += fmt::format("and {} more\n", problems.size() - shown_max);
  return text;
}

}  // namespace ff::faults
