#include "engine/scheduler.hpp"

namespace ff {
namespace {

constexpr int rounds_max = 64;

// Another worker was faster; look for something else.
bool lost_the_race(const Error& error) {
  return error.code == Errc::execution_not_leaseable || error.code == Errc::execution_not_found;
}

}  // namespace

Async<ClaimReply> Scheduler::claim(const Claim& claim) {
  ClaimReply reply;
  for (int round = 0; round < rounds_max && reply.executions.empty(); ++round) {
    store::ReadyHeads look{.ns = claim.ns, .lanes = claim.lanes, .max = claim.max};
    const auto candidates = co_await store_.run(std::move(look));
    if (!candidates) co_return std::unexpected(candidates.error());
    if (candidates->empty()) break;

    std::vector<core::LeaseGrant> grants;
    for (const auto& candidate : *candidates) grants.push_back(grant_for(claim, candidate));
    std::optional<Error> failure;
    auto granted = co_await store_.run_all(std::move(grants));
    for (auto& each : granted) {
      if (each)
        reply.executions.push_back(std::move(*each));
      else if (!lost_the_race(each.error()))
        failure = std::move(each.error());
    }
    // What was leased must reach the worker, even if something else went wrong beside it.
    if (failure && reply.executions.empty()) co_return std::unexpected(std::move(*failure));
  }
  co_return reply;
}

core::LeaseGrant Scheduler::grant_for(const Claim& claim, const store::Candidate& candidate) {
  const auto now = store_.now();
  return {.id = candidate.id,
          .worker = claim.worker,
          .lease_id = LeaseId{make_uuid(now, random_)},
          .attempt_id = AttemptId{make_uuid(now, random_)},
          .lease_ttl = claim.lease_ttl};
}

}  // namespace ff
