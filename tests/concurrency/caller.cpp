#include "tests/concurrency/caller.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ff::concurrency {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t newest = 12;  // that callers choose from: the fewer, the more they collide
constexpr std::uint64_t contents = 40;  // of submissions
const Namespace ns = default_namespace();

template <class T>
std::optional<T> one_of_newest(const std::vector<T>& all, std::uint64_t random) {
  if (all.empty()) return std::nullopt;
  return all[all.size() - 1 - random % std::min(newest, all.size())];
}

// The same for the same fence: a repeated call is the same call.
std::string result_of(const Fence& fence) { return "result of " + fence.lease_id.str(); }

}  // namespace

void Acknowledged::add(Acknowledged other) {
  payloads.merge(other.payloads);
  created.insert(created.end(), other.created.begin(), other.created.end());
  leases.insert(leases.end(), other.leases.begin(), other.leases.end());
  ends.merge(other.ends);
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
}

void Targets::add(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  executions_.push_back(id);
}
void Targets::add(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  leases_.push_back(lease);
}
std::optional<ExecutionId> Targets::execution(std::uint64_t random) const {
  const std::lock_guard lock(mutex_);
  return one_of_newest(executions_, random);
}
std::optional<Lease> Targets::lease(std::uint64_t random) const {
  const std::lock_guard lock(mutex_);
  return one_of_newest(leases_, random);
}

template <class Op>
Result<typename Op::Reply> Caller::call(Op operation) {
  auto reply = shared_.world.run(std::move(operation));
  if (!reply && info(reply.error().code).http_status >= 500)
    acknowledged_.faults.push_back(reply.error());
  return reply;
}

void Caller::run(int steps) {
  for (int i = 0; i < steps; ++i) step();
}

void Caller::step() {
  switch (below(20)) {
    case 0:
    case 1: return submit();
    case 2: return submit_many();
    case 3:
    case 4:
    case 5: return claim();
    case 6:
    case 7: return claim_by_id();
    case 8: return claim_by_grant();
    case 9:
    case 10:
    case 11:
    case 12:
    case 13: return end_attempt();
    case 14:
    case 15: return keep_lease();
    case 16:
    case 17: return operate();
    case 18: return read();
    default: return pass_time();
  }
}

// ---- Submitting ----------------------------------------------------------------------------------

// With a key, the content follows from the key.
Submit Caller::submission() {
  const auto number = below(contents);
  Submit submit{.lane = *LaneId::parse(fmt::format("lane-{}", number % 2)),
                .kind = *Kind::parse("k"),
                .priority = static_cast<std::int32_t>(number % 3),
                .payload = fmt::format("payload {}", number)};
  switch (number % 5) {
    case 0:
      submit.policy.retry = RetryPolicy{.max_retries = 2, .backoff = FixedBackoff{1ms}};
      break;
    case 1: submit.policy.quota = shared_.quota; break;
    case 2: submit.policy.attempt_timeout = 20ms; break;
    default: break;
  }
  if (below(2) == 0) submit.idempotency_key = *IdempotencyKey::parse(std::to_string(number));
  return submit;
}

void Caller::submitted(const Submit& submit, const Result<SubmitReply>& reply) {
  if (!reply) return;
  acknowledged_.payloads.emplace(reply->id, submit.payload);
  if (reply->duplicate) return;
  acknowledged_.created.push_back(reply->id);
  shared_.targets.add(reply->id);
}

void Caller::submit() {
  const auto one = submission();
  submitted(one, call(one));
}

void Caller::submit_many() {
  SubmitMany many;
  for (auto i = below(5) + 1; i > 0; --i) many.executions.push_back(submission());
  const auto reply = call(many);
  if (!reply) return;
  for (std::size_t i = 0; i < many.executions.size(); ++i)
    submitted(many.executions[i], reply->results[i]);
}

// ---- Working -------------------------------------------------------------------------------------

WorkerId Caller::worker() { return *WorkerId::parse(fmt::format("w{}", below(3))); }

Millis Caller::lease_ttl() { return std::array<Millis, 3>{5ms, 50ms, 1h}[below(3)]; }

void Caller::claimed(const ClaimedExecution& execution) {
  const Lease lease{.id = execution.id, .fence = execution.fence};
  acknowledged_.leases.push_back(lease);
  shared_.targets.add(lease);
}

void Caller::claim() {
  const auto reply = call(Claim{.worker = worker(),
                                .lanes = {*LaneId::parse("lane-0"), *LaneId::parse("lane-1")},
                                .max = static_cast<std::uint32_t>(below(4) + 1),
                                .lease_ttl = lease_ttl()});
  if (!reply) return;
  for (const auto& each : reply->executions) claimed(each);
}

void Caller::claim_by_id() {
  const auto id = shared_.targets.execution(random_());
  if (!id) return;
  const auto reply = call(ClaimExecution{.id = *id, .worker = worker(), .lease_ttl = lease_ttl()});
  if (reply) claimed(*reply);
}

void Caller::claim_by_grant() {
  const auto by = worker();
  const auto granted = call(Grant{.worker = by, .lanes = {*LaneId::parse("lane-0")}});
  if (!granted || !granted->execution) return;
  const auto reply =
      call(ClaimGranted{.id = granted->execution->id, .worker = by, .lease_ttl = lease_ttl()});
  if (reply) claimed(*reply);
}

void Caller::ended(const ExecutionId& id, End end) {
  if (is_terminal(end.state)) acknowledged_.ends.emplace(id, std::move(end));
}

void Caller::end_attempt() {
  const auto lease = shared_.targets.lease(random_());
  if (!lease) return;
  const auto& [id, fence] = *lease;
  switch (below(6)) {
    case 0: {
      const auto reply = call(Fail{.id = id, .fence = fence, .reason = "broke"});
      if (reply) ended(id, {.state = reply->state});
      return;
    }
    case 1:
      call(Delay{.id = id, .fence = fence, .until = shared_.world.now() + Millis{below(10)}});
      return;
    case 2: call(HandBack{.id = id, .fence = fence}); return;
    default: {
      const auto reply = call(Complete{.id = id, .fence = fence, .result = result_of(fence)});
      if (reply) ended(id, {.state = reply->state, .result = result_of(fence)});
    }
  }
}

void Caller::keep_lease() {
  const auto lease = shared_.targets.lease(random_());
  if (!lease) return;
  if (below(2) == 0)
    call(Renew{.id = lease->id, .fence = lease->fence, .lease_ttl = lease_ttl()});
  else
    call(UpdateProgress{.id = lease->id, .fence = lease->fence, .message = "on it"});
}

// ---- Operating -----------------------------------------------------------------------------------

void Caller::operate() {
  const auto id = shared_.targets.execution(random_());
  if (!id) return;
  switch (below(4)) {
    case 0: {
      const auto reply = call(Cancel{.id = *id});
      if (reply) ended(*id, {.state = reply->state});
      return;
    }
    case 1: call(RevokeLease{.id = *id}); return;
    case 2:
      call(ChangePriority{.id = *id, .priority = static_cast<std::int32_t>(below(9))});
      return;
    default: call(SetTags{.id = *id, .set = {{"app.tag", std::to_string(below(2))}}});
  }
}

void Caller::read() {
  call(CountExecutions{.ns = ns});
  call(ListExecutions{.ns = ns, .limit = 5});
  if (const auto id = shared_.targets.execution(random_())) call(GetExecution{*id});
}

void Caller::pass_time() {
  const std::unique_lock lock(shared_.scanning, std::try_to_lock);
  if (!lock) return;
  shared_.world.advance(Millis{below(10)});
  shared_.world.run_scanners();
}

}  // namespace ff::concurrency
