#include "engine/starting/scheduler.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "base/log.hpp"
#include "base/text/hash.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"

namespace ff {
namespace {

// Rounds that find neither work nor something more that has no room: others were faster.
constexpr int vain_rounds_max = 64;

// A store offers nothing again whose node is down, so the next round finds other work; a store that is down
// as a whole fails every round.
constexpr int failed_rounds_max = 4;

constexpr std::size_t claim_bytes_max = limits::batch_bytes_max;  // of payloads, in one reply
static_assert(claim_bytes_max >= limits::payload_bytes_max);

// Another worker was faster, or it ended; look for something else.
bool is_gone(const Error& error) {
  switch (error.code) {
    case Errc::execution_not_leaseable:
    case Errc::execution_not_eligible:
    case Errc::execution_not_found:
    case Errc::grant_already_exists:
    case Errc::admission_expired:
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

// True if the start certainly failed. Otherwise the execution may have started, and hold its token.
bool is_refused(const Error& error) {
  switch (error.code) {
    case Errc::store_unavailable:
    case Errc::unreachable:
    case Errc::timed_out:
    case Errc::malformed_response:
    case Errc::internal: return false;
    default: return true;
  }
}

// Another worker was faster: that happens all the time. Capabilities can be long, their digest is not.
void log_refused(const auto& wanted, const ExecutionId& id, const Error& error) {
  if (error.code == Errc::capability_mismatch)
    log::info("execution={} worker={} capabilities={} mismatch: {}", id.str(), wanted.worker.str(),
              fnv1a_xor8hex(wanted.capabilities.csv()), error.message);
  else
    log::at(is_gone(error) ? log::Level::debug : log::Level::warn,
            "execution={} worker={} start refused: {}", id.str(), wanted.worker.str(),
            error.message);
}

// Without lanes, if all are paused.
store::TakeReady take_for(const auto& wanted, std::size_t max, const StartGate::Cycle& cycle,
                          const core::PausedLanes& paused) {
  return {.ns = wanted.ns,
          .lanes = paused.open_of(wanted.ns, wanted.lanes),
          .capabilities = wanted.capabilities,
          .kinds = wanted.kinds,
          .max = max,
          .closed = cycle.closed};
}

}  // namespace

Async<std::optional<ClaimReply>> Scheduler::repeat(const Claim& claim) {
  std::vector<Chosen> held;
  if (claim.request_id)
    for (const auto& id : answered_.find({claim.ns, *claim.request_id})) held.push_back({.id = id});
  if (held.empty()) co_return std::nullopt;
  ClaimReply reply;
  auto leased = co_await store_.run_all(leases_for(claim, held, core::LeaseSource::held));
  FF_CO_TRY(collect(std::move(leased), reply));
  co_return reply;
}

Async<ClaimReply> Scheduler::claim(const Claim& claim) {
  ClaimReply reply;
  auto cycle = co_await gate_.begin(claim.ns);
  int failed = 0;
  for (int vain = 0;
       vain < vain_rounds_max && failed < failed_rounds_max && reply.executions.empty();) {
    const auto closed = cycle.closed.size();
    auto take = take_for(claim, claim.max, cycle, *store_.paused_lanes());
    if (take.lanes.empty()) break;
    auto taken = co_await store_.run(std::move(take));
    FF_CO_TRY(taken);
    if (taken->empty()) break;
    const auto chosen = co_await gate_.admit(cycle, std::move(*taken));
    const auto leased = co_await lease_within_bytes(claim, chosen, reply);
    if (!leased) {
      cycle.failure = leased.error();
      ++failed;
    }
    if (cycle.closed.size() == closed) ++vain;
  }
  if (reply.executions.empty() && cycle.failure) co_return std::unexpected(*cycle.failure);
  if (claim.request_id && !reply.executions.empty()) {
    std::vector<ExecutionId> ids;
    for (const auto& execution : reply.executions) ids.push_back(execution.id);
    answered_.add({claim.ns, *claim.request_id}, std::move(ids));
  }
  co_return reply;
}

// In parts, since only a lease tells how large a payload is: a part has as many as fit even if their payloads are
// as large as they may be. What does not fit is put back.
Async<void> Scheduler::lease_within_bytes(const Claim& claim, std::span<const Chosen> chosen,
                                          ClaimReply& reply) {
  std::size_t room = claim_bytes_max;
  while (!chosen.empty() && room >= limits::payload_bytes_max) {
    const auto size = std::min(room / limits::payload_bytes_max, chosen.size());
    const std::vector<Chosen> part(chosen.begin(),
                                   chosen.begin() + static_cast<std::ptrdiff_t>(size));
    chosen = chosen.subspan(size);
    auto leased = co_await store_.run_all(leases_for(claim, part, core::LeaseSource::ready));
    co_await give_back_unused(claim, part, leased);
    const auto before = reply.executions.size();
    auto collected = collect(std::move(leased), reply);
    if (!collected) {
      co_await put_back(chosen);
      co_return collected;
    }
    for (auto i = before; i < reply.executions.size(); ++i)
      room -= std::min(room, reply.executions[i].payload.size());
  }
  co_await put_back(chosen);
  co_return Result<void>{};
}

// Executions that were let in, and are not started.
asio::awaitable<void> Scheduler::put_back(std::span<const Chosen> chosen) {
  std::vector<Chosen> admitted;
  std::vector<store::PutBack> ready;
  for (const auto& each : chosen) {
    if (each.token) admitted.push_back(each);
    ready.push_back({each.id});
  }
  if (!admitted.empty()) co_await gate_.give_back(std::move(admitted));
  if (!ready.empty()) co_await store_.run_all(std::move(ready));
}

Async<GrantReply> Scheduler::grant(const Grant& grant) {
  auto cycle = co_await gate_.begin(grant.ns);
  int failed = 0;
  for (int vain = 0; vain < vain_rounds_max && failed < failed_rounds_max;) {
    const auto closed = cycle.closed.size();
    auto take = take_for(grant, 1, cycle, *store_.paused_lanes());
    if (take.lanes.empty()) break;
    auto taken = co_await store_.run(std::move(take));
    FF_CO_TRY(taken);
    if (taken->empty()) break;
    const auto chosen = co_await gate_.admit(cycle, std::move(*taken));
    if (cycle.closed.size() == closed) ++vain;
    if (chosen.empty()) continue;
    const auto id = chosen.front().id;
    std::vector<core::GrantIssue> issues{{.id = id,
                                          .worker = grant.worker,
                                          .capabilities = grant.capabilities,
                                          .token = chosen.front().token,
                                          .grant_ttl = grant.grant_ttl}};
    auto granted = co_await store_.run_all(std::move(issues));
    if (granted.front()) co_return GrantReply{std::move(*granted.front())};
    co_await give_back_unused(grant, chosen, granted);
    static_cast<void>(co_await store_.run(store::PutBack{id}));
    if (is_gone(granted.front().error())) continue;
    cycle.failure = granted.front().error();
    ++failed;
  }
  if (cycle.failure) co_return std::unexpected(*cycle.failure);
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
  const auto execution = co_await store_.run(GetExecution{claim.id});
  FF_CO_TRY(execution);
  // A held or ended execution skips the start gate: its claim is refused, or answered as before.
  std::vector<Chosen> chosen{{.id = claim.id}};
  if (!execution->worker && !is_terminal(execution->state)) {
    const auto paused = store_.paused_lanes();
    const auto* pause = paused->find(execution->ns, execution->lane);
    if (pause && !execution->granted_to)
      co_return core::refusals::lane_paused(claim.id, execution->lane, *pause);
    auto admitted =
        co_await gate_.admit_one(execution->ns, claim.id, core::needs_of(execution->policy));
    FF_CO_TRY(admitted);
    chosen.front() = std::move(*admitted);
  }
  std::vector<core::LeaseGrant> leases{
      {.id = claim.id,
       .source = core::LeaseSource::ready,
       .worker = claim.worker,
       .capabilities = claim.capabilities,
       .token = chosen.front().token,
       .lease_id = claim.lease_id ? *claim.lease_id : mint<LeaseId>(),
       .attempt_id = mint<AttemptId>(),
       .lease_ttl = claim.lease_ttl}};
  auto leased = co_await store_.run_all(std::move(leases));
  co_await give_back_unused(claim, chosen, leased);
  co_return std::move(leased.front());
}

// An execution that was let in but not started gives back its slot and its place. If the start is uncertain,
// the reconciler finds out, and other claims may try.
template <class Op, class Reply>
asio::awaitable<void> Scheduler::give_back_unused(const Op& wanted,
                                                  const std::vector<Chosen>& chosen,
                                                  const std::vector<Result<Reply>>& started) {
  std::vector<Chosen> unused;
  std::vector<store::PutBack> unknown;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (started[i]) continue;
    log_refused(wanted, chosen[i].id, started[i].error());
    if (!is_refused(started[i].error()))
      unknown.push_back({chosen[i].id});
    else if (chosen[i].token)
      unused.push_back(chosen[i]);
  }
  if (!unused.empty()) co_await gate_.give_back(std::move(unused));
  if (!unknown.empty()) co_await store_.run_all(std::move(unknown));
}

std::vector<core::LeaseGrant> Scheduler::leases_for(const Claim& claim,
                                                    const std::vector<Chosen>& chosen,
                                                    core::LeaseSource source) {
  std::vector<core::LeaseGrant> leases;
  leases.reserve(chosen.size());
  for (const auto& [id, quota, token] : chosen)
    leases.push_back(
        {.id = id,
         .source = source,
         .worker = claim.worker,
         .capabilities = claim.capabilities,
         .token = token,
         .lease_id = claim.request_id ? lease_of(*claim.request_id, id) : mint<LeaseId>(),
         .attempt_id = mint<AttemptId>(),
         .lease_ttl = claim.lease_ttl});
  return leases;
}

// Leased executions must reach the worker, even if other leases of the claim failed.
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
