#include "tests/differential/driver.hpp"

#include <algorithm>

#include "tests/property/derived_state.hpp"

namespace ff::differential {

using namespace std::chrono_literals;
using namespace property;

namespace {

constexpr std::uint64_t submitted_sort = 1;
constexpr std::uint64_t chosen_sort = 2;
constexpr std::uint64_t lease_sort = 3;
constexpr std::uint64_t request_sort = 4;
constexpr std::uint64_t unknown_sort = 5;
constexpr std::uint64_t invented_sort = 9;

// Few partitions, so that executions meet in them.
ExecutionId id_of(std::uint64_t sort, unsigned n) {
  return {static_cast<PartitionIndex>(n * 37 % 5 * 50), uuid_of(sort, n)};
}
std::optional<LeaseId> lease_of(std::optional<unsigned> n) {
  if (!n) return std::nullopt;
  return LeaseId{uuid_of(lease_sort, *n)};
}
// A request's leases are named by its last byte, so requests differ in another one.
RequestId request_of(unsigned worker, unsigned n) {
  return RequestId{uuid_of(request_sort, (worker * 16 + n) << 8)};
}

std::string bytes_of(unsigned n) {
  using namespace std::string_literals;
  switch (n % 6) {
    case 0: return "";
    case 1: return "\0\r\n\xff$-1\r\n"s;
    case 2: return std::string(300, 'x');
    default: return fmt::format("bytes {}", n);
  }
}

std::optional<ContentType> content_type_of(unsigned n) {
  if (n % 3 != 0) return std::nullopt;
  return *ContentType::parse(n % 2 == 0 ? "application/json" : "text/plain; charset=utf-8");
}

Policy varied(Policy policy, unsigned n) {
  if (!policy.retry) return policy;
  if (auto* growing = std::get_if<ExponentialBackoff>(&policy.retry->backoff)) {
    growing->jitter = n % 2 == 0;
    growing->multiplier = n % 3 == 0 ? 1.7 : 2.0;
  }
  return policy;
}

}  // namespace

void Driver::carry_out(const Step& step) {
  sides_.begin_step();
  std::visit([this](const auto& each) { run(each); }, step);
  sides_.compare_events();
  compare_touched();
}

void Driver::run(const Operation& operation) {
  std::visit([this](const auto& each) { run(each); }, operation);
}

template <class Op>
Result<typename Op::Reply> Driver::change(std::string_view what, const Op& operation) {
  touch(operation.id);
  return sides_.run(what, operation);
}

ExecutionId Driver::resolve(const Target& target) const {
  if (target.among == Among::unknown) return id_of(unknown_sort, target.index);
  if (target.among == Among::out_of_range) return {999, uuid_of(unknown_sort, target.index)};
  const auto is_among = [&](const Known& known) {
    if (!known.info) return false;
    switch (target.among) {
      case Among::held: return known.info->worker.has_value();
      case Among::granted: return known.granted_to.has_value();
      case Among::waiting: return known.info->state == ExecutionState::waiting;
      case Among::ended: return is_terminal(known.info->state);
      default: return true;
    }
  };
  std::vector<ExecutionId> fitting;
  for (const auto& id : order_)
    if (is_among(known_.at(id))) fitting.push_back(id);
  const auto& choice = fitting.empty() ? order_ : fitting;
  return choice.empty() ? id_of(unknown_sort, target.index) : choice[target.index % choice.size()];
}

// ---- Submitting ------------------------------------------------------------------------------------

Submit Driver::to_submit(const Submission& submission) {
  const auto now = sides_.now();
  const unsigned number = ++submitted_;
  Submit submit{.ns = namespace_of(submission.ns),
                .lane = lane_of(submission.lane),
                .kind = *Kind::parse(number % 4 == 0 ? "mail.send" : "task"),
                .priority = submission.priority,
                .payload = bytes_of(number),
                .content_type = content_type_of(number),
                .policy = varied(submission.policy, number)};
  if (number % 5 == 0)
    submit.traceparent =
        *TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  if (submission.delay) submit.delay_until = now + *submission.delay;
  if (submission.deadline) submit.deadline = now + *submission.deadline;
  for (unsigned tag = 0; tag < submission.tags; ++tag)
    submit.tags[tag_key(tag)] = tag_value(number % 2);
  if (submission.key)
    submit.idempotency_key = *IdempotencyKey::parse(fmt::format("key{}", *submission.key));
  else if (number % 3 != 0)  // some are minted
    submit.id = submission.id ? id_of(chosen_sort, *submission.id) : id_of(submitted_sort, number);
  return submit;
}

void Driver::submitted(const Submit& submit, const Result<SubmitReply>& reply) {
  if (!reply) return;
  touch(reply->id);
  if (reply->duplicate) return;
  if (!known_.contains(reply->id)) order_.push_back(reply->id);
  known_.insert_or_assign(reply->id, Known{.submit = submit});
}

void Driver::run(const SubmitOne& operation) {
  const auto submit = to_submit(operation.submission);
  submitted(submit, sides_.run("submit", submit));
}

void Driver::run(const SubmitBatch& operation) {
  SubmitMany batch;
  for (const auto& each : operation.submissions) batch.executions.push_back(to_submit(each));
  const auto reply = must(sides_.run("submit_many", batch));
  for (std::size_t i = 0; i < batch.executions.size(); ++i)
    submitted(batch.executions[i], reply.results.at(i));
}

void Driver::run(const SubmitAgain& operation) {
  const auto id = resolve(operation.target);
  const auto before = known_.find(id);
  if (before == known_.end()) return;
  auto submit = before->second.submit;
  if (operation.by_id || !submit.idempotency_key) {
    submit.id = id;
    submit.idempotency_key.reset();
  }
  if (operation.other_content) submit.payload += " changed";
  submitted(submit, sides_.run("submit again", submit));
}

// ---- Claiming --------------------------------------------------------------------------------------

void Driver::claimed(const ClaimedExecution& execution) {
  touch(execution.id);
  auto& known = known_.at(execution.id);
  known.granted_to.reset();
  known.attempt_deadline = execution.attempt_deadline;
  if (known.fences.empty() || known.fences.back() != execution.fence)
    known.fences.push_back(execution.fence);
}

void Driver::run(const ClaimSome& operation) {
  const auto& wanted = operation.wanted;
  Claim call{.worker = worker_of(wanted.worker),
             .ns = namespace_of(wanted.ns),
             .lanes = lanes_of(wanted.lanes),
             .capabilities = capabilities_of(wanted.capabilities),
             .max = operation.max,
             .lease_ttl = operation.ttl};
  if (operation.request) call.request_id = request_of(wanted.worker, *operation.request);
  for (const auto& each : must(sides_.run("claim", call)).executions) claimed(each);
}

void Driver::run(const GrantOne& operation) {
  const auto& wanted = operation.wanted;
  const Grant call{.worker = worker_of(wanted.worker),
                   .ns = namespace_of(wanted.ns),
                   .lanes = lanes_of(wanted.lanes),
                   .capabilities = capabilities_of(wanted.capabilities),
                   .grant_ttl = operation.ttl};
  const auto reply = must(sides_.run("grant", call));
  if (!reply.execution) return;
  touch(reply.execution->id);
  known_.at(reply.execution->id).granted_to = call.worker;
}

void Driver::run(const ClaimGrantedOne& operation) {
  const auto id = resolve(operation.target);
  const auto known = known_.find(id);
  const bool own = known != known_.end() && known->second.granted_to && !operation.other_worker;
  const auto reply = change("claim_granted", ClaimGranted{.id = id,
                                                          .worker = own ? *known->second.granted_to
                                                                        : worker_of(worker_count),
                                                          .lease_id = lease_of(operation.lease),
                                                          .lease_ttl = operation.ttl});
  if (reply) claimed(*reply);
}

void Driver::run(const ClaimOne& operation) {
  ClaimExecution call{.id = resolve(operation.target),
                      .worker = worker_of(operation.worker),
                      .capabilities = capabilities_of(operation.capabilities),
                      .lease_id = lease_of(operation.lease),
                      .lease_ttl = operation.ttl};
  if (const auto reply = change("claim_execution", call)) claimed(*reply);
  if (!operation.again_by) return;
  call.worker = worker_of(*operation.again_by);
  if (const auto reply = change("claim_execution again", call)) claimed(*reply);
}

// ---- By workers ------------------------------------------------------------------------------------

Fence Driver::choose_fence(const ExecutionId& id, FenceChoice choice) {
  const auto uuid = uuid_of(invented_sort, ++invented_);
  const Fence invented{
      .lease_id = LeaseId{uuid}, .lease_epoch = LeaseEpoch{1}, .attempt_id = AttemptId{uuid}};
  const auto known = known_.find(id);
  if (known == known_.end() || known->second.fences.empty()) return invented;
  const auto& fences = known->second.fences;
  auto fence = fences.back();
  switch (choice) {
    case FenceChoice::newest: return fence;
    case FenceChoice::earlier: return fences.size() > 1 ? fences[fences.size() - 2] : invented;
    case FenceChoice::foreign:
      for (const auto& [other, each] : known_)
        if (other != id && !each.fences.empty()) return each.fences.back();
      return invented;
    case FenceChoice::mixed:
      if (invented_ % 3 == 0) fence.lease_id = invented.lease_id;
      if (invented_ % 3 == 1) fence.lease_epoch = LeaseEpoch{fences.size() + 1};
      if (invented_ % 3 == 2) fence.attempt_id = invented.attempt_id;
      return fence;
    case FenceChoice::invented: return invented;
  }
  return invented;
}

Complete Driver::completion(const ExecutionId& id, const Fence& fence, unsigned kind_of_result) {
  Complete complete{.id = id, .fence = fence};
  if (kind_of_result == 0) return complete;  // none, which is not an empty one
  complete.result = bytes_of(kind_of_result - 1);
  complete.content_type = content_type_of(kind_of_result + invented_);
  return complete;
}

void Driver::run(const ByWorker& operation) {
  const auto id = resolve(operation.target);
  const auto fence = choose_fence(id, operation.fence);
  for (int i = 0; i < (operation.repeat ? 2 : 1); ++i) by_worker(operation, id, fence);
}

void Driver::by_worker(const ByWorker& operation, const ExecutionId& id, const Fence& fence) {
  switch (operation.verb) {
    case Verb::renew:
      change("renew", Renew{.id = id, .fence = fence, .lease_ttl = operation.time});
      return;
    case Verb::progress: {
      UpdateProgress call{.id = id, .fence = fence, .message = operation.repeat ? "" : "on it"};
      if (operation.category > 0) call.percent = operation.category * 25;
      change("progress", call);
      return;
    }
    case Verb::complete: change("complete", completion(id, fence, operation.category)); return;
    case Verb::fail:
      change("fail", Fail{.id = id,
                          .fence = fence,
                          .reason = operation.repeat ? "" : "broke: \"ä\"\n",
                          .category = category_of(operation.category)});
      return;
    case Verb::delay:  // may be in the past
      change("delay", Delay{.id = id, .fence = fence, .until = sides_.now() + operation.time - 5s});
      return;
    case Verb::wait_for_children:
      change("wait_for_children", WaitForChildren{.id = id, .fence = fence});
      return;
    case Verb::hand_back:
      change(
          "hand_back",
          HandBack{.id = id, .fence = fence, .reason = operation.category == 0 ? "" : "leaving"});
      return;
    case Verb::cancel:
      change("cancel", Cancel{.id = id,
                              .reason = operation.category == 0 ? "" : "by its worker",
                              .fence = fence});
      return;
  }
}

void Driver::run(const CompleteBatch& operation) {
  CompleteMany batch;
  for (const auto& target : operation.targets) {
    const auto id = resolve(target);
    touch(id);
    batch.executions.push_back(completion(id, choose_fence(id, operation.fence), target.index % 5));
  }
  static_cast<void>(must(sides_.run("complete_many", batch)));
}

// ---- By operators ----------------------------------------------------------------------------------

void Driver::run(const CancelOne& operation) {
  change("cancel", Cancel{.id = resolve(operation.target),
                          .reason = operation.target.index % 2 == 0 ? "" : "by an operator"});
}

void Driver::run(const RevokeOne& operation) {
  RevokeLease call{.id = resolve(operation.target),
                   .reason = operation.target.index % 2 == 0 ? "" : "moved"};
  if (operation.lease) call.lease_id = choose_fence(call.id, *operation.lease).lease_id;
  change("revoke", call);
}

void Driver::run(const Prioritise& operation) {
  change("priority",
         ChangePriority{.id = resolve(operation.target), .priority = operation.priority});
}

void Driver::run(const Tag& operation) {
  SetTags call{.id = resolve(operation.target)};
  if (operation.remove) call.remove.push_back(tag_key(operation.key));
  if (!operation.remove || operation.value == 1)  // of the same key too: it is then gone
    call.set[tag_key(operation.key)] = tag_value(operation.value);
  if (operation.target.index % 3 == 0) call.set["app.more"] = "\xc3\xa4 =,";
  change("tags", call);
}

void Driver::run(const ReplayOne& operation) {
  change("replay", Replay{.id = resolve(operation.target),
                          .reason = operation.target.index % 2 == 0 ? "" : "again",
                          .requested_by = operation.target.index % 3 == 0 ? "" : "ops"});
}

// ---- Time ------------------------------------------------------------------------------------------

void Driver::run(const property::Scan&) {
  sides_.run_scanners();
  for (const auto& [id, known] : known_)
    if (known.info) touch(id);
}

void Driver::run(const Restart&) { sides_.restart(); }

std::optional<TimePoint> Driver::next_timer() const {
  std::optional<TimePoint> next;
  for (const auto& [id, known] : known_) {
    if (!known.info || is_terminal(known.info->state)) continue;
    for (const auto& due :
         {known.info->delay_until, known.info->deadline, known.info->lease_expires_at,
          known.attempt_deadline, known.info->suspension_timeout})
      if (due && *due > sides_.now() && (!next || *due < *next)) next = due;
    for (const auto& waitpoint : known.waitpoints)
      if (const auto due = waitpoint.expires_at;
          due && *due > sides_.now() && (!next || *due < *next))
        next = due;
  }
  return next;
}

void Driver::run(const ToNextTimer& step) {
  if (const auto next = next_timer())
    sides_.advance(std::max(*next - sides_.now() + Millis{step.offset_ms}, Millis{0}));
  if (step.scan) run(property::Scan{});
}

void Driver::drain() {
  // The longest lease or delay is of 24 hours; what a timeout then sends to a retry comes in the next
  // round.
  for (const Millis by : {Millis{0}, Millis{1min}, Millis{25h}, Millis{25h}}) {
    sides_.begin_step();
    sides_.advance(by);
    run(property::Scan{});
    for (unsigned ns = 0; ns < namespace_count; ++ns) {
      const Claim claim{.worker = worker_of(0),
                        .ns = namespace_of(ns),
                        .lanes = lanes_of((1u << lane_count) - 1),
                        .capabilities = capabilities_of(capability_sets - 1),
                        .max = limits::claim_batch_max};
      for (const auto& each : must(sides_.run("claim", claim)).executions) claimed(each);
    }
    compare_touched();
    for (const auto& [id, known] : known_)
      if (known.info && known.info->state == ExecutionState::suspended)
        change("resume", Resume{.id = id});
    for (const auto& [id, known] : known_)
      if (known.info && known.info->worker)
        change("complete", Complete{.id = id, .fence = known.fences.back()});
    sides_.compare_events();
    compare_touched();
  }
  for (const auto& [id, known] : known_)
    if (known.info && !is_terminal(known.info->state)) disagree(id.str() + " is stuck");
}

// ---- Comparing -------------------------------------------------------------------------------------

namespace {

// Leases follow each other: the next is acquired when the one before has ended.
void check_one_lease(const ExecutionInfo& info, const LeaseHistory& history) {
  bool held = false;
  for (const auto& event : history.events) {
    if (event.type == LeaseEventType::replay_initiated) continue;
    const bool acquired = event.type == LeaseEventType::acquired;
    if (acquired == held) disagree(info.id.str() + " has two leases at once");
    held = acquired;
  }
  if (held != info.worker.has_value()) disagree(info.id.str() + ": its newest lease has no end");
}

// As they are stored: the lack of a capable worker is derived when an execution is read.
std::vector<std::string> words_of(const ExecutionInfo& info) {
  auto vector = info.state_vector;
  if (vector.eligibility_state == EligibilityState::blocked_by_route) {
    vector.eligibility_state = EligibilityState::eligible_now;
    vector.blocking_reason = BlockingReason::waiting_for_worker;
  }
  std::vector<std::string> words;
  for (const auto word :
       {to_string(vector.lifecycle_phase), to_string(vector.ownership_state),
        to_string(vector.eligibility_state), to_string(vector.blocking_reason),
        to_string(vector.terminal_outcome), to_string(vector.attempt_state), to_string(info.state)})
    words.emplace_back(word);
  return words;
}

}  // namespace

struct Driver::Said {
  Sides::Both<GetExecution> info;
  Sides::Both<GetAttempts> attempts;
  Sides::Both<GetLeaseHistory> history;
  Sides::Both<GetPayload> payload;
  Sides::Both<GetResult> result;
  std::optional<std::future<Result<valkey::Reply>>> stored;
};

Driver::Said Driver::ask(const ExecutionId& id) {
  Said said{.info = sides_.begin(GetExecution{id}),
            .attempts = sides_.begin(GetAttempts{id}),
            .history = sides_.begin(GetLeaseHistory{id}),
            .payload = sides_.begin(GetPayload{id}),
            .result = sides_.begin(GetResult{.id = id}),
            .stored = {}};
  if (known_.contains(id)) said.stored = sides_.stored_states(id);
  return said;
}

void Driver::compare_touched() {
  std::vector<std::pair<ExecutionId, Said>> all;
  for (const auto& id : std::exchange(touched_, {})) all.emplace_back(id, ask(id));
  for (auto& [id, said] : all) compare(id, std::move(said));
}

void Driver::compare(const ExecutionId& id, Said said) {
  const auto info = sides_.finish("get", std::move(said.info));
  sides_.finish("attempts", std::move(said.attempts));
  const auto history = sides_.finish("lease history", std::move(said.history));
  sides_.finish("payload", std::move(said.payload));
  sides_.finish("result", std::move(said.result));
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  known->second.info = info ? std::optional(*info) : std::nullopt;
  if (!info) return;
  compare_waits(id);
  if (info->state != ExecutionState::waiting) known->second.granted_to.reset();
  check_one_lease(*info, must(history));
  if (derived_state(info->state_vector) != info->state || !is_sound(info->state_vector))
    disagree("its states do not fit together: " + text_of(info));
  std::vector<std::string> stored;
  const auto reply = must(said.stored->get());
  for (const auto& each : *reply.as_array())
    stored.push_back(each.as_text() ? *each.as_text() : "nothing");
  // These may be left out where they go without saying.
  constexpr std::size_t ownership = 1, eligibility = 2, blocking = 3, outcome = 4;
  if (stored[ownership] == "nothing") stored[ownership] = "unowned";
  if (stored[blocking] == "nothing")
    stored[blocking] = stored[eligibility] == "eligible_now" ? "waiting_for_worker" : "none";
  if (stored[outcome] == "nothing") stored[outcome] = "none";
  if (stored != words_of(*info))
    disagree(fmt::format("{} is stored as {}\n  but told as {}", id.str(), fmt::join(stored, "/"),
                         fmt::join(words_of(*info), "/")));
}

void Driver::compare_lists(const Namespace& ns) {
  const CountExecutions count{.ns = ns};
  sides_.run("count", count);
  CountExecutions count_lane{.ns = ns, .lane = lane_of(1)};
  sides_.run("count a lane", count_lane);
  ListExecutions all{.ns = ns, .limit = 7};
  const auto listed = sides_.list(all);
  auto by_lane = all;
  by_lane.lane = lane_of(0);
  auto by_state = all;
  by_state.state = ExecutionState::waiting;
  auto by_suspended = all;
  by_suspended.state = ExecutionState::suspended;
  auto by_kind = all;
  by_kind.kind = *Kind::parse("mail.send");
  auto by_tag = all;
  by_tag.tag = tag_key(0) + "=" + tag_value(1);
  by_tag.limit = 3;
  auto by_time = all;
  if (!listed.empty()) {
    by_time.created_from = listed[listed.size() * 2 / 3].created_at;
    by_time.created_before = listed[listed.size() / 3].created_at;
  }
  for (const auto& query : {by_lane, by_state, by_suspended, by_kind, by_tag, by_time})
    sides_.list(query);
}

void Driver::compare_all() {
  touched_.insert(order_.begin(), order_.end());
  compare_touched();
  for (unsigned ns = 0; ns < namespace_count; ++ns) compare_lists(namespace_of(ns));
}

}  // namespace ff::differential
