#include "store/valkey/calls/flow_calls.hpp"

#include "base/overloaded.hpp"
#include "base/try.hpp"
#include "core/flows/growth.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/policy_json.hpp"
#include "store/valkey/calls/record.hpp"
#include "store/valkey/calls/texts.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::size_t uuid_bytes = 16;

template <class Id>
std::string bytes_of(const Id& id) {
  const auto& bytes = id.uuid().bytes();
  return {bytes.begin(), bytes.end()};
}

template <class Id>
std::string csv_of(const std::vector<Id>& ids) {
  std::string csv;
  for (const auto& id : ids) csv += (csv.empty() ? "" : ",") + id.str();
  return csv;
}

// As lua/lib/flow_edges.lua has it.
char letter_of(DependsOn on) {
  switch (on) {
    case DependsOn::succeeded: return 's';
    case DependsOn::failed: return 'f';
    case DependsOn::finished: return 'a';
  }
  return 's';
}

DependsOn on_from(char letter) {
  if (letter == 'f') return DependsOn::failed;
  const bool is_finished = letter == 'a' || letter == 'c' || letter == 't';
  return is_finished ? DependsOn::finished : DependsOn::succeeded;
}

// ---- Nodes as arguments ---------------------------------------------------------------------------

std::string edges_of(const FlowNode& node, const FlowId& flow) {
  std::string edges;
  for (const auto& dependency : node.after) {
    edges += bytes_of(core::node_id(flow, 0, dependency.node));
    edges += letter_of(dependency.on);
  }
  return edges;
}

std::string inputs_of(const FlowNode& node) {
  std::string inputs;
  for (std::size_t i = 0; i < node.after.size(); ++i)
    if (const auto& name = node.after[i].input)
      inputs += fmt::format("{}{}={}", inputs.empty() ? "" : "\x1f", i, name->str());
  return inputs;
}

std::string map_of(const FlowNode& node) {
  if (!node.map) return {};
  return fmt::format("{}\x1f{}\x1f{}", node.map->input.str(),
                     node.map->max_parallel ? std::to_string(*node.map->max_parallel) : "",
                     node.map->tolerated_failures);
}

std::string flags_of(const FlowNode& node) {
  std::string flags;
  if (node.optional) flags += 'o';
  if (core::is_finalizer(node)) flags += 'f';
  if (node.rest == RestAction::cancel) flags += 'r';
  if (node.flow) flags += 'w';
  return flags;
}

struct NodeTerms {
  FlowId flow;
  Millis retention_default;
};

void add_tags(std::vector<std::string>& arguments, Tags& tags) {
  arguments.push_back(std::to_string(tags.size()));
  for (auto& [key, value] : tags) {
    arguments.push_back(key);
    arguments.push_back(std::move(value));
  }
}

// In the order of lua/lib/flow_nodes.lua. The function adds the budgets of the flow.
void add_node(std::vector<std::string>& arguments, core::NewNode& added, std::string payload,
              const NodeTerms& terms) {
  auto& node = added.node;
  auto& policy = node.policy;
  const auto retention = policy.retention.value_or(terms.retention_default);
  const auto budgets = csv_of(std::exchange(policy.budgets, {}));
  const bool usual_signals = policy.max_signals == Policy{}.max_signals;
  const auto payload_at = arguments.size() + 5;
  for (auto& text :
       {bytes_of(added.id), node.name.str(), node.lane.str(), node.kind.str(),
        std::to_string(node.priority), std::string(), text_or_none(node.delay_until),
        text_or_none(node.deadline),
        retention == limits::retention_default ? std::string() : text_of(retention),
        text_or_none(node.content_type), to_policy_json(policy), policy.required_capabilities.csv(),
        text_or_none(policy.attempt_timeout), text_or_none(policy.execution_deadline), budgets,
        text_or_none(policy.quota), usual_signals ? std::string() : std::to_string(policy.max_signals),
        node.needed ? std::to_string(*node.needed) : std::string(), flags_of(node),
        edges_of(node, terms.flow), inputs_of(node), map_of(node)})
    arguments.push_back(text);
  arguments[payload_at] = std::move(payload);
  add_tags(arguments, node.tags);
}

// ---- Reading replies ---------------------------------------------------------------------------------

// Programs of the contract write other words, and leave much out.
FlowState state_in(Fields& fields) {
  const auto word = fields.text("public_flow_state");
  if (word == "open") return FlowState::running;
  return fields.name_of<FlowState>("public_flow_state");
}

std::optional<CancelPolicy> cancel_policy_in(const Fields& fields, FlowState state) {
  if (state != FlowState::cancelled) return std::nullopt;
  return from_name<CancelPolicy>(fields.text("cancellation_policy"))
      .value_or(CancelPolicy::flow_only);
}

std::uint64_t digest_in(const std::string& bytes) {
  std::uint64_t digest = 0;
  for (const auto byte : bytes) digest = digest << 8 | static_cast<std::uint8_t>(byte);
  return digest;
}

std::optional<core::ParentNode> parent_in(Fields& fields) {
  const auto node = fields.optional_id<ExecutionId>("parent_node");
  if (!node) return std::nullopt;
  return core::ParentNode{.node = *node, .run = fields.number<std::uint32_t>("parent_run")};
}

NodeCounts counts_in(Fields& fields) {
  return {.nodes = fields.number<std::uint32_t>("node_count"),
          .completed = fields.number<std::uint32_t>("completed"),
          .failed = fields.number<std::uint32_t>("failed"),
          .cancelled = fields.number<std::uint32_t>("cancelled"),
          .expired = fields.number<std::uint32_t>("expired"),
          .skipped = fields.number<std::uint32_t>("skipped")};
}

Tags tags_in(std::vector<Reply> flat) {
  Tags tags;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    if (auto* key = flat[i].as_text(), *value = flat[i + 1].as_text(); key && value)
      tags[std::move(*key)] = std::move(*value);
  return tags;
}

core::Flow read_flow(Answer& answer) {
  auto fields = answer.list();
  auto tags = answer.list();
  auto flow = valkey_store::read_flow(std::move(fields), std::move(tags));
  answer.expect(flow.has_value());
  return flow ? std::move(*flow) : core::Flow{};
}

core::SliceReply read_slice(const ExecutionId& id, Answer& answer) {
  const auto next = answer.text();
  if (next.empty()) return {};
  const auto place = parse_number<std::uint32_t>(next);
  answer.expect(place.has_value());
  // The edge that was the last one of this slice, by its place in the list.
  return {.more = true, .next = core::EdgeId{id, place.value_or(1) - 1}};
}

std::string first_of(const std::optional<core::EdgeId>& after) {
  return std::to_string(after ? after->index + 1 : 0);
}

std::vector<DependencyInfo> read_dependencies(PartitionIndex partition, std::string_view records,
                                              const std::vector<Reply>& names,
                                              std::vector<Reply> inputs, std::size_t first) {
  constexpr std::size_t record_bytes = 22;
  std::vector<DependencyInfo> after;
  for (std::size_t i = 0; i < names.size() && records.size() >= record_bytes; ++i) {
    Uuid::Bytes bytes{};
    std::ranges::transform(records.substr(0, uuid_bytes), bytes.begin(),
                           [](char c) { return static_cast<std::uint8_t>(c); });
    after.push_back({.id = {partition, Uuid{bytes}},
                     .node = NodeName::parse(text_in(names[i])).value_or(NodeName{}),
                     .on = on_from(records[uuid_bytes])});
    records.remove_prefix(record_bytes);
  }
  for (auto& [index, name] : tags_in(std::move(inputs))) {
    const auto at = parse_number<std::size_t>(index);
    auto parsed = NodeName::parse(name);
    if (at && *at >= first && *at - first < after.size() && parsed)
      after[*at - first].input = std::move(*parsed);
  }
  return after;
}

}  // namespace

Result<core::Flow> read_flow(std::vector<Reply> flat, std::vector<Reply> tags) {
  Fields fields(std::move(flat), "a flow");
  core::Flow flow{
      .id = fields.id<FlowId>("flow_id"),
      .partition = fields.number<PartitionIndex>("partition"),
      .ns = Namespace::parse(fields.text("namespace")).value_or(default_namespace()),
      .kind = Kind::parse(fields.text("flow_kind")).value_or(default_flow_kind()),
      .tags = tags_in(std::move(tags)),
      .idempotency_key = fields.optional_id<IdempotencyKey>("idempotency_key"),
      .request_digest = digest_in(fields.text("digest")),
      .on_failure = fields.has("on_failure") ? FlowFailure::stop : FlowFailure::finish,
      .result = fields.optional_id<NodeName>("result"),
      .budgets = ids_in<BudgetId>(fields.text("budget_ids")),
      .created_at = fields.time("created_at"),
      .deadline = fields.optional_time("deadline"),
      .retention = fields.optional_millis("retention_ms").value_or(limits::retention_default),
      .counts = counts_in(fields),
      .failures = fields.number<std::uint32_t>("failures"),
      .edges = fields.number<std::uint32_t>("edge_count"),
      .revision = fields.number<std::uint32_t>("graph_revision"),
      .generation = fields.number<std::uint32_t>("generation"),
      .state = state_in(fields),
      .ended_at = fields.optional_time("ended_at"),
      .reason = fields.text(fields.has("reason") ? "reason" : "cancel_reason"),
      .pause_reason = fields.text("pause_reason"),
      .is_open = !fields.has("retention_ms"),
      .is_unsealed = fields.has("is_unsealed"),
      .is_stopping = fields.has("is_stopping"),
      .is_redriving = fields.has("is_redriving"),
      .is_removing = fields.has("is_removing"),
      .parent = parent_in(fields),
      .walk = fields.optional_number<std::uint32_t>("walk")};
  flow.cancel_policy = cancel_policy_in(fields, flow.state);
  if (fields.error()) return std::unexpected(*fields.error());
  return flow;
}

// ---- Function calls ----------------------------------------------------------------------------------

// Nothing can have the nodes of a minted flow yet, so that nothing is overwritten.
bool sends_payload_ahead(const core::CreateFlow& command, const core::NewNode& node) {
  constexpr std::size_t worth_it = 4'096;
  return command.minted && node.node.payload.size() >= worth_it;
}

FunctionCall call_for(core::CreateFlow& command) {
  auto& submit = command.submit;
  if (command.is_open) return {"ff_flow_open", {submit.ns.str(), submit.kind.str()}};
  std::vector<std::string> arguments{
      submit.ns.str(),
      submit.kind.str(),
      submit.dry_run ? ""
                     : std::string(to_string(submit.building ? FlowState::building
                                                             : FlowState::running)),
      raw_bytes(command.digest),
      std::string(to_string(submit.on_failure)),
      text_or_none(submit.result),
      text_or_none(submit.deadline),
      text_of(submit.retention.value_or(command.retention_default)),
      csv_of(submit.budgets),
      text_or_none(submit.idempotency_key),
      command.parent ? command.parent->node.str() : "",
      command.parent ? std::to_string(command.parent->run) : ""};
  add_tags(arguments, submit.tags);
  const NodeTerms terms{.flow = command.id, .retention_default = command.retention_default};
  for (auto& node : command.nodes) {
    const bool ahead = sends_payload_ahead(command, node);
    add_node(arguments, node, ahead ? "#" : "=" + std::move(node.node.payload), terms);
  }
  return {"ff_flow_create", std::move(arguments)};
}

FunctionCall call_for(core::AddNodes& command) {
  std::vector<std::string> arguments;
  const NodeTerms terms{.flow = command.id, .retention_default = command.retention_default};
  for (auto& node : command.nodes)
    add_node(arguments, node, "=" + std::move(node.node.payload), terms);
  return {"ff_flow_add_nodes", std::move(arguments)};
}

FunctionCall call_for(core::SubmitNode& command) {
  std::vector<std::string> arguments{command.ns.str()};
  const NodeTerms terms{.flow = command.id, .retention_default = command.retention_default};
  add_node(arguments, command.node, "=" + std::move(command.node.node.payload), terms);
  return {"ff_flow_submit_node", std::move(arguments)};
}

FunctionCall call_for(core::Grow& command) {
  auto arguments = std::visit(
      Overloaded{[](Complete& end) {
                   return with_fence(end.fence, std::string("complete"),
                                     std::string(end.result ? "1" : "0"),
                                     std::move(end.result).value_or(""),
                                     text_or_none(end.content_type));
                 },
                 [](WaitForChildren& end) {
                   return with_fence(end.fence, std::string("wait"), std::string("0"),
                                     std::string(), std::string());
                 }},
      command.end);
  const NodeTerms terms{.flow = command.flow, .retention_default = command.retention_default};
  for (auto& node : command.nodes)
    add_node(arguments, node, "=" + std::move(node.node.payload), terms);
  return {"ff_flow_grow", std::move(arguments)};
}

FunctionCall call_for(core::AddItems& command) {
  std::vector<std::string> arguments{std::to_string(command.run), std::to_string(command.first),
                                     command.is_last ? "1" : "0"};
  for (auto& item : command.items) {
    arguments.push_back(bytes_of(item.id));
    arguments.push_back(std::move(item.payload));
  }
  return {"ff_map_items", std::move(arguments)};
}

FunctionCall call_for(core::EndNode& command) {
  if (command.failure)
    return {"ff_node_end",
            {std::to_string(command.run), "failed", std::move(command.failure->reason),
             std::move(command.failure->category)}};
  return {"ff_node_end",
          {std::to_string(command.run), "completed", command.result ? "1" : "0",
           std::move(command.result).value_or(""), text_or_none(command.content_type)}};
}

FunctionCall call_for(SealFlow&) { return {"ff_flow_seal"}; }
FunctionCall call_for(PauseFlow& command) { return {"ff_flow_pause", {std::move(command.reason)}}; }
FunctionCall call_for(ResumeFlow&) { return {"ff_flow_resume"}; }

FunctionCall call_for(core::BeginCancel& command) {
  return {"ff_flow_cancel",
          {std::move(command.reason), std::string(to_string(command.policy))}};
}

FunctionCall call_for(core::BeginRedrive& command) {
  return {"ff_flow_redrive", {text_or_none(command.from), std::move(command.reason)}};
}

FunctionCall call_for(core::AdvanceFlow&) { return {"ff_flow_advance"}; }
FunctionCall call_for(core::ResolveEdges& command) {
  return {"ff_resolve_edges", {first_of(command.after)}};
}
FunctionCall call_for(core::CancelRest& command) {
  return {"ff_cancel_rest", {first_of(command.after), std::to_string(command.run)}};
}

FunctionCall call_for(core::CheckNode& command) {
  return {"ff_check_node", {std::to_string(command.from)}};
}
FunctionCall call_for(core::CheckFlow& command) {
  std::vector<std::string> arguments{std::to_string(command.from), std::to_string(command.version),
                                     std::to_string(command.tally.failures)};
  for (const auto& [state, count] : command.tally.states) {
    arguments.emplace_back(to_string(state));
    arguments.push_back(std::to_string(count));
  }
  return {"ff_flow_check", std::move(arguments)};
}
FunctionCall call_for(core::CancelOwedMembers&) { return {"ff_cancel_members"}; }
FunctionCall call_for(core::CancelSiblings& command) {
  return {"ff_cancel_siblings", {command.flow.str()}};
}
FunctionCall call_for(AddFlowMember& command) {
  return {"ff_flow_add_member", {command.execution.str()}};
}
FunctionCall call_for(StageEdge& command) {
  return {"ff_flow_stage_edge",
          {command.edge.str(), command.upstream.str(), command.downstream.str(),
           std::to_string(command.expected_revision)}};
}
FunctionCall call_for(ApplyEdge& command) {
  return {"ff_flow_apply_edge",
          {command.edge.str(), command.upstream.str(), command.downstream.str()}};
}

FunctionCall call_for(const core::ReadFlow&) { return {"ff_flow_get"}; }

FunctionCall call_for(const GetInputs& query) {
  return {"ff_flow_inputs",
          {text_or_none(query.name), std::to_string(query.from),
           std::to_string(limits::inputs_page_max), std::to_string(limits::inputs_page_bytes_max)}};
}

FunctionCall call_for_nodes(NodePlace from, std::uint32_t limit) {
  return {"ff_flow_nodes",
          {std::to_string(from.node), std::to_string(limit), std::to_string(from.edge)}};
}

// ---- Answers --------------------------------------------------------------------------------------

FlowReply read_answer(const core::CreateFlow& command, Answer& answer) {
  if (command.submit.dry_run && !answer.duplicate()) return {};
  return {.flow = core::info_of(read_flow(answer)), .duplicate = answer.duplicate()};
}
FlowInfo read_answer(const core::AddNodes&, Answer& answer) {
  return core::info_of(read_flow(answer));
}
SubmitReply read_answer(const core::SubmitNode& command, Answer& answer) {
  return {.id = command.node.id,
          .duplicate = answer.duplicate(),
          .state = answer.word<ExecutionState>()};
}
AddFlowMemberReply read_answer(const AddFlowMember& command, Answer& answer) {
  return {.execution = command.execution,
          .nodes = static_cast<std::uint32_t>(answer.number()),
          .duplicate = answer.duplicate()};
}
StageEdgeReply read_answer(const StageEdge& command, Answer& answer) {
  return {.edge = command.edge, .revision = static_cast<std::uint32_t>(answer.number())};
}
ApplyEdgeReply read_answer(const ApplyEdge&, Answer& answer) {
  return {.unsatisfied = static_cast<std::uint32_t>(answer.number()),
          .duplicate = answer.duplicate()};
}
EndReply read_answer(const core::Grow&, Answer& answer) {
  return {answer.word<ExecutionState>()};
}
Done read_answer(const core::AddItems&, Answer&) { return {}; }
Done read_answer(const core::EndNode&, Answer&) { return {}; }
FlowInfo read_answer(const SealFlow&, Answer& answer) { return core::info_of(read_flow(answer)); }
FlowInfo read_answer(const PauseFlow&, Answer& answer) { return core::info_of(read_flow(answer)); }
FlowInfo read_answer(const ResumeFlow&, Answer& answer) { return core::info_of(read_flow(answer)); }

CancelFlowReply read_answer(const core::BeginCancel& command, Answer& answer) {
  const auto flow = read_flow(answer);
  return {.flow = core::info_of(flow),
          .policy = flow.cancel_policy.value_or(command.policy),
          .scheduled = flow.walk ? flow.counts.open() : 0};
}

FlowInfo read_answer(const core::BeginRedrive&, Answer& answer) {
  return core::info_of(read_flow(answer));
}

core::SliceReply read_answer(const core::AdvanceFlow&, Answer& answer) {
  return {.more = answer.text() == "1"};
}
core::SliceReply read_answer(const core::ResolveEdges& command, Answer& answer) {
  return read_slice(command.id, answer);
}
core::SliceReply read_answer(const core::CancelRest& command, Answer& answer) {
  return read_slice(command.id, answer);
}

core::CheckReply read_answer(const core::CheckNode&, Answer& answer) {
  core::CheckReply reply{.repaired = static_cast<std::uint32_t>(answer.number())};
  reply.next = parse_number<std::uint32_t>(answer.text());
  return reply;
}
core::CheckFlowReply read_answer(const core::CheckFlow&, Answer& answer) {
  core::CheckFlowReply reply{.repaired = static_cast<std::uint32_t>(answer.number())};
  reply.next = parse_number<std::uint32_t>(answer.text());
  reply.version = static_cast<std::uint64_t>(answer.number());
  reply.tally.failures = static_cast<std::uint32_t>(answer.number());
  const auto states = answer.list();
  for (std::size_t i = 0; i + 1 < states.size(); i += 2) {
    const auto state = from_name<ExecutionState>(text_in(states[i]));
    const auto count = parse_number<std::uint32_t>(text_in(states[i + 1]));
    answer.expect(state && count);
    if (state && count) reply.tally.states[*state] = *count;
  }
  return reply;
}

namespace {

core::OwedReply read_owed(Answer& answer) {
  core::OwedReply reply{.cancelled = static_cast<std::uint32_t>(answer.number())};
  reply.more = answer.text() == "1";
  return reply;
}

}  // namespace

core::OwedReply read_answer(const core::CancelOwedMembers&, Answer& answer) {
  return read_owed(answer);
}
core::OwedReply read_answer(const core::CancelSiblings&, Answer& answer) {
  return read_owed(answer);
}

Result<FlowInfo> read_list(const core::ReadFlow&, std::vector<Reply> parts) {
  auto* fields = parts.size() == 2 ? parts[0].as_array() : nullptr;
  auto* tags = parts.size() == 2 ? parts[1].as_array() : nullptr;
  if (!fields || !tags) return malformed("ff_flow_get");
  auto flow = read_flow(std::move(*fields), std::move(*tags));
  FF_TRY(flow);
  return core::info_of(*flow);
}

// next, then name, node, state, content type and result of each
Result<NodeInputs> read_list(const GetInputs&, std::vector<Reply> parts) {
  constexpr std::size_t parts_of_input = 5;
  if (parts.empty() || parts.size() % parts_of_input != 1) return malformed("ff_flow_inputs");
  NodeInputs page{.inputs = {}, .next = parse_number<std::uint32_t>(text_in(parts[0]))};
  for (std::size_t i = 1; i < parts.size(); i += parts_of_input) {
    NodeInput input{.name = NodeName::parse(text_in(parts[i])).value_or(NodeName{}),
                    .node = NodeName::parse(text_in(parts[i + 1])).value_or(NodeName{}),
                    .state = from_name<ExecutionState>(text_in(parts[i + 2]))
                                 .value_or(ExecutionState::waiting)};
    if (auto type = ContentType::parse(text_in(parts[i + 3]))) input.content_type = *type;
    if (auto* result = parts[i + 4].as_text()) input.result = std::move(*result);
    page.inputs.push_back(std::move(input));
  }
  return page;
}

// A node, or a node, a dot and an edge.
std::optional<NodePlace> place_in(std::string_view text) {
  const auto dot = text.find('.');
  const auto node = parse_number<std::uint32_t>(text.substr(0, dot));
  if (!node || dot == std::string_view::npos) return node.transform([](auto n) { return NodePlace{n}; });
  return NodePlace{.node = *node,
                   .edge = parse_number<std::uint32_t>(text.substr(dot + 1)).value_or(0)};
}

// next, then id, core, newest attempt, edges, names of the nodes before and inputs of each
Result<NodeSlice> read_nodes(NodePlace from, std::vector<Reply> parts) {
  constexpr std::size_t parts_of_node = 6;
  if (parts.empty() || parts.size() % parts_of_node != 1) return malformed("ff_flow_nodes");
  NodeSlice slice{.nodes = {}, .next = place_in(text_in(parts[0]))};
  for (std::size_t i = 1; i < parts.size(); i += parts_of_node) {
    const auto id = ExecutionId::parse(text_in(parts[i]));
    auto* attempt = parts[i + 2].as_array();
    const auto* names = parts[i + 4].as_array();
    auto* inputs = parts[i + 5].as_array();
    if (!id || !attempt || !names || !inputs) return malformed("ff_flow_nodes");
    std::vector<Reply> attempts;
    if (!attempt->empty()) attempts.push_back(std::move(parts[i + 2]));
    std::vector<Reply> record_parts;
    record_parts.push_back(std::move(parts[i + 1]));
    record_parts.push_back(Reply{std::vector<Reply>{}});
    record_parts.push_back(Reply{std::string{}});
    record_parts.push_back(Reply{std::move(attempts)});
    auto record = read_record(*id, std::move(record_parts));
    FF_TRY(record);
    if (!record->execution.flow) return malformed("ff_flow_nodes");
    auto info = core::node_info(record->execution);
    info.after = read_dependencies(id->partition(), text_in(parts[i + 3]), *names,
                                   std::move(*inputs), i == 1 ? from.edge : 0);
    slice.nodes.push_back(std::move(info));
  }
  return slice;
}

RefusalContext flow_context(const ExecutionId& subject) {
  return {.id = subject, .flow = FlowId{subject.uuid()}};
}

RefusalContext flow_context(const ExecutionId& subject, const FlowId& flow, std::string_view list,
                            std::span<const core::NewNode> nodes) {
  RefusalContext context{.id = subject, .flow = flow, .list = list};
  for (const auto& [id, node] : nodes) {
    context.nodes.push_back(node.name);
    auto& names = context.dependencies.emplace_back();
    for (const auto& dependency : node.after) names.push_back(dependency.node);
  }
  return context;
}

}  // namespace ff::valkey_store
