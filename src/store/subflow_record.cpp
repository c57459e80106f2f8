#include "store/subflow_record.hpp"

#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::store {
namespace {

using Reader = embedded::RecordReader;

std::int64_t graph_ms(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint graph_time(std::int64_t ms) { return TimePoint{Millis{ms}}; }

void write_graph(const Subflow& flow, proto::Subflow& out);

void write_node(const FlowNode& node, proto::Subflow::Node& out) {
  out.set_name(node.name.str());
  out.set_lane(node.lane.str());
  out.set_kind(node.kind.str());
  out.set_priority(node.priority);
  out.set_payload(node.payload);
  if (node.content_type) out.set_content_type(node.content_type->str());
  if (node.delay_until) out.set_delay_until_ms(graph_ms(*node.delay_until));
  if (node.deadline) out.set_deadline_ms(graph_ms(*node.deadline));
  for (const auto& [key, value] : node.tags) {
    auto& tag = *out.add_tags();
    tag.set_key(key);
    tag.set_value(value);
  }
  if (node.policy != Policy{}) embedded::write(node.policy, *out.mutable_policy());
  for (const auto& dependency : node.after) {
    auto& each = *out.add_after();
    each.set_node(dependency.node.str());
    each.set_on(std::to_underlying(dependency.on));
    if (dependency.input) each.set_input(dependency.input->str());
  }
  if (node.needed) out.set_needed(*node.needed);
  out.set_rest(std::to_underlying(node.rest));
  out.set_is_optional(node.optional);
  if (node.map) {
    auto& map = *out.mutable_map();
    map.set_input(node.map->input.str());
    if (node.map->max_parallel) map.set_max_parallel(*node.map->max_parallel);
    map.set_tolerated_failures(node.map->tolerated_failures);
  }
  if (node.flow) write_graph(*node.flow, *out.mutable_flow());
}

void write_graph(const Subflow& flow, proto::Subflow& out) {
  for (const auto& node : flow.nodes) write_node(node, *out.add_nodes());
  out.set_on_failure(std::to_underlying(flow.on_failure));
  if (flow.result) out.set_result(flow.result->str());
}

Subflow read_graph(Reader& read, const proto::Subflow& stored);

FlowNode read_node(Reader& read, const proto::Subflow::Node& stored) {
  FlowNode node{.name = read.text<NodeName>(stored.name()),
                .lane = read.text<LaneId>(stored.lane()),
                .kind = read.text<Kind>(stored.kind()),
                .priority = stored.priority(),
                .payload = stored.payload(),
                .rest = read.named<RestAction>(stored.rest()),
                .optional = stored.is_optional()};
  if (stored.has_content_type()) node.content_type = read.text<ContentType>(stored.content_type());
  if (stored.has_delay_until_ms()) node.delay_until = graph_time(stored.delay_until_ms());
  if (stored.has_deadline_ms()) node.deadline = graph_time(stored.deadline_ms());
  for (const auto& tag : stored.tags()) node.tags.emplace(tag.key(), tag.value());
  if (stored.has_policy()) node.policy = read.policy(stored.policy());
  for (const auto& each : stored.after()) {
    auto& dependency = node.after.emplace_back();
    dependency.node = read.text<NodeName>(each.node());
    dependency.on = read.named<DependsOn>(each.on());
    if (each.has_input()) dependency.input = read.text<NodeName>(each.input());
  }
  if (stored.has_needed()) node.needed = stored.needed();
  if (stored.has_map()) {
    node.map = MapOver{.input = read.text<NodeName>(stored.map().input()),
                       .tolerated_failures = stored.map().tolerated_failures()};
    if (stored.map().has_max_parallel()) node.map->max_parallel = stored.map().max_parallel();
  }
  if (stored.has_flow()) node.flow = read_graph(read, stored.flow());
  return node;
}

Subflow read_graph(Reader& read, const proto::Subflow& stored) {
  Subflow flow{.nodes = {}, .on_failure = read.named<FlowFailure>(stored.on_failure())};
  for (const auto& node : stored.nodes()) flow.nodes.push_back(read_node(read, node));
  if (stored.has_result()) flow.result = read.text<NodeName>(stored.result());
  return flow;
}

}  // namespace

std::string encode(const Subflow& flow) {
  proto::Subflow out;
  write_graph(flow, out);
  return out.SerializeAsString();
}

Result<Subflow> decode_subflow(std::string_view bytes) {
  proto::Subflow stored;
  Reader read;
  const bool is_parsed = embedded::parse(stored, bytes);
  auto flow = read_graph(read, stored);
  if (!is_parsed || !read.ok())
    return fail(Errc::store_damaged,
                "the graph of a node that is a flow is damaged; restore the data from a backup");
  return flow;
}

}  // namespace ff::store
