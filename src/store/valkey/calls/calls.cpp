#include "store/valkey/calls/calls.hpp"

#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/policy_json.hpp"
#include "store/valkey/calls/record.hpp"
#include "store/valkey/calls/texts.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

std::vector<std::string> with_token(std::vector<std::string> arguments,
                                    const std::optional<core::QuotaToken>& token) {
  arguments.push_back(token ? token->id.str() : "");
  arguments.push_back(token ? text_of(token->valid_until) : "");
  return arguments;
}

std::string_view name_of(core::LeaseSource source) {
  switch (source) {
    case core::LeaseSource::ready: return "ready";
    case core::LeaseSource::grant: return "grant";
    case core::LeaseSource::held: return "held";
  }
  return "";
}

}  // namespace

// ---- Calls ---------------------------------------------------------------------------------------

// Nothing can have a minted id yet, so that nothing is overwritten.
bool sends_payload_ahead(const core::Create& command) {
  constexpr std::size_t worth_it = 256;
  return command.minted && !command.submit.idempotency_key &&
         command.submit.payload.size() >= worth_it;
}

FunctionCall call_for(core::Create& command) {
  auto& submit = command.submit;
  auto digest = raw_bytes(core::request_digest(submit));
  const auto& policy = submit.policy;
  const auto retention = policy.retention.value_or(command.retention_default);
  const bool usual_window = policy.dedup_window == Policy{}.dedup_window;
  std::vector<std::string> arguments{
      submit.ns.str(),
      submit.lane.str(),
      submit.kind.str(),
      std::to_string(submit.priority),
      sends_payload_ahead(command) ? "#" : "=" + std::move(submit.payload),
      std::move(digest),
      text_or_none(submit.delay_until),
      text_or_none(submit.deadline),
      text_or_none(submit.idempotency_key),
      submit.idempotency_key && !usual_window ? text_of(policy.dedup_window) : "",
      retention == limits::retention_default ? "" : text_of(retention),
      text_or_none(submit.content_type),
      text_or_none(submit.traceparent),
      to_policy_json(policy),
      policy.required_capabilities.csv(),
      text_or_none(policy.attempt_timeout),
      text_or_none(policy.execution_deadline),
      std::string(command.id.uuid().bytes().begin(), command.id.uuid().bytes().end())};
  for (auto& [key, value] : submit.tags) {
    arguments.push_back(key);
    arguments.push_back(std::move(value));
  }
  return {"ff_submit", std::move(arguments)};
}

FunctionCall call_for(core::GrantIssue& command) {
  return {"ff_grant",
          with_token({command.worker.str(), command.capabilities.csv(), text_of(command.grant_ttl)},
                     command.token)};
}

FunctionCall call_for(core::LeaseGrant& command) {
  return {"ff_lease", with_token({std::string(name_of(command.source)), command.worker.str(),
                                  command.capabilities.csv(), command.lease_id.str(),
                                  command.attempt_id.str(), text_of(command.lease_ttl)},
                                 command.token)};
}

FunctionCall call_for(core::Unblock& command) {
  return {"ff_unblock", {std::string(to_string(command.reason))}};
}

FunctionCall call_for(Renew& command) {
  return {"ff_renew", with_fence(command.fence, text_of(command.lease_ttl))};
}

FunctionCall call_for(UpdateProgress& command) {
  return {"ff_progress",
          with_fence(command.fence, command.percent ? std::to_string(*command.percent) : "",
                     std::move(command.message))};
}

FunctionCall call_for(Complete& command) {
  return {"ff_complete",
          with_fence(command.fence, std::string(command.result ? "1" : "0"),
                     std::move(command.result).value_or(""), text_or_none(command.content_type))};
}

FunctionCall call_for(Fail& command) {
  return {"ff_fail",
          with_fence(command.fence, std::move(command.reason), std::move(command.category))};
}

FunctionCall call_for(Delay& command) {
  return {"ff_pause", with_fence(command.fence, std::string("worker_delay"), text_of(command.until),
                                 std::string())};
}

FunctionCall call_for(HandBack& command) {
  return {"ff_pause", with_fence(command.fence, std::string("handed_back"), std::string(),
                                 std::move(command.reason))};
}

FunctionCall call_for(WaitForChildren& command) {
  return {"ff_pause",
          with_fence(command.fence, std::string("waiting_children"), std::string(), std::string())};
}

FunctionCall call_for(Cancel& command) {
  std::vector<std::string> arguments{std::move(command.reason)};
  if (command.fence) std::ranges::move(with_fence(*command.fence), std::back_inserter(arguments));
  return {"ff_cancel", std::move(arguments)};
}

FunctionCall call_for(RevokeLease& command) {
  return {"ff_revoke", {text_or_none(command.lease_id), std::move(command.reason)}};
}

FunctionCall call_for(ChangePriority& command) {
  return {"ff_set_priority", {std::to_string(command.priority)}};
}

FunctionCall call_for(SetTags& command) {
  std::vector<std::string> arguments{std::to_string(limits::tags_max),
                                     std::to_string(command.set.size())};
  for (auto& [key, value] : command.set) {
    arguments.push_back(key);
    arguments.push_back(std::move(value));
  }
  std::ranges::move(command.remove, std::back_inserter(arguments));
  return {"ff_set_tags", std::move(arguments)};
}

FunctionCall call_for(Replay& command) {
  return {"ff_replay", {std::move(command.reason), std::move(command.requested_by)}};
}

FunctionCall call_for(core::TimerFire& command) {
  return {"ff_fire_timer", {std::string(valkey_store::name_of(command.kind))}};
}

FunctionCall call_for(core::Remove& command) {
  FunctionCall call{"ff_remove"};
  if (command.is_early) call.arguments.emplace_back("1");
  return call;
}

// ---- Replies --------------------------------------------------------------------------------------

std::string Answer::text() {
  auto* text = next_ < values_.size() ? values_[next_].as_text() : nullptr;
  ++next_;
  if (text) return std::move(*text);
  malformed_ = true;
  return {};
}

std::int64_t Answer::number() {
  const auto parsed = parse_number<std::int64_t>(text());
  if (!parsed) malformed_ = true;
  return parsed.value_or(0);
}

std::vector<Reply> Answer::list() {
  auto* list = next_ < values_.size() ? values_[next_].as_array() : nullptr;
  ++next_;
  if (list) return std::move(*list);
  malformed_ = true;
  return {};
}

std::optional<TimePoint> Answer::optional_time() {
  const auto told = text();
  if (told.empty()) return std::nullopt;
  const auto parsed = parse_number<std::int64_t>(told);
  if (!parsed) malformed_ = true;
  return TimePoint{Millis{parsed.value_or(0)}};
}

namespace {

EndReply read_state(Answer& answer) { return {answer.word<ExecutionState>()}; }

template <class Text>
std::optional<Text> read_optional(Answer& answer) {
  const auto told = answer.text();
  if (told.empty()) return std::nullopt;
  auto parsed = Text::parse(told);
  answer.expect(parsed.has_value());
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

}  // namespace

SubmitReply read_answer(const core::Create& command, Answer& answer) {
  SubmitReply reply{.id = command.id, .duplicate = answer.duplicate()};
  reply.state = answer.word<ExecutionState>();
  if (reply.duplicate) reply.id = answer.id<ExecutionId>();
  return reply;
}

namespace {

constexpr std::string_view flow_prefix = "flow\x1f";

// The flow of a node and its name there, joined by byte 31.
void read_membership(ClaimedExecution& claimed, std::string_view text) {
  const auto end = std::min(text.find('\x1f'), text.size());
  if (const auto flow = FlowId::parse(text.substr(0, end))) claimed.flow = *flow;
  if (end == text.size()) return;
  if (auto node = NodeName::parse(std::string(text.substr(end + 1)))) claimed.node = std::move(*node);
}

}  // namespace

GrantedExecution read_answer(const core::GrantIssue& command, Answer& answer) {
  return {.id = command.id, .grant_expires_at = answer.time()};
}

ClaimedExecution read_answer(const core::LeaseGrant& command, Answer& answer) {
  ClaimedExecution claimed{.id = command.id,
                           .ns = {},
                           .lane = {},
                           .kind = {},
                           .payload = {},
                           .fence = {},
                           .lease_expires_at = {}};
  claimed.ns = answer.id<Namespace>();
  claimed.lane = answer.id<LaneId>();
  claimed.kind = answer.id<Kind>();
  claimed.content_type = read_optional<ContentType>(answer);
  claimed.traceparent = read_optional<TraceParent>(answer);
  claimed.attempt_index = static_cast<std::uint32_t>(answer.number());
  claimed.attempt_type = answer.word<AttemptType>();
  claimed.resumed = answer.text() == "1";
  claimed.fence.lease_id = answer.id<LeaseId>();
  claimed.fence.lease_epoch = LeaseEpoch{static_cast<std::uint64_t>(answer.number())};
  claimed.fence.attempt_id = answer.id<AttemptId>();
  claimed.lease_expires_at = answer.time();
  claimed.attempt_deadline = answer.optional_time();
  claimed.deadline = answer.optional_time();
  claimed.budgets = ids_in<BudgetId>(answer.text());
  while (!answer.at_end()) {
    auto key = answer.text();
    auto value = answer.text();
    if (key.empty() && value.starts_with(flow_prefix))
      read_membership(claimed, std::string_view(value).substr(flow_prefix.size()));
    else if (key.empty())
      claimed.wake = wake_in(value);
    else
      claimed.tags[std::move(key)] = std::move(value);
  }
  return claimed;
}

core::UnblockReply read_answer(const core::Unblock&, Answer& answer) {
  return {answer.text() == "1"};
}
RenewReply read_answer(const Renew&, Answer& answer) { return {answer.time()}; }
Done read_answer(const UpdateProgress&, Answer&) { return {}; }
EndReply read_answer(const Complete&, Answer& answer) { return read_state(answer); }

FailReply read_answer(const Fail&, Answer& answer) {
  FailReply reply{.state = answer.word<ExecutionState>()};
  reply.retry_at = answer.optional_time();
  return reply;
}

EndReply read_answer(const Delay&, Answer& answer) { return read_state(answer); }
EndReply read_answer(const HandBack&, Answer& answer) { return read_state(answer); }
EndReply read_answer(const WaitForChildren&, Answer& answer) { return read_state(answer); }
EndReply read_answer(const Cancel&, Answer& answer) { return read_state(answer); }

RevokeReply read_answer(const RevokeLease&, Answer& answer) {
  RevokeReply reply{.status = answer.word<RevokeStatus>()};
  reply.lease_epoch = LeaseEpoch{static_cast<std::uint64_t>(answer.number())};
  return reply;
}

PriorityReply read_answer(const ChangePriority& command, Answer& answer) {
  return {.before = static_cast<std::int32_t>(answer.number()), .after = command.priority};
}

TagsReply read_answer(const SetTags&, Answer& answer) {
  TagsReply reply;
  while (!answer.at_end()) {
    auto key = answer.text();
    reply.tags[std::move(key)] = answer.text();
  }
  return reply;
}

EndReply read_answer(const Replay&, Answer& answer) { return read_state(answer); }
core::TimerReply read_answer(const core::TimerFire&, Answer& answer) {
  return {answer.text() == "1"};
}
core::RemoveReply read_answer(const core::Remove&, Answer& answer) {
  return {answer.text() == "1"};
}

namespace {

std::string detail_in(const std::vector<Reply>& reply, std::size_t i) {
  const auto* text = i + 2 < reply.size() ? reply[i + 2].as_text() : nullptr;
  return text ? *text : std::string{};
}

FlowState flow_state_in(const std::string& text) {
  return from_name<FlowState>(text).value_or(FlowState::running);
}

template <class Id>
Id id_in(const std::string& text) {
  return Id::parse(text).value_or(Id{});
}

// The refusal, if the code concerns flows.
std::optional<std::unexpected<Error>> refused_for_flow(Errc code, const RefusalContext& context,
                                                       const std::vector<Reply>& reply) {
  namespace refusals = core::refusals;
  const auto detail = [&](std::size_t i) { return detail_in(reply, i); };
  const auto id = context.flow ? *context.flow : FlowId::parse(detail(1)).value_or(FlowId{});
  const auto node = ExecutionId::parse(detail(1)).value_or(context.id);
  switch (code) {
    case Errc::flow_not_found: return refusals::not_found(id);
    case Errc::flow_being_removed: return refusals::being_removed(id);
    case Errc::flow_not_building:
      if (detail(0) == "open") return refusals::takes_no_nodes(id);
      return refusals::not_building(id, flow_state_in(detail(0)));
    case Errc::flow_not_sealed:
      if (detail(0) == "building") return refusals::not_running(id, FlowState::building);
      return refusals::never_sealed(id, flow_state_in(detail(2)));
    case Errc::flow_already_terminal:
      if (detail(0) == "ending") return refusals::still_ending(id, flow_state_in(detail(2)));
      return refusals::already_terminal(id, flow_state_in(detail(2)));
    case Errc::flow_limit_exceeded: return refusals::flow_too_large(id, context.list);
    case Errc::node_not_found: {
      const auto at = parse_number<std::size_t>(detail(0)).value_or(0);
      const auto edge = parse_number<std::size_t>(detail(1)).value_or(0);
      if (at >= context.dependencies.size() || edge >= context.dependencies[at].size()) break;
      return refusals::node_not_found(id, context.dependencies.at(at).at(edge), {context.list, at},
                                      edge);
    }
    case Errc::invalid_input: {
      if (detail(0) == "not_open") return refusals::not_open(id);
      if (detail(0) == "edge") return refusals::edge_not_found(id, id_in<GivenEdgeId>(detail(1)));
      if (detail(0) == "item_taken")
        return refusals::item_name_taken(id_in<NodeName>(detail(1)), id_in<NodeName>(detail(2)));
      const auto at = parse_number<std::size_t>(detail(1)).value_or(0);
      if (at >= context.nodes.size()) break;
      const auto& name = context.nodes[at];
      if (detail(0) == "child") return refusals::not_a_child(name, {context.list, at});
      if (detail(0) == "has_item") return refusals::item_exists(name, {context.list, at});
      if (detail(0) == "item")
        return refusals::is_item_name(name, core::list_of_item(name).value_or(NodeName{}),
                                      {context.list, at});
      break;
    }
    case Errc::duplicate_mismatch: {
      if (detail(0) != "node") break;
      const auto at = parse_number<std::size_t>(detail(1)).value_or(0);
      if (at >= context.nodes.size()) break;
      return refusals::another_node(context.nodes.at(at), {context.list, at}, detail(2));
    }
    case Errc::stale_graph_revision:
      return refusals::stale_revision(id, parse_number<std::uint32_t>(detail(0)).value_or(0));
    case Errc::execution_not_in_flow: return refusals::not_a_member(id, detail(0), node);
    case Errc::execution_already_in_flow:
      return refusals::already_in_flow(id_in<ExecutionId>(detail(0)), id_in<FlowId>(detail(1)));
    case Errc::cycle_detected:
      return refusals::closes_circle(id_in<ExecutionId>(detail(0)), id_in<ExecutionId>(detail(1)));
    case Errc::dependency_already_exists:
      return refusals::edge_exists(id_in<GivenEdgeId>(detail(0)));
    case Errc::execution_not_leaseable:
      if (detail(0) != "flow") return std::nullopt;
      return refusals::flow_holds(context.id, id, flow_state_in(detail(2)));
    case Errc::execution_not_eligible:
      if (detail(0) == "begun")
        return refusals::has_begun(
            node, from_name<ExecutionState>(detail(2)).value_or(ExecutionState::waiting));
      if (detail(0) != "dependencies") return std::nullopt;
      return refusals::dependencies_failed(node);
    default: break;
  }
  if (!context.flow) return std::nullopt;
  if (code == Errc::duplicate_mismatch) return refusals::duplicate_mismatch(id);
  if (code == Errc::invalid_input && detail(0) == "nodes") return refusals::no_nodes(id);
  if (code == Errc::invalid_input && detail(0) == "id") return refusals::unusable(id);
  if (code == Errc::execution_not_found)
    return refusals::not_found(ExecutionId::parse(detail(0)).value_or(context.id));
  if (code == Errc::execution_not_terminal)
    return refusals::not_terminal(
        node, from_name<ExecutionState>(detail(0)).value_or(ExecutionState::waiting));
  return std::nullopt;
}

}  // namespace

std::unexpected<Error> refused(const RefusalContext& context, const std::vector<Reply>& reply) {
  namespace refusals = core::refusals;
  const auto detail = [&](std::size_t i) { return detail_in(reply, i); };
  const auto state_in = [&](std::size_t i) {
    return from_name<ExecutionState>(detail(i)).value_or(ExecutionState::waiting);
  };
  const auto* name = reply.size() > 1 ? reply[1].as_text() : nullptr;
  const auto code = name ? errc_from_name(*name) : std::nullopt;
  const auto& id = context.id;
  if (code)
    if (auto refusal = refused_for_flow(*code, context, reply)) return std::move(*refusal);
  switch (code.value_or(Errc::internal)) {
    case Errc::execution_not_found: return refusals::not_found(id);
    case Errc::duplicate_mismatch: {
      const auto existing = ExecutionId::parse(detail(0));
      return refusals::duplicate_mismatch(existing ? *existing : id, context.by_idempotency_key);
    }
    case Errc::execution_not_active:
      return refusals::not_active(
          id, {.state = state_in(4),
               .outcome = from_name<TerminalOutcome>(detail(0)).value_or(TerminalOutcome::none),
               .phase = from_name<LifecyclePhase>(detail(2)).value_or(LifecyclePhase::runnable),
               .epoch = LeaseEpoch{parse_number<std::uint64_t>(detail(1)).value_or(0)},
               .attempt_id = detail(3)});
    case Errc::lease_revoked: return refusals::lease_revoked(id);
    case Errc::lease_expired: return refusals::lease_expired(id);
    case Errc::stale_lease: {
      const auto current = LeaseId::parse(detail(0));
      if (context.expected_lease && current)
        return refusals::another_lease(id, *context.expected_lease, *current);
      return refusals::stale_lease(id);
    }
    case Errc::execution_not_leaseable:
      if (detail(0) == "held") return refusals::not_held(id, context.worker);
      return refusals::cannot_be_claimed(*code, id, state_in(0));
    case Errc::execution_not_eligible:
      if (context.worker.str().empty()) return refusals::priority_after_end(id, state_in(0));
      return refusals::cannot_be_claimed(*code, id, state_in(0));
    case Errc::capability_mismatch: return refusals::capability_mismatch(id, detail(0));
    case Errc::grant_already_exists: return refusals::set_aside(id);
    case Errc::admission_expired:
      return refusals::admission_expired(id, QuotaId::parse(detail(0)).value_or(QuotaId{}));
    case Errc::invalid_claim_grant: return refusals::no_grant(id, context.worker);
    case Errc::claim_grant_expired: return refusals::grant_expired(id);
    case Errc::invalid_input:
      return refusals::too_many_tags(id, parse_number<std::size_t>(detail(0)).value_or(0));
    case Errc::execution_not_terminal: return refusals::not_terminal(id, state_in(0));
    case Errc::execution_not_suspended: return refusals::not_suspended(id, state_in(0));
    case Errc::target_not_signalable: return refusals::not_signalable(id, state_in(0));
    case Errc::signal_limit_exceeded:
      return refusals::too_many_signals(id, parse_number<std::uint32_t>(detail(0)).value_or(0));
    case Errc::waitpoint_limit_exceeded: return refusals::too_many_waitpoints(id);
    case Errc::waitpoint_not_found: return refusals::waitpoint_not_found(context.waitpoint);
    case Errc::waitpoint_closed: return refusals::waitpoint_closed(context.waitpoint);
    case Errc::step_not_found: return refusals::step_not_found(id, context.step);
    case Errc::step_limit_exceeded: return refusals::too_many_steps(id);
    case Errc::stream_limit_exceeded: return refusals::too_many_streams(id);
    case Errc::stream_full: return refusals::stream_full(context.stream);
    case Errc::summary_too_large: return refusals::summary_too_large(context.stream);
    case Errc::stream_sequence_gap:
      return refusals::stream_gap(context.stream,
                                  parse_number<std::uint64_t>(detail(0)).value_or(0), context.written);
    case Errc::invalid_condition: {
      auto terms = context.terms;
      terms.signals_max = parse_number<std::uint32_t>(detail(0)).value_or(terms.signals_max);
      if (auto checked = core::check_condition(context.condition, terms); !checked)
        return std::unexpected(std::move(checked.error()));
      break;
    }
    case Errc::max_replays_exhausted:
      return refusals::replays_exhausted(id, parse_number<std::uint32_t>(detail(0)).value_or(0));
    default: break;
  }
  if (name && *name == "stream_differs")
    return refusals::stream_differs(context.stream, detail(0), detail(1));
  if (name && *name == "waitpoint_already_exists") return refusals::waitpoint_id_taken(detail(0));
  if (name && *name == "payload_missing")
    return fail(Errc::store_unavailable,
                "Valkey did not keep the payload; is it out of memory? Nothing was submitted: try "
                "again");
  return fail(Errc::internal,
              fmt::format("the function library refused something about execution {} as '{}', "
                          "which this version does not know",
                          id.str(), name ? *name : ""));
}

}  // namespace ff::valkey_store
