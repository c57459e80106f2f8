#include "tests/valkey_faults/ledger.hpp"

#include <algorithm>

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
  const auto from = execution.lease_expires_at - ttl;
  told_[execution.id].leases.try_emplace(execution.fence.lease_id,
                                         Lease{.epoch = execution.fence.lease_epoch,
                                               .from = from,
                                               .known_at = from,
                                               .until = execution.lease_expires_at});
}

void Ledger::renewed(const ClaimedExecution& execution, Millis ttl, TimePoint until) {
  const std::lock_guard lock(mutex_);
  auto& lease = told_[execution.id].leases.at(execution.fence.lease_id);
  lease.known_at = std::max(lease.known_at, until - ttl);
  lease.until = std::max(lease.until, until);
}

void Ledger::given_up(const ClaimedExecution& execution) {
  const std::lock_guard lock(mutex_);
  told_[execution.id].leases.at(execution.fence.lease_id).given_up = true;
}

void Ledger::completed(const ClaimedExecution& execution, std::string result) {
  const std::lock_guard lock(mutex_);
  auto& told = told_[execution.id];
  told.leases.at(execution.fence.lease_id).given_up = true;
  told.results[execution.fence.lease_id] = std::move(result);
  ++completed_;
}

void Ledger::refused(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (is_too_late(error.code)) return;
  if (error.code == Errc::execution_not_found && !losses_.empty()) return;  // check() finds out
  ++troubles_;
  if (!error.retryable())
    problems_.push_back(
        fmt::format("a call failed for good: {} ({})", error.name(), error.message));
}

void Ledger::lost_unconfirmed(TimePoint at) {
  const std::lock_guard lock(mutex_);
  losses_.push_back(at);
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
                   Problems& problems) const {
  const auto problem = [&](std::string text) { problems.push_back(id.str() + ": " + text); };
  const auto info = ask(engine, GetExecution{id});
  const bool acknowledged = told.submitted || !told.results.empty();
  if (!info) {
    const bool may_be_lost = !acknowledged && !losses_.empty();
    if (may_be_lost && info.error().code == Errc::execution_not_found) return;
    return problem(fmt::format("{} ({})", info.error().name(), info.error().message));
  }
  check_leases(id, told, problems);
  if (info->state != ExecutionState::completed) {
    // A submit without a reply may be carried out at the very end.
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
}

// A lease follows the one before it, unless that one may have been lost in between.
void Ledger::check_leases(const ExecutionId& id, const Told& told, Problems& problems) const {
  std::vector<Lease> leases;
  for (const auto& [lease_id, lease] : told.leases) leases.push_back(lease);
  std::ranges::sort(leases, {},
                    [](const Lease& lease) { return std::pair(lease.from, lease.epoch); });
  for (std::size_t i = 1; i < leases.size(); ++i) {
    const auto& before = leases[i - 1];
    const auto& lease = leases[i];
    const auto is_between = [&](TimePoint at) { return before.known_at <= at && at <= lease.from; };
    if (std::ranges::any_of(losses_, is_between)) continue;
    const auto number = std::to_underlying(lease.epoch);
    if (lease.epoch <= before.epoch)
      problems.push_back(fmt::format("{}: lease #{} was given after #{}", id.str(), number,
                                     std::to_underlying(before.epoch)));
    else if (!before.given_up && lease.from < before.until)
      problems.push_back(fmt::format("{}: lease #{} began {} ms before the one before it ended",
                                     id.str(), number, (before.until - lease.from).count()));
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
