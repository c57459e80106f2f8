// Submitting and claiming.
#include "tests/property/driver.hpp"

#include <algorithm>

#include "tests/property/agreement.hpp"

namespace ff::property {
namespace {

constexpr std::uint64_t submitted_sort = 1;
constexpr std::uint64_t chosen_sort = 2;
constexpr std::uint64_t lease_sort = 3;
constexpr std::uint64_t request_sort = 4;
constexpr std::uint64_t unknown_sort = 5;

ExecutionId id_of(std::uint64_t sort, unsigned n) {
  return {static_cast<PartitionIndex>(n * 37 % Model::partition_count), uuid_of(sort, n)};
}
std::optional<LeaseId> lease_of(std::optional<unsigned> n) {
  if (!n) return std::nullopt;
  return LeaseId{uuid_of(lease_sort, *n)};
}
// A request's leases are named by its last byte, so requests differ in another one.
RequestId request_of(unsigned worker, unsigned n) {
  return RequestId{uuid_of(request_sort, (worker * 16 + n) << 8)};
}

bool is_among(const Modelled& execution, Among among) {
  switch (among) {
    case Among::held: return execution.phase == Phase::active;
    case Among::granted: return execution.phase == Phase::granted;
    case Among::waiting: return execution.phase == Phase::waiting;
    case Among::ended: return execution.phase == Phase::ended;
    case Among::all:
    case Among::unknown:
    case Among::out_of_range: return true;
  }
  return true;
}

}  // namespace

ExecutionId Driver::resolve(const Target& target) const {
  if (target.among == Among::unknown) return id_of(unknown_sort, target.index);
  if (target.among == Among::out_of_range) return {999, uuid_of(unknown_sort, target.index)};
  std::vector<ExecutionId> fitting;
  for (const auto& id : order_)
    if (const auto* execution = model_.find(id); execution && is_among(*execution, target.among))
      fitting.push_back(id);
  const auto& choice = fitting.empty() ? order_ : fitting;  // some of those may be removed
  return choice.empty() ? id_of(unknown_sort, target.index) : choice[target.index % choice.size()];
}

// ---- Submitting ------------------------------------------------------------------------------------

Submit Driver::to_submit(const Submission& submission) {
  const auto now = world_.now();
  const unsigned number = ++submitted_;
  Submit submit{.ns = namespace_of(submission.ns),
                .lane = lane_of(submission.lane),
                .kind = *Kind::parse("task"),
                .priority = submission.priority,
                .payload = fmt::format("payload {}", number),
                .policy = submission.policy};
  if (submission.delay) submit.delay_until = now + *submission.delay;
  if (submission.deadline) submit.deadline = now + *submission.deadline;
  for (unsigned tag = 0; tag < submission.tags; ++tag)
    submit.tags[tag_key(tag)] = tag_value(number % 2);
  if (submission.key)
    submit.idempotency_key = *IdempotencyKey::parse(fmt::format("key{}", *submission.key));
  else  // ids are given, so that a sequence does the same whenever it runs
    submit.id = submission.id ? id_of(chosen_sort, *submission.id) : id_of(submitted_sort, number);
  return submit;
}

void Driver::submitted(const Submit& submit, const Result<SubmitReply>& reply) {
  const auto existing = model_.existing(submit, world_.now());
  Predicted<SubmitReply> predicted = std::unexpected(Errc::duplicate_mismatch);
  if (existing && *existing) {
    predicted =
        SubmitReply{.id = (*existing)->id, .duplicate = true, .state = state_of(**existing)};
  } else if (existing) {
    const auto id = reply && !submit.id ? reply->id : submit.id.value_or(ExecutionId{});
    const auto& added = model_.add(id, submit, world_.now());
    if (std::ranges::find(order_, id) == order_.end()) order_.push_back(id);
    predicted = SubmitReply{.id = id, .duplicate = false, .state = state_of(added)};
  }
  expect_same("submit", reply, predicted);
  if (reply) touched_.push_back(reply->id);
}

void Driver::run(const SubmitOne& operation) {
  const auto submit = to_submit(operation.submission);
  submitted(submit, world_.run(submit));
}

void Driver::run(const SubmitBatch& operation) {
  SubmitMany batch;
  for (const auto& each : operation.submissions) batch.executions.push_back(to_submit(each));
  const auto reply = must(world_.run(batch));
  expect(reply.results.size() == batch.executions.size(), "submit_many: replies are missing");
  for (std::size_t i = 0; i < batch.executions.size(); ++i)
    submitted(batch.executions[i], reply.results[i]);
}

void Driver::run(const SubmitAgain& operation) {
  const auto id = resolve(operation.target);
  const auto* before = model_.find(id);
  if (!before) return;
  auto submit = before->submit;
  if (operation.by_id || !submit.idempotency_key) {
    submit.id = id;
    submit.idempotency_key.reset();
  }
  if (operation.other_content) submit.payload += " changed";
  submitted(submit, world_.run(submit));
}

// ---- Claiming --------------------------------------------------------------------------------------

void Driver::run(const ClaimSome& operation) {
  const auto& wanted = operation.wanted;
  Claim call{.worker = worker_of(wanted.worker),
             .ns = namespace_of(wanted.ns),
             .lanes = lanes_of(wanted.lanes),
             .capabilities = capabilities_of(wanted.capabilities),
             .max = operation.max,
             .lease_ttl = operation.ttl};
  if (operation.request) call.request_id = request_of(wanted.worker, *operation.request);
  claim(call);
}

void Driver::claim(const Claim& claim) {
  const auto reply = must(world_.run(claim));
  if (claim.request_id)
    if (const auto before = answered_.find({claim.ns, *claim.request_id});
        before != answered_.end())
      return check_repeated(claim, reply, before->second);

  auto candidates = model_.claimable(claim.ns, claim.lanes, claim.capabilities);
  const auto expected = std::min<std::size_t>(claim.max, candidates.size());
  if (reply.executions.size() != expected)
    disagree(
        fmt::format("claim got {} executions instead of {}", reply.executions.size(), expected));
  for (const auto& each : reply.executions) {
    check_choice(each.id, candidates);
    check_claimed(each, claim.worker, claim.lease_ttl);
    if (claim.request_id)
      answered_[{claim.ns, *claim.request_id}].emplace_back(each.id, each.fence.lease_id);
  }
}

// A repeated request gets what its worker still holds of the first answer, and nothing else.
void Driver::check_repeated(const Claim& claim, const ClaimReply& reply, const Answer& before) {
  std::vector<std::pair<ExecutionId, Fence>> expected;
  for (const auto& [id, lease] : before)
    if (model_.holds(id, claim.worker, lease, world_.now()))
      expected.emplace_back(id, model_.find(id)->fences.back());
  std::vector<std::pair<ExecutionId, Fence>> actual;
  for (const auto& each : reply.executions) actual.emplace_back(each.id, each.fence);
  expect(
      actual == expected,
      fmt::format("a repeated claim got {} executions, but its worker holds {} of the first answer",
                  actual.size(), expected.size()));
}

void Driver::check_choice(const ExecutionId& id, std::vector<const Modelled*>& candidates) {
  const auto chosen = std::ranges::find(candidates, id, &Modelled::id);
  if (chosen == candidates.end())
    disagree(fmt::format("{} was given to a worker that may not have it", id.str()));
  const auto best = std::ranges::min(candidates, {}, [](const Modelled* each) {
    return std::pair(-each->priority, each->queued_at);
  });
  const auto oldest = std::ranges::min(candidates, {}, &Modelled::queued_at);
  const bool in_turn =
      (*chosen)->priority == best->priority && (*chosen)->queued_at == best->queued_at;
  ++(in_turn ? claims_in_turn_ : claims_out_of_turn_);
  if (!in_turn)
    expect((*chosen)->queued_at == oldest->queued_at &&
               claims_out_of_turn_ * (limits::oldest_first_every - 1) <= claims_in_turn_,
           fmt::format("{} was claimed before {}, which is better", id.str(), best->id.str()));
  candidates.erase(chosen);
}

void Driver::check_claimed(const ClaimedExecution& actual, const WorkerId& worker, Millis ttl) {
  touched_.push_back(actual.id);
  const auto expected = model_.claimed(actual, worker, ttl, world_.now());
  expect_same("claim", Result<ClaimedExecution>(actual), Predicted<ClaimedExecution>(expected));
}

void Driver::run(const GrantOne& operation) {
  const auto& wanted = operation.wanted;
  const Grant call{.worker = worker_of(wanted.worker),
                   .ns = namespace_of(wanted.ns),
                   .lanes = lanes_of(wanted.lanes),
                   .capabilities = capabilities_of(wanted.capabilities),
                   .grant_ttl = operation.ttl};
  const auto reply = must(world_.run(call));
  auto candidates = model_.claimable(call.ns, call.lanes, call.capabilities);
  expect(reply.execution.has_value() == !candidates.empty(),
         fmt::format("grant: {} executions are ready", candidates.size()));
  if (!reply.execution) return;
  const auto until = world_.now() + call.grant_ttl;
  check_choice(reply.execution->id, candidates);
  expect(reply.execution->grant_expires_at == until, "grant: it ends at another time");
  model_.granted(reply.execution->id, call.worker, until);
  touched_.push_back(reply.execution->id);
}

template <class Op>
void Driver::claim_by_id(const Op& claim) {
  const auto predicted = model_.may_claim(claim, world_.now());
  const auto actual = world_.run(claim);
  touched_.push_back(claim.id);
  if (!predicted)
    return expect_same("claim by id", actual,
                       Predicted<ClaimedExecution>(std::unexpected(predicted.error())));
  expect(actual.has_value(), "claim by id: " + show(actual));
  if (!predicted->repeated) return check_claimed(*actual, claim.worker, claim.lease_ttl);
  const auto& held = *model_.find(claim.id);
  expect(actual->fence == held.fences.back() && actual->lease_expires_at == held.until,
         "a repeated claim by id got another lease: " + show(actual));
}

void Driver::run(const ClaimGrantedOne& operation) {
  const auto id = resolve(operation.target);
  const auto* execution = model_.find(id);
  const bool own = execution && !operation.other_worker && !execution->worker.str().empty();
  claim_by_id(ClaimGranted{.id = id,
                           .worker = own ? execution->worker : worker_of(worker_count),
                           .lease_id = lease_of(operation.lease),
                           .lease_ttl = operation.ttl});
}

void Driver::run(const ClaimOne& operation) {
  ClaimExecution claim{.id = resolve(operation.target),
                       .worker = worker_of(operation.worker),
                       .capabilities = capabilities_of(operation.capabilities),
                       .lease_id = lease_of(operation.lease),
                       .lease_ttl = operation.ttl};
  claim_by_id(claim);
  if (!operation.again_by) return;
  claim.worker = worker_of(*operation.again_by);
  claim_by_id(claim);
}

}  // namespace ff::property
