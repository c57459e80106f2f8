#include "engine/scheduler.hpp"

namespace ff {
namespace {

constexpr int rounds_max = 64;

// Another worker was faster, or it ended; look for something else.
bool is_gone(const Error& error) {
  switch (error.code) {
    case Errc::execution_not_leaseable:
    case Errc::execution_not_eligible:
    case Errc::execution_not_found:
    case Errc::grant_already_exists:
    case Errc::capability_mismatch: return true;
    default: return false;
  }
}

// The lease on an execution for a request, the same whenever it is asked.
LeaseId lease_of(const RequestId& request, const ExecutionId& execution) {
  auto bytes = request.uuid().bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] ^= execution.uuid().bytes()[i];
  return LeaseId{Uuid{bytes}};
}

store::TakeReady take_for(const auto& wanted, std::size_t max) {
  return {.ns = wanted.ns, .lanes = wanted.lanes, .capabilities = wanted.capabilities, .max = max};
}

}  // namespace

Async<ClaimReply> Scheduler::claim(const Claim& claim) {
  ClaimReply reply;
  if (claim.request_id)
    if (auto before = answered_.find({claim.ns, *claim.request_id}); !before.empty()) {
      auto leased = co_await store_.run_all(leases_for(claim, before, core::LeaseSource::held));
      if (auto collected = collect(std::move(leased), reply); !collected)
        co_return std::unexpected(collected.error());
      co_return reply;
    }

  for (int round = 0; round < rounds_max && reply.executions.empty(); ++round) {
    const auto taken = co_await store_.run(take_for(claim, claim.max));
    if (!taken) co_return std::unexpected(taken.error());
    if (taken->empty()) break;
    std::vector<ExecutionId> ids;
    for (const auto& candidate : *taken) ids.push_back(candidate.id);
    auto leased = co_await store_.run_all(leases_for(claim, ids, core::LeaseSource::ready));
    if (auto collected = collect(std::move(leased), reply); !collected)
      co_return std::unexpected(collected.error());
  }
  if (claim.request_id && !reply.executions.empty()) {
    std::vector<ExecutionId> ids;
    for (const auto& execution : reply.executions) ids.push_back(execution.id);
    answered_.add({claim.ns, *claim.request_id}, std::move(ids));
  }
  co_return reply;
}

Async<GrantReply> Scheduler::grant(const Grant& grant) {
  for (int round = 0; round < rounds_max; ++round) {
    const auto taken = co_await store_.run(take_for(grant, 1));
    if (!taken) co_return std::unexpected(taken.error());
    if (taken->empty()) break;
    core::GrantIssue issue{.id = taken->front().id,
                           .worker = grant.worker,
                           .capabilities = grant.capabilities,
                           .grant_ttl = grant.grant_ttl};
    auto granted = co_await store_.run(std::move(issue));
    if (granted) co_return GrantReply{std::move(*granted)};
    static_cast<void>(co_await store_.run(store::PutBack{taken->front().id}));
    if (!is_gone(granted.error())) co_return std::unexpected(std::move(granted.error()));
  }
  co_return GrantReply{};
}

Async<ClaimedExecution> Scheduler::claim(ClaimGranted claim) {
  core::LeaseGrant lease{.id = claim.id,
                         .source = core::LeaseSource::grant,
                         .worker = std::move(claim.worker),
                         .lease_id = claim.lease_id ? *claim.lease_id : mint<LeaseId>(),
                         .attempt_id = mint<AttemptId>(),
                         .lease_ttl = claim.lease_ttl};
  return store_.run(std::move(lease));
}

Async<ClaimedExecution> Scheduler::claim(ClaimExecution claim) {
  core::LeaseGrant lease{.id = claim.id,
                         .source = core::LeaseSource::ready,
                         .worker = std::move(claim.worker),
                         .capabilities = std::move(claim.capabilities),
                         .lease_id = claim.lease_id ? *claim.lease_id : mint<LeaseId>(),
                         .attempt_id = mint<AttemptId>(),
                         .lease_ttl = claim.lease_ttl};
  return store_.run(std::move(lease));
}

std::vector<core::LeaseGrant> Scheduler::leases_for(const Claim& claim,
                                                    const std::vector<ExecutionId>& ids,
                                                    core::LeaseSource source) {
  std::vector<core::LeaseGrant> leases;
  leases.reserve(ids.size());
  for (const auto& id : ids)
    leases.push_back(
        {.id = id,
         .source = source,
         .worker = claim.worker,
         .capabilities = claim.capabilities,
         .lease_id = claim.request_id ? lease_of(*claim.request_id, id) : mint<LeaseId>(),
         .attempt_id = mint<AttemptId>(),
         .lease_ttl = claim.lease_ttl});
  return leases;
}

// What was leased must reach the worker, even if something else went wrong beside it.
Result<void> Scheduler::collect(std::vector<Result<ClaimedExecution>> leased, ClaimReply& reply) {
  std::optional<Error> failure;
  for (auto& each : leased) {
    if (each)
      reply.executions.push_back(std::move(*each));
    else if (!is_gone(each.error()))
      failure = std::move(each.error());
  }
  if (failure && reply.executions.empty()) return std::unexpected(std::move(*failure));
  return {};
}

std::vector<ExecutionId> Scheduler::Answered::find(const Request& request) const {
  const std::lock_guard lock(mutex_);
  const auto found = executions_.find(request);
  return found == executions_.end() ? std::vector<ExecutionId>{} : found->second;
}

void Scheduler::Answered::add(const Request& request, std::vector<ExecutionId> executions) {
  const std::lock_guard lock(mutex_);
  if (executions_.insert_or_assign(request, std::move(executions)).second)
    order_.push_back(request);
  if (order_.size() <= requests_max) return;
  executions_.erase(order_.front());
  order_.pop_front();
}

}  // namespace ff
