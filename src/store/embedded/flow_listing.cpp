#include "store/embedded/flow_listing.hpp"

#include <map>

#include "base/try.hpp"
#include "core/execution/needs.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/flow_records.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/records.hpp"
#include "store/embedded/listing.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

constexpr std::size_t flows_looked_at_max = 10'000;  // of one page, whether they match or not

bool matches(const core::Flow& flow, const ListFlows& query) {
  if (query.state && flow.state != *query.state) return false;
  if (query.kind && flow.kind != *query.kind) return false;
  if (!query.tag) return true;
  const auto equals = query.tag->find('=');
  const auto tag = flow.tags.find(query.tag->substr(0, equals));
  return tag != flow.tags.end() && tag->second == query.tag->substr(equals + 1);
}

Result<core::Execution> load_node(const Database& database, const ExecutionId& id) {
  auto execution = load_execution(database, id);
  FF_TRY(execution);
  if (!*execution || !(*execution)->flow) return core::refusals::not_found(id);
  return std::move(**execution);
}

// From an index on.
Result<std::vector<core::Edge>> edges_into(const Database& database, const ExecutionId& id,
                                           std::uint32_t from = 0,
                                           std::size_t max = limits::flow_edges_max) {
  std::vector<core::Edge> edges;
  Range range{.prefix = keys::belonging(id, core::Belonging::edge_in)};
  if (from > 0) range.after = keys::edge_in({id, from - 1});
  const auto visited = database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        auto edge = decode_edge({id, keys::index_in(key)}, value);
        FF_TRY(edge);
        edges.push_back(std::move(*edge));
        return edges.size() < max ? Next::go_on : Next::stop;
      });
  FF_TRY(visited);
  return edges;
}

}  // namespace

Result<FlowList> list_flows(const Database& database, const ListFlows& query) {
  Range range{.prefix = keys::flows_by_time_of(query.ns), .order = Order::backward};
  if (query.cursor) {
    auto place = from_cursor(*query.cursor);
    FF_TRY(place);
    range.after = range.prefix + *place;
  }
  FlowList page;
  std::size_t looked_at = 0;
  const auto visited = database.for_each(
      range, [&](std::string_view key, std::string_view) -> Result<Next> {
        const auto moment = keys::parse_moment(key);
        FF_TRY(moment);
        const auto bytes = database.get(keys::flow(moment->id));
        FF_TRY(bytes);
        if (*bytes) {
          const auto flow = decode_flow(moment->id, **bytes);
          FF_TRY(flow);
          if (!flow->is_removing && matches(*flow, query))
            page.flows.push_back(core::info_of(*flow));
        }
        if (page.flows.size() < query.limit && ++looked_at < flows_looked_at_max)
          return Next::go_on;
        page.next = list_cursor(moment->at, moment->id);
        return Next::stop;
      });
  FF_TRY(visited);
  return page;
}

Result<FlowNodes> list_nodes(const Database& database, const ExecutionId& subject,
                             const ListFlowNodes& query) {
  const auto stored = database.get(keys::flow(subject));
  FF_TRY(stored);
  if (!*stored) return core::refusals::not_found(query.id);
  const auto flow = decode_flow(subject, **stored);
  FF_TRY(flow);
  if (flow->is_removing) return core::refusals::not_found(query.id);
  FlowNodes page;
  Range range{.prefix = keys::members_of(subject)};
  if (query.from > 0) range.after = keys::member(subject, query.from - 1);
  std::map<ExecutionId, NodeName> names;  // of nodes before them
  const auto name_of = [&](const ExecutionId& id) -> Result<NodeName> {
    if (const auto known = names.find(id); known != names.end()) return known->second;
    const auto node = load_node(database, id);
    FF_TRY(node);
    return names.emplace(id, node->flow->node).first->second;
  };
  const auto visited = database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        if (page.nodes.size() == query.limit) {
          page.next = keys::index_in(key);
          return Next::stop;
        }
        const auto id = decode_member(subject.partition(), value);
        FF_TRY(id);
        const auto node = load_node(database, *id);
        FF_TRY(node);
        names.emplace(*id, node->flow->node);
        auto info = core::node_info(*node);
        const auto edges = edges_into(database, *id);
        FF_TRY(edges);
        for (const auto& edge : *edges) {
          if (edge.role == core::EdgeRole::staged) continue;
          const auto name = name_of(edge.upstream);
          FF_TRY(name);
          info.after.push_back(
              {.id = edge.upstream, .node = *name, .on = edge.on, .input = edge.input});
        }
        page.nodes.push_back(std::move(info));
        return Next::go_on;
      });
  FF_TRY(visited);
  return page;
}

Result<store::BlockedPage> find_waiting_nodes(const Database& database,
                                              const store::FindBlocked& query) {
  store::BlockedPage page;
  std::size_t looked_at = 0;
  const Range range{.prefix = std::string(keys::live_prefix), .after = query.after};
  const auto visited = database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        const auto id = keys::execution_id(key);
        FF_TRY(id);
        const auto execution = decode(*id, value);
        FF_TRY(execution);
        if (execution->flow && std::holds_alternative<core::WaitingChildren>(execution->state))
          page.executions.push_back({.id = *id,
                                     .ns = execution->ns,
                                     .lane = execution->lane,
                                     .needs = core::needs_of(execution->policy)});
        if (++looked_at < query.max) return Next::go_on;
        page.next = key;
        return Next::stop;
      });
  FF_TRY(visited);
  return page;
}

Result<store::FlowPage> find_open_flows(const Database& database,
                                        const store::FindOpenFlows& query) {
  store::FlowPage page;
  std::size_t looked_at = 0;
  const Range range{.prefix = std::string(keys::flow_prefix), .after = query.after};
  const auto visited = database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        const auto subject = keys::execution_id(key);
        FF_TRY(subject);
        const auto flow = decode_flow(*subject, value);
        FF_TRY(flow);
        if (!flow->ended_at || flow->walk) page.flows.push_back(flow->id);
        if (++looked_at < query.max) return Next::go_on;
        page.next = key;
        return Next::stop;
      });
  FF_TRY(visited);
  return page;
}

Result<NodeInputs> read_inputs(const Database& database, const GetInputs& query) {
  const auto reader = load_execution(database, query.id);
  FF_TRY(reader);
  if (!*reader) return core::refusals::not_found(query.id);
  NodeInputs page;
  // One more than a page looks at tells whether there is another page.
  const auto edges = edges_into(database, query.id, query.from, limits::inputs_page_max + 1);
  FF_TRY(edges);
  std::size_t bytes = 0;
  for (const auto& edge : *edges) {
    if (edge.role == core::EdgeRole::turn || edge.role == core::EdgeRole::staged) continue;
    const auto looked_at = edge.id.index - query.from;
    if (looked_at == limits::inputs_page_max || bytes >= limits::inputs_page_bytes_max) {
      page.next = edge.id.index;
      break;
    }
    const auto node = load_node(database, edge.upstream);
    FF_TRY(node);
    const auto name = edge.input.value_or(node->flow->node);
    if (query.name && name != *query.name) continue;
    NodeInput input{
        .name = name, .node = node->flow->node, .state = core::public_state(*node)};
    if (input.state == ExecutionState::completed) {
      auto result = database.get(keys::result(edge.upstream));
      FF_TRY(result);
      input.result = std::move(*result).value_or("");
      const auto& ended = std::get<core::Ended>(node->state);
      input.content_type = std::get<core::Completed>(ended.outcome).content_type;
    }
    bytes += input.result.size();
    page.inputs.push_back(std::move(input));
  }
  return page;
}

}  // namespace ff::embedded
