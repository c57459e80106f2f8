// JSON fields of flows.
//
//   after  := [dependency…]      dependency := NODE | {"node": NODE, "on": ON, "input": NAME}
//   needed := N | "all" | "any"
#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// ---- The graph ----------------------------------------------------------------------------------

namespace {

// Follows the rule of node names, but messages are not to call it a node.
struct InputName {
  NodeName name;
};

}  // namespace

template <>
struct Codec<InputName> {
  static json::value write(const InputName& input) { return Codec<NodeName>::write(input.name); }
  static Result<InputName> read(const json::value& value, Source source) {
    auto name = Codec<NodeName>::read(value, source);
    if (name) return InputName{std::move(*name)};
    auto error = std::move(name).error();
    if (error.message.starts_with(node_rule.what))
      error.message.replace(0, node_rule.what.size(), "input");
    return std::unexpected(std::move(error));
  }
  static json::object schema(NamedSchemas& named) { return Codec<NodeName>::schema(named); }
};

void describe(Fields& fields, Dependency& dependency) {
  fields.required("node", dependency.node);
  fields.defaulted("on", dependency.on);
  std::optional<InputName> input;
  if (dependency.input) input = InputName{*dependency.input};
  fields.optional("input", input);
  if (input) dependency.input = std::move(input->name);
}

// A dependency without more than a node is the node's name.
template <>
struct Codec<Dependency> {
  static json::value write(const Dependency& dependency) {
    if (dependency == Dependency{.node = dependency.node})
      return json::value(dependency.node.str());
    return to_fields(dependency);
  }
  static Result<Dependency> read(const json::value& value, Source source) {
    if (const auto* object = value.if_object()) return from_fields<Dependency>({}, *object, source);
    if (!value.is_string()) return wrong_type("the name of a node or an object", value);
    auto node = Codec<NodeName>::read(value, source);
    FF_TRY(node);
    return Dependency{.node = std::move(*node)};
  }
  static json::object schema(NamedSchemas& named) {
    return {{"oneOf", json::array{Codec<NodeName>::schema(named), schema_of<Dependency>(named)}}};
  }
};

namespace {

constexpr std::string_view all_of_them = "all";
constexpr std::string_view any_of_them = "any";

struct Needed {
  std::optional<std::uint32_t> count;  // absent: all
};

}  // namespace

template <>
struct Codec<Needed> {
  static json::value write(const Needed& needed) {
    return needed.count ? json::value(*needed.count) : json::value(all_of_them);
  }
  static Result<Needed> read(const json::value& value, Source source) {
    const auto* word = value.if_string();
    if (word && *word == all_of_them) return Needed{};
    if (word && *word == any_of_them) return Needed{1};
    const auto count = Codec<std::uint32_t>::read(value, source);
    if (!count && value.is_number()) return std::unexpected(count.error());
    if (!count) return fail(Errc::invalid_input, "must be a whole number, all or any");
    return Needed{*count};
  }
  static json::object schema(NamedSchemas&) {
    return {{"oneOf", json::array{json::object{{"type", "integer"}, {"minimum", 1}},
                                  json::object{{"type", "string"},
                                               {"enum", json::array{all_of_them, any_of_them}}}}}};
  }
};

void describe_after(Fields& fields, std::vector<Dependency>& after) {
  fields.unless_usual("after", after, {});
}

namespace {

void describe_needed(Fields& fields, std::optional<std::uint32_t>& needed) {
  std::optional<Needed> given;
  if (needed) given = Needed{needed};
  fields.optional("needed", given);
  if (given) needed = given->count;
}

}  // namespace

void describe(Fields& fields, MapOver& map) {
  fields.required("over", map.input);
  fields.optional("max_parallel", map.max_parallel);
  fields.defaulted("tolerated_failures", map.tolerated_failures);
}

void describe(Fields& fields, Subflow& flow) {
  fields.required("nodes", flow.nodes);
  fields.defaulted("on_failure", flow.on_failure);
  fields.optional("result", flow.result);
}

void describe(Fields& fields, FlowNode& node) {
  fields.required("name", node.name);
  fields.defaulted("lane", node.lane);
  fields.optional("flow", node.flow);
  if (node.flow && node.kind.str().empty()) node.kind = default_flow_kind();
  if (node.flow)
    fields.defaulted("kind", node.kind);
  else
    fields.required("kind", node.kind);
  fields.defaulted("priority", node.priority);
  fields.typed_bytes("payload", node.payload, node.content_type);
  fields.time("delay_until_ms", "delay_ms", node.delay_until);
  fields.optional("deadline_ms", node.deadline);
  fields.defaulted("tags", node.tags);
  fields.defaulted("policy", node.policy);
  fields.defaulted("after", node.after);
  describe_needed(fields, node.needed);
  fields.defaulted("rest", node.rest);
  fields.defaulted("optional", node.optional);
  fields.optional("map", node.map);
}

// ---- Flows --------------------------------------------------------------------------------------

void describe(Fields& fields, NodeCounts& counts) {
  fields.required("nodes", counts.nodes);
  fields.required("completed", counts.completed);
  fields.required("failed", counts.failed);
  fields.required("cancelled", counts.cancelled);
  fields.required("expired", counts.expired);
  fields.required("skipped", counts.skipped);
}

void describe(Fields& fields, FlowInfo& flow) {
  fields.required("id", flow.id);
  fields.required("namespace", flow.ns);
  fields.required("kind", flow.kind);
  fields.required("state", flow.state);
  fields.required("counts", flow.counts);
  fields.required("edges", flow.edges);
  fields.required("revision", flow.revision);
  fields.required("generation", flow.generation);
  fields.required("on_failure", flow.on_failure);
  fields.required("tags", flow.tags);
  fields.optional("idempotency_key", flow.idempotency_key);
  fields.required("created_at_ms", flow.created_at);
  fields.optional("deadline_ms", flow.deadline);
  fields.optional("ended_at_ms", flow.ended_at);
  fields.defaulted("retention_ms", flow.retention);
  fields.defaulted("reason", flow.reason);
  fields.optional("result", flow.result);
  fields.optional("parent", flow.parent);
}

void describe(Fields& fields, FlowReply& reply) {
  describe(fields, reply.flow);
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, SubmitFlow& submit) {
  fields.optional("id", submit.id);
  fields.optional("idempotency_key", submit.idempotency_key);
  fields.defaulted("namespace", submit.ns);
  fields.defaulted("kind", submit.kind);
  fields.defaulted("nodes", submit.nodes);
  fields.defaulted("on_failure", submit.on_failure);
  fields.optional("result", submit.result);
  fields.optional("deadline_ms", submit.deadline);
  fields.defaulted("tags", submit.tags);
  fields.defaulted("budget_ids", submit.budgets);
  fields.optional("fairness_key", submit.fairness_key);
  fields.optional("fairness_weight", submit.fairness_weight);
  fields.optional("retention_ms", submit.retention);
  fields.defaulted("building", submit.building);
  fields.defaulted("dry_run", submit.dry_run);
}

void describe(Fields& fields, ExtendFlow& extend) {
  fields.required("id", extend.id);
  fields.required("nodes", extend.nodes);
}

namespace {

// True or absent: servers that do not know the field would refuse it.
struct Flag {
  bool is_set = false;
};

}  // namespace

template <>
struct Codec<Flag> {
  static json::value write(Flag flag) { return flag.is_set; }
  static Result<Flag> read(const json::value& value, Source source) {
    const auto is_set = Codec<bool>::read(value, source);
    FF_TRY(is_set);
    return Flag{*is_set};
  }
  static json::object schema(NamedSchemas& named) { return Codec<bool>::schema(named); }
};

void describe(Fields& fields, GetFlow& get) {
  fields.required("id", get.id);
  fields.defaulted("wait_ms", get.wait);
  std::optional<Flag> graph;
  if (get.graph) graph = Flag{true};
  fields.optional("graph", graph);
  if (graph) get.graph = graph->is_set;
}

void describe(Fields& fields, FlowView& view) {
  describe(fields, static_cast<FlowInfo&>(view));
  fields.optional("nodes", view.nodes);
  fields.optional("next", view.next);
}

void describe(Fields& fields, ListFlows& list) {
  fields.defaulted("namespace", list.ns);
  fields.optional("state", list.state);
  fields.optional("kind", list.kind);
  fields.optional("tag", list.tag);
  fields.defaulted("limit", list.limit);
  fields.optional("cursor", list.cursor);
}

void describe(Fields& fields, FlowList& reply) {
  fields.required("flows", reply.flows);
  fields.optional("next", reply.next);
}

// ---- Nodes and their inputs ---------------------------------------------------------------------

// Members that were added by their execution ids alone have no names.
void describe(Fields& fields, DependencyInfo& dependency) {
  fields.required("id", dependency.id);
  fields.unless_usual("node", dependency.node, {});
  fields.required("on", dependency.on);
  fields.optional("input", dependency.input);
}

void describe(Fields& fields, FlowNodeInfo& node) {
  fields.required("id", node.id);
  fields.unless_usual("name", node.name, {});
  fields.required("kind", node.kind);
  fields.required("lane", node.lane);
  fields.required("state", node.state);
  fields.required("after", node.after);
  describe_needed(fields, node.needed);
  fields.required("optional", node.optional);
  fields.optional("map", node.map);
  fields.optional("subflow", node.subflow);
  fields.required("attempts", node.attempts);
  fields.optional("started_at_ms", node.started_at);
  fields.optional("ended_at_ms", node.ended_at);
  fields.optional("worker", node.worker);
  fields.defaulted("reason", node.reason);
}

void describe(Fields& fields, ListFlowNodes& list) {
  fields.required("id", list.id);
  fields.defaulted("from", list.from);
  fields.defaulted("limit", list.limit);
}

void describe(Fields& fields, FlowNodes& reply) {
  fields.required("nodes", reply.nodes);
  fields.optional("next", reply.next);
}

void describe(Fields& fields, GetInputs& get) {
  fields.required("id", get.id);
  fields.optional("name", get.name);
  fields.defaulted("from", get.from);
}

void describe(Fields& fields, NodeInput& input) {
  fields.unless_usual("name", input.name, {});
  fields.unless_usual("node", input.node, {});
  fields.required("state", input.state);
  std::optional<std::string> result;
  if (input.state == ExecutionState::completed) result = std::move(input.result);
  fields.bytes("result", result);
  input.result = std::move(result).value_or("");
  fields.optional("content_type", input.content_type);
}

void describe(Fields& fields, NodeInputs& reply) {
  fields.required("inputs", reply.inputs);
  fields.optional("next", reply.next);
}

// ---- Operators ----------------------------------------------------------------------------------

void describe(Fields& fields, CancelFlow& cancel) {
  fields.required("id", cancel.id);
  fields.defaulted("reason", cancel.reason);
  fields.defaulted("policy", cancel.policy);
  fields.defaulted("wait_ms", cancel.wait);
}

void describe(Fields& fields, CancelFlowReply& reply) {
  describe(fields, reply.flow);
  fields.required("policy", reply.policy);
  fields.required("scheduled", reply.scheduled);
}

void describe(Fields& fields, PauseFlow& pause) {
  fields.required("id", pause.id);
  fields.defaulted("reason", pause.reason);
}

void describe(Fields& fields, RedriveFlow& redrive) {
  fields.required("id", redrive.id);
  fields.optional("from", redrive.from);
  fields.defaulted("reason", redrive.reason);
  fields.defaulted("dry_run", redrive.dry_run);
}

void describe(Fields& fields, RedriveReply& reply) {
  describe(fields, reply.flow);
  fields.required("nodes", reply.nodes);
  fields.required("count", reply.count);
}

}  // namespace ff::http
