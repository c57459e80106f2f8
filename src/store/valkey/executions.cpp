#include "store/valkey/executions.hpp"

#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"
#include "store/durability.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/flow_calls.hpp"
#include "store/valkey/calls/record.hpp"
#include "store/valkey/calls/stream_calls.hpp"
#include "store/valkey/calls/suspension_calls.hpp"

namespace ff::valkey_store {
namespace {

// A lease and its payload, which comes beside it in the same round trip: it costs Valkey less than
// through Lua.
class SentLease final : public SentCallOf<core::LeaseGrant>,
                        public std::enable_shared_from_this<SentLease> {
 public:
  using Get = std::function<void(std::move_only_function<void(Result<Reply>)>)>;
  SentLease(store::Call<core::LeaseGrant> call, Get get)
      : SentCallOf(std::move(call)), get_(std::move(get)) {}

  void finish() override {
    is_finished_ = true;
    finish_if_complete();
  }

 private:
  void get_payload() {
    get_([self = shared_from_this()](Result<Reply> payload) {
      self->take_payload(std::move(payload));
    });
  }

  void on_sent() override { get_payload(); }
  void read(Answer& answer) override {
    is_leased_ = true;
    SentCallOf::read(answer);
  }
  void take_payload(Result<Reply> payload) {
    was_early_ = !is_leased_;
    payload_ = std::move(payload);
    finish_if_complete();
  }

  void finish_if_complete() {
    if (!is_finished_ || !payload_) return;
    // Answers come in the order of the requests. A payload before its lease is from another server, one
    // that refused the lease: it may have been a replica that lags behind.
    if (succeeded() && std::exchange(was_early_, false)) {
      payload_.reset();
      return get_payload();
    }
    const auto& payload = *payload_;
    if (succeeded() && !payload)
      fail(payload.error());
    else if (succeeded() && payload->as_error())
      fail(server_error(*payload->as_error()).error());
    else if (succeeded())
      reply_->payload = text_in(*payload);
    SentCallOf::finish();
  }

  Get get_;
  bool is_leased_ = false;
  bool is_finished_ = false;
  bool was_early_ = false;
  std::optional<Result<Reply>> payload_;
};

// Refusals that mean that no worker can claim the execution at present.
bool is_not_ready(Errc code) {
  return code == Errc::execution_not_leaseable || code == Errc::execution_not_eligible ||
         code == Errc::execution_not_found || code == Errc::grant_already_exists;
}

// Whether an answer tells of a change.
bool has_event(const Result<std::vector<Reply>>& list) {
  return list && !is_refusal(*list) && list->size() > 2 && !text_in((*list)[2]).empty();
}

// Answer of ff_get: the record, and the bytes beside it if some were asked for.
struct Found {
  Record record;
  std::optional<std::string> bytes = {};
};

Result<Found> read_found(const ExecutionId& id, Result<Reply> reply) {
  constexpr std::size_t parts_of_record = 4;
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  if (is_refusal(*list)) return core::refusals::not_found(id);
  auto parts = without(std::move(*list), 2);
  std::optional<std::string> bytes;
  if (parts.size() > parts_of_record) {
    if (auto* text = parts.back().as_text()) bytes = std::move(*text);
    parts.pop_back();
  }
  auto record = read_record(id, std::move(parts));
  FF_TRY(record);
  return Found{.record = std::move(*record), .bytes = std::move(bytes)};
}

}  // namespace

void Executions::start(store::AnyCall& any, Joint* joint) {
  any.visit([this, joint]<class Op>(store::Call<Op>& call) {
    constexpr bool is_listing = std::is_same_v<Op, ListFlowNodes>;
    if constexpr (store::OneOf<Op, core::Create, core::LeaseGrant, Complete>)
      run(call, joint);
    else if constexpr (Op::row.owner == Owner::execution ||
                       (Op::row.owner == Owner::flow && !is_listing))
      run(call);
    else
      FF_ASSERT(!"an operation on something else");
  });
}

template <class Op>
ExecutionId Executions::subject_of(const Op& operation) const {
  if constexpr (Op::row.owner == Owner::flow) {
    const auto& uuid = operation.id.uuid();
    return {core::partition_of(uuid, parts_.functions.partition_count()), uuid};
  } else {
    return operation.id;
  }
}

template <class Op>
keys::Address Executions::address_of(const Op& operation) const {
  const auto id = subject_of(operation);
  const auto& place = parts_.functions.place_of(id);
  if constexpr (Op::row.owner == Owner::flow)
    return {.place = place, .key = keys::flow(place.tag, operation.id)};
  else
    return {.place = place, .key = keys::core(id)};
}

template <class Op>
RefusalContext Executions::refusal_context_of(const Op& operation) const {
  if constexpr (std::is_same_v<Op, core::AddNodes>)
    return flow_context(subject_of(operation), operation.id, "nodes", operation.nodes);
  else if constexpr (std::is_same_v<Op, core::SubmitNode>)
    return flow_context(subject_of(operation), operation.id, "", {&operation.node, 1});
  else if constexpr (std::is_same_v<Op, core::Grow>)
    return flow_context(
        operation.id, operation.flow,
        std::holds_alternative<WaitForChildren>(operation.end) ? "children" : "spawn",
        operation.nodes);
  else if constexpr (Op::row.owner == Owner::flow)
    return flow_context(subject_of(operation));
  else
    return context_of(operation);
}

// ---- Changes --------------------------------------------------------------------------------------

template <class Command>
Executions::Traits Executions::traits_of(const Command& command) const {
  constexpr bool is_renewal = std::is_same_v<Command, Renew>;
  constexpr bool is_lease = std::is_same_v<Command, core::LeaseGrant>;
  Traits traits{.refusal = refusal_context_of(command),
                .is_lease = is_lease,
                .in_background =
                    store::OneOf<Command, core::LeaseGrant, core::GrantIssue, core::TimerFire,
                                 core::Unblock, core::Remove, core::AdvanceFlow, core::ResolveEdges,
                                 core::CancelRest, core::AddItems, core::EndNode, core::CheckNode,
                                 core::CheckFlow, core::CancelOwedMembers, core::CancelSiblings>,
                .publishes = !store::OneOf<Command, Renew, PutStep, AppendFrames>,
                .tells_timer = is_renewal || std::is_same_v<Command, core::TimerFire>,
                .waits_for_disk = store::waits_for_disk<Command>};
  if constexpr (std::is_same_v<Command, AppendFrames>)
    traits.waits_for_disk = command.durability == StreamClass::durable;
  // That a worker does not hold it any more says nothing: it may be ready, or another's.
  if constexpr (is_lease)
    traits.tells_of_readiness = command.source != core::LeaseSource::held;
  else
    traits.tells_of_readiness = std::is_same_v<Command, core::GrantIssue>;
  return traits;
}

template <class Command>
void Executions::run(store::Call<Command>& call) {
  auto sent = begin(call);
  send(std::move(sent), std::make_shared<SentCallOf<Command>>(std::move(call)));
}

// A payload that is sent ahead goes by itself if the call behind it does not keep it.
void Executions::run(store::Call<core::Create>& call, Joint* joint) {
  const auto id = call.operation.id;
  const bool ahead = sends_payload_ahead(call.operation);
  const auto make = [this, &id, ahead](store::Call<core::Create> made) {
    if (ahead) send_payload(id, std::move(made.operation.submit.payload));
    return std::make_shared<SentCallOf<core::Create>>(std::move(made));
  };
  if (join(joint, call, make)) return;
  auto sent = begin(call);
  send(std::move(sent), make(std::move(call)));
}

void Executions::send_payload(const ExecutionId& id, std::string payload) {
  // Should it be sent again, and arrive after the call that keeps it, it must not expire: NX.
  Request set{
      .command = {"SET", keys::of_execution(id, "payload"), std::move(payload), "EX", "600", "NX"},
      .route = parts_.functions.place_of(id).slot};
  parts_.client.send(std::move(set), [](const Result<Reply>&) {});
}

void Executions::run(store::Call<core::CreateFlow>& call) {
  auto& command = call.operation;
  std::vector<core::NewNode*> ahead;
  for (auto& node : command.nodes)
    if (sends_payload_ahead(command, node)) ahead.push_back(&node);
  auto sent = begin(call);
  for (auto* node : ahead) send_payload(node->id, std::move(node->node.payload));
  send(std::move(sent), std::make_shared<SentCallOf<core::CreateFlow>>(std::move(call)));
}

void Executions::run(store::Call<core::LeaseGrant>& call, Joint* joint) {
  const auto id = call.operation.id;
  const auto get = [this, id](std::move_only_function<void(Result<Reply>)> done) {
    Request request{.command = {"GET", keys::of_execution(id, "payload")},
                    .route = parts_.functions.place_of(id).slot};
    parts_.client.send(parts_.functions.unless_down(std::move(request)), std::move(done));
  };
  const auto make = [&get](store::Call<core::LeaseGrant> made) {
    return std::make_shared<SentLease>(std::move(made), get);
  };
  if (join(joint, call, make)) return;
  auto sent = begin(call);
  send(std::move(sent), make(std::move(call)));
}

void Executions::run(store::Call<Complete>& call, Joint* joint) {
  const auto make = [](store::Call<Complete> made) {
    return std::make_shared<SentCallOf<Complete>>(std::move(made));
  };
  if (!join(joint, call, make)) run(call);
}

template <class Command>
Executions::Traits Executions::traits_now(const Command& command) const {
  auto traits = traits_of(command);
  if (traits.tells_of_readiness)
    traits.known_version = parts_.copy.ready().version_of(traits.refusal.id);
  return traits;
}

template <class Command>
Executions::Sent Executions::begin(store::Call<Command>& call) {
  const auto number = parts_.own_events.begin();
  auto traits = traits_now(call.operation);
  auto request = parts_.functions.change(address_of(call.operation), call_for(call.operation),
                                         parts_.own_events.origin_of(number));
  if (traits.in_background) request = parts_.functions.unless_down(std::move(request));
  return {.number = number, .traits = std::move(traits), .request = std::move(request)};
}

void Executions::send(Sent sent, std::shared_ptr<SentCall> call) {
  auto request = std::move(sent.request);
  parts_.functions.call(
      std::move(request),
      [this, number = sent.number, traits = std::move(sent.traits), call](Result<Reply> reply) {
        note_unreachable(traits, reply);
        auto list = list_of(std::move(reply));
        const auto server_run = take_run(list);
        put_back_if_lost(traits, list);
        using enum OwnEventFilter::Told;
        end_call(number, has_event(list) ? all : traits.publishes ? unknown : there_are_none);
        receive(traits, std::move(list), server_run, call);
      });
  call->on_sent();
}

// Before what the channel told of it is learned: that is newer.
void Executions::put_back_if_lost(const Traits& traits, const Result<std::vector<Reply>>& list) {
  if (!list && traits.is_lease) parts_.copy.ready().put_back(traits.refusal.id);
}

void Executions::end_call(std::uint64_t number, OwnEventFilter::Told told) {
  for (const auto& echo : parts_.own_events.end(number, told)) parts_.copy.learn(echo);
}

// Not what the server says, that it is full for example: then it is there.
void Executions::note_unreachable(const Traits& traits, const Result<Reply>& reply) {
  if (traits.in_background && !reply && is_unreachable(reply.error()))
    parts_.copy.note_unreachable(traits.refusal.id.partition());
}

void Executions::receive(const Traits& traits, Result<std::vector<Reply>> list,
                         const std::string& server_run, const std::shared_ptr<SentCall>& call) {
  take_in(traits, std::move(list), *call);
  if (!traits.waits_for_disk) return call->finish();
  finish_when_safe(parts_.confirmations, parts_.functions.place_of(traits.refusal.id), server_run,
                   call);
}

// ---- Several at once -----------------------------------------------------------------------------

void Executions::Joint::add(std::uint16_t slot, Joined joined) {
  const auto bytes = joined.part.bytes();
  const auto [place, is_new] =
      open_.try_emplace({joined.part.function, slot, joined.part.shared}, groups_.size(), 0);
  auto& open = place->second;
  const bool is_full = !is_new && (groups_[open.group].size() == joined_max ||
                                   open.bytes + bytes > joined_bytes_max);
  if (is_full) open = {.group = groups_.size(), .bytes = 0};
  if (open.group == groups_.size()) groups_.emplace_back();
  open.bytes += bytes;
  groups_[open.group].push_back(std::move(joined));
}

template <class Command, class Make>
bool Executions::join(Joint* joint, store::Call<Command>& call, Make make) {
  if (!joint) return false;
  auto part = joinable_call_for(call.operation);
  if (!part) return false;
  auto traits = traits_now(call.operation);
  auto address = address_of(call.operation);
  const auto slot = parts_.functions.slot_of_calls(address.place);
  joint->add(slot, {.part = std::move(*part),
                    .address = std::move(address),
                    .traits = std::move(traits),
                    .call = make(std::move(call))});
  return true;
}

void Executions::send(Joint joint) {
  for (auto& group : joint.take()) send_joined(std::move(group));
}

// They are one call of this process: one message tells of all changes.
void Executions::send_joined(std::vector<Joined> joined) {
  const auto number = parts_.own_events.begin();
  const auto origin = parts_.own_events.origin_of(number);
  FunctionCall function{joined.front().part.function, std::move(joined.front().part.shared)};
  std::vector<keys::Address> addresses;
  for (auto& [part, address, traits, call] : joined) {
    addresses.push_back(std::move(address));
    function.arguments.push_back(origin);
    std::ranges::move(part.own, std::back_inserter(function.arguments));
  }
  auto request = parts_.functions.change(addresses, std::move(function));
  if (joined.front().traits.in_background)
    request = parts_.functions.unless_down(std::move(request));
  const auto shared = std::make_shared<std::vector<Joined>>(std::move(joined));
  parts_.functions.call(std::move(request), [this, number, shared](Result<Reply> reply) {
    note_unreachable(shared->front().traits, reply);
    auto list = list_of(std::move(reply));
    const auto server_run = take_run(list);
    auto answers = answers_of_joined(std::move(list), shared->size());
    for (std::size_t i = 0; i < answers.size(); ++i)
      put_back_if_lost((*shared)[i].traits, answers[i]);
    using enum OwnEventFilter::Told;
    end_call(number, std::ranges::all_of(answers, has_event) ? all : unknown);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& traits = (*shared)[i].traits;
      if (answers[i] && traits.is_lease) *answers[i] = lease_answer(std::move(*answers[i]));
      receive(traits, std::move(answers[i]), server_run, (*shared)[i].call);
    }
  });
  for (const auto& each : *shared) each.call->on_sent();
}

// ---- Answers -------------------------------------------------------------------------------------

// Applies the answer to the call and to the caches of this process.
void Executions::take_in(const Traits& traits, Result<std::vector<Reply>> list, SentCall& call) {
  const auto& id = traits.refusal.id;
  const bool answered = list && !is_refusal(*list);
  const bool is_choice = traits.is_lease && traits.tells_of_readiness;
  if (is_choice) ++leases_asked_;
  if (is_choice && answered) ++leases_got_;
  auto event = answered && list->size() > 2 ? text_in((*list)[2]) : std::string{};
  if (!list) return call.fail(std::move(list.error()));
  if (!answered) {
    auto refusal = refused(traits.refusal, *list);
    if (traits.tells_of_readiness) {
      if (is_not_ready(refusal.error().code))
        parts_.copy.ready().erase(id, traits.known_version);
      else
        parts_.copy.ready().put_back(id);
    }
    if (refusal.error().code == Errc::execution_not_found) parts_.copy.note_timer(id, std::nullopt);
    return call.fail(std::move(refusal.error()));
  }
  const bool duplicate = *(*list)[1].as_text() == "DUPLICATE";
  Answer answer(duplicate, std::move(event), without(std::move(*list), 3));
  call.read(answer);
  if (traits.tells_timer && !answer.at_end()) {
    const auto kind = timer_kind_from(answer.text());
    const auto due = answer.optional_time();
    parts_.copy.note_timer(id,
                           kind && due ? std::optional(core::Timer{*kind, *due}) : std::nullopt);
  }
  if (answer.malformed()) return call.fail(malformed("a command").error());
  for (const auto& message : parse_events(answer.event())) parts_.copy.learn(message);
}

void Executions::run(store::Call<store::PutBack>& call) {
  parts_.copy.ready().put_back(call.operation.id);
  call.done(Done{});
}

// ---- Reads ----------------------------------------------------------------------------------------

template <class Query, class Tell>
void Executions::read(store::Call<Query>& call, std::vector<std::string> arguments, Tell tell) {
  const auto id = call.operation.id;
  parts_.functions.call(parts_.functions.read(id, std::move(arguments)),
                        [id, tell, call = std::move(call)](Result<Reply> reply) mutable {
                          auto found = read_found(id, std::move(reply));
                          if (!found) return call.done(std::unexpected(std::move(found.error())));
                          call.done(tell(std::move(*found)));
                        });
}

template <class Query>
void Executions::ask(store::Call<Query>& call) {
  auto request =
      parts_.functions.at(address_of(call.operation), call_for(std::as_const(call.operation)),
                          Functions::Access::reads);
  parts_.functions.call(std::move(request), [context = refusal_context_of(call.operation),
                                             call = std::move(call)](Result<Reply> reply) mutable {
    auto list = list_of(std::move(reply));
    if (!list) return call.done(std::unexpected(list.error()));
    if (is_refusal(*list)) return call.done(refused(context, *list));
    call.done(read_list(call.operation, without(std::move(*list), 2)));
  });
}

void Executions::run(store::Call<GetSuspension>& call) { ask(call); }
void Executions::run(store::Call<GetSignals>& call) { ask(call); }
void Executions::run(store::Call<core::FindSignal>& call) { ask(call); }
void Executions::run(store::Call<GetStep>& call) { ask(call); }
void Executions::run(store::Call<ListSteps>& call) { ask(call); }
void Executions::run(store::Call<store::ReadFrames>& call) { ask(call); }
void Executions::run(store::Call<ListStreams>& call) { ask(call); }
void Executions::run(store::Call<store::ReadAttemptFrames>& call) { ask(call); }
void Executions::run(store::Call<core::ReadFlow>& call) { ask(call); }
void Executions::run(store::Call<GetInputs>& call) { ask(call); }

void Executions::run(store::Call<GetExecution>& call) {
  read(call, {"newest"}, [](Found found) { return core::info_of(found.record.execution); });
}

void Executions::run(store::Call<core::CheckLease>& call) {
  const auto& [id, fence] = call.operation;
  FunctionCall function{
      "ff_check_lease",
      {fence.lease_id.str(), std::to_string(std::to_underlying(fence.lease_epoch)),
       fence.attempt_id.str()}};
  auto request =
      parts_.functions.at({.place = parts_.functions.place_of(id), .key = keys::core(id)},
                          std::move(function), Functions::Access::reads);
  parts_.functions.call(std::move(request), [call = std::move(call)](Result<Reply> reply) mutable {
    const auto list = list_of(std::move(reply));
    if (!list) return call.done(std::unexpected(list.error()));
    if (is_refusal(*list)) return call.done(refused(context_of(call.operation), *list));
    call.done(Done{});
  });
}

void Executions::run(store::Call<core::HoldsToken>& call) {
  const auto& [id, token] = call.operation;
  Request request{.command = {"HGET", keys::core(id), "admission"},
                  .route = parts_.functions.place_of(id).slot};
  request = parts_.functions.unless_down(std::move(request));
  parts_.client.send(std::move(request), [call = std::move(call)](Result<Reply> reply) mutable {
    if (!reply) return call.done(std::unexpected(std::move(reply.error())));
    if (const auto* error = reply->as_error()) return call.done(server_error(*error));
    call.done(text_in(*reply) == call.operation.token.str());
  });
}

void Executions::run(store::Call<GetPayload>& call) {
  read(call, {"none", "payload"}, [](Found found) {
    return Bytes{.bytes = std::move(found.bytes).value_or(""),
                 .content_type = std::move(found.record.execution.content_type)};
  });
}

void Executions::run(store::Call<store::ReadResult>& call) {
  read(call, {"newest", "result"}, [](Found found) {
    return core::read_result(found.record.execution, std::move(found.bytes));
  });
}

void Executions::run(store::Call<GetAttempts>& call) {
  read(call, {"all"}, [](const Found& found) {
    const auto& [execution, attempts] = found.record;
    const bool running = std::holds_alternative<core::Active>(execution.state);
    Attempts told;
    for (const auto& attempt : attempts)
      told.attempts.push_back(core::info_of(attempt, running && &attempt == &attempts.back()));
    return told;
  });
}

void Executions::run(store::Call<GetLeaseHistory>& call) {
  read(call, {"all"}, [](const Found& found) {
    return core::lease_history(found.record.execution, found.record.attempts);
  });
}

}  // namespace ff::valkey_store
