#include <flowfabric/flow.hpp>

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

// Says which node is wrong.
std::unexpected<Error> in_node(std::string_view name, Error error) {
  error.message = fmt::format("node '{}': {}", printable(name), error.message);
  return std::unexpected(std::move(error));
}

template <class Id>
Result<void> parse_into(const std::string& text, Id& field) {
  auto parsed = Id::parse(text);
  FF_TRY(parsed);
  field = std::move(*parsed);
  return {};
}

// Absent if there is no text.
template <class Id>
Result<void> parse_into(const std::string& text, std::optional<Id>& field) {
  if (text.empty()) return {};
  return parse_into(text, field.emplace());
}

}  // namespace

// ---- Nodes --------------------------------------------------------------------------------------

Flow::Node& Flow::Node::payload(std::string bytes, std::string content_type) {
  rest_.payload = std::move(bytes);
  content_type_ = std::move(content_type);
  return *this;
}
Flow::Node& Flow::Node::lane(std::string lane) {
  lane_ = std::move(lane);
  return *this;
}
Flow::Node& Flow::Node::priority(std::int32_t priority) {
  rest_.priority = priority;
  return *this;
}
Flow::Node& Flow::Node::delay_until(TimePoint time) {
  rest_.delay_until = time;
  return *this;
}
Flow::Node& Flow::Node::deadline(TimePoint time) {
  rest_.deadline = time;
  return *this;
}
Flow::Node& Flow::Node::tag(std::string key, std::string value) {
  rest_.tags[std::move(key)] = std::move(value);
  return *this;
}
Flow::Node& Flow::Node::policy(Policy policy) {
  rest_.policy = std::move(policy);
  return *this;
}

Flow::Node& Flow::Node::depend(std::vector<std::string> nodes, DependsOn on,
                               const std::string& input) {
  for (auto& node : nodes) edges_.push_back({std::move(node), on, input});
  return *this;
}
Flow::Node& Flow::Node::after(std::vector<std::string> nodes, std::string input) {
  return depend(std::move(nodes), DependsOn::succeeded, input);
}
Flow::Node& Flow::Node::after_any(std::vector<std::string> nodes, std::string input) {
  return depend(std::move(nodes), DependsOn::succeeded, input).needed(1);
}
Flow::Node& Flow::Node::always_after(std::vector<std::string> nodes, std::string input) {
  return depend(std::move(nodes), DependsOn::finished, input);
}

Flow::Node& Flow::Node::needed(std::uint32_t count) {
  rest_.needed = count;
  return *this;
}
Flow::Node& Flow::Node::cancel_rest() {
  rest_.rest = RestAction::cancel;
  return *this;
}
Flow::Node& Flow::Node::optional() {
  rest_.optional = true;
  return *this;
}

Flow::Node& Flow::Node::map(std::string node, MapOptions options) {
  map_over_ = node;
  rest_.map = MapOver{.input = {},
                      .max_parallel = options.max_parallel,
                      .tolerated_failures = options.tolerated_failures};
  return after(std::move(node));
}

Result<void> Flow::Node::add_subflow(FlowNode& node) const {
  auto flow = subflow_->to_operation();
  FF_TRY(flow);
  const bool is_only_graph = !flow->id && !flow->idempotency_key && !flow->deadline &&
                             !flow->retention && flow->tags.empty() && flow->budgets.empty() &&
                             !flow->fairness_key &&
                             flow->ns == default_namespace();
  if (!is_only_graph)
    return fail_field(Errc::invalid_input, "flow",
                      "a flow as a node has a kind, nodes, a result and a failure rule; give "
                      "everything else to the node or to the outer flow");
  node.kind = std::move(flow->kind);
  node.flow = Subflow{.nodes = std::move(flow->nodes),
                      .on_failure = flow->on_failure,
                      .result = std::move(flow->result)};
  return {};
}

Result<FlowNode> Flow::Node::to_node() const {
  auto node = rest_;
  if (subflow_)
    if (auto added = add_subflow(node); !added) return in_node(name_, std::move(added.error()));
  if (node.map) {
    auto over = parse_into(map_over_, node.map->input);
    if (!over) return in_node(name_, std::move(over.error()));
  }
  for (auto parsed : {parse_into(name_, node.name), parse_into(kind_, node.kind),
                      parse_into(lane_, node.lane), parse_into(content_type_, node.content_type)})
    if (!parsed) return in_node(name_, std::move(parsed.error()));
  for (const auto& edge : edges_) {
    auto& dependency = node.after.emplace_back();
    dependency.on = edge.on;
    for (auto parsed :
         {parse_into(edge.node, dependency.node), parse_into(edge.input, dependency.input)})
      if (!parsed) return in_node(name_, std::move(parsed.error()));
  }
  return node;
}

// ---- The flow -----------------------------------------------------------------------------------

Flow::Node& Flow::add(std::string name, std::string kind, std::string payload) {
  nodes_.push_back(Node(std::move(name), std::move(kind)));
  nodes_.back().rest_.payload = std::move(payload);
  return nodes_.back();
}

Flow::Node& Flow::add(std::string name, const Flow& subflow) {
  auto& node = add(std::move(name), subflow.kind_);
  node.subflow_ = std::make_shared<const Flow>(subflow);
  return node;
}

Flow& Flow::ns(std::string ns) {
  ns_ = std::move(ns);
  return *this;
}
Flow& Flow::id(FlowId id) {
  rest_.id = id;
  return *this;
}
Flow& Flow::idempotency_key(std::string key) {
  key_ = std::move(key);
  return *this;
}
Flow& Flow::result(std::string node) {
  result_ = std::move(node);
  return *this;
}
Flow& Flow::stop_on_failure() {
  rest_.on_failure = FlowFailure::stop;
  return *this;
}
Flow& Flow::deadline(TimePoint time) {
  rest_.deadline = time;
  return *this;
}
Flow& Flow::tag(std::string key, std::string value) {
  rest_.tags[std::move(key)] = std::move(value);
  return *this;
}
Flow& Flow::budget(BudgetId id) {
  rest_.budgets.push_back(id);
  return *this;
}
Flow& Flow::fairness(FairnessKey key, std::uint32_t weight) {
  rest_.fairness_key = std::move(key);
  rest_.fairness_weight = weight;
  return *this;
}
Flow& Flow::retention(Millis time) {
  rest_.retention = time;
  return *this;
}

Result<std::vector<FlowNode>> Flow::nodes() const {
  std::vector<FlowNode> made;
  for (const auto& each : nodes_) {
    auto node = each.to_node();
    FF_TRY(node);
    made.push_back(std::move(*node));
  }
  return made;
}

Result<SubmitFlow> Flow::to_operation() const {
  auto submit = rest_;
  for (auto parsed : {parse_into(kind_, submit.kind), parse_into(ns_, submit.ns),
                      parse_into(key_, submit.idempotency_key), parse_into(result_, submit.result)})
    FF_TRY(parsed);
  if (nodes_.empty())
    return fail_field(Errc::invalid_input, "nodes", "a flow has at least one node");
  std::unordered_set<std::string_view> names;
  for (const auto& node : nodes_)
    if (!names.insert(node.name_).second)
      return fail_field(Errc::invalid_input, "name",
                        fmt::format("two nodes are called '{}'", printable(node.name_)));
  if (!result_.empty() && !names.contains(result_))
    return fail_field(Errc::node_not_found, "result",
                      fmt::format("the result is that of node '{}', and the flow has no such node",
                                  printable(result_)));
  for (const auto& node : nodes_)
    for (const auto& edge : node.edges_)
      if (!names.contains(edge.node))
        return fail_field(
            Errc::node_not_found, "after",
            fmt::format("node '{}' depends on node '{}', and the flow has no such node",
                        printable(node.name_), printable(edge.node)));
  auto made = nodes();
  FF_TRY(made);
  submit.nodes = std::move(*made);
  return submit;
}

}  // namespace ff
