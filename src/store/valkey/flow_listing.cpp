#include "store/valkey/flow_listing.hpp"

#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/flow_calls.hpp"
#include "store/valkey/newest.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::uint32_t nodes_at_once = 100;  // so that no call holds Valkey long

bool matches(const core::Flow& flow, const ListFlows& query) {
  if (query.tag) {
    const auto equals = query.tag->find('=');
    const auto tag = flow.tags.find(query.tag->substr(0, equals));
    if (tag == flow.tags.end() || tag->second != query.tag->substr(equals + 1)) return false;
  }
  return (!query.state || flow.state == *query.state) && (!query.kind || flow.kind == *query.kind) &&
         !flow.is_removing;
}

Request read_request(const Functions& functions, const ExecutionId& subject, FunctionCall function) {
  const auto& place = functions.place_of(subject);
  return functions.at({.place = place, .key = keys::flow(place.tag, FlowId{subject.uuid()})},
                      std::move(function), Functions::Access::reads);
}

// Those that are still there, in order.
Async<std::vector<core::Flow>> read_flows(Functions& functions, const std::vector<Moment>& moments) {
  std::vector<Request> requests;
  for (const auto& moment : moments)
    requests.push_back(read_request(functions, moment.id, {"ff_flow_get"}));
  auto replies = co_await functions.call_all(std::move(requests));
  std::vector<core::Flow> flows;
  for (auto& reply : replies) {
    auto list = list_of(std::move(reply));
    FF_CO_TRY(list);
    if (is_refusal(*list)) continue;  // removed meanwhile
    auto parts = without(std::move(*list), 2);
    auto* fields = parts.size() == 2 ? parts[0].as_array() : nullptr;
    auto* tags = parts.size() == 2 ? parts[1].as_array() : nullptr;
    if (!fields || !tags) co_return malformed("ff_flow_get");
    auto flow = read_flow(std::move(*fields), std::move(*tags));
    FF_CO_TRY(flow);
    flows.push_back(std::move(*flow));
  }
  co_return flows;
}

// Takes what is left of the last node from the first one of the slice, and all others.
void append(std::vector<FlowNodeInfo>& nodes, std::vector<FlowNodeInfo> slice, bool goes_on) {
  auto added = slice.begin();
  if (goes_on && added != slice.end() && !nodes.empty() && added->id == nodes.back().id) {
    std::ranges::move(added->after, std::back_inserter(nodes.back().after));
    ++added;
  }
  std::move(added, slice.end(), std::back_inserter(nodes));
}

}  // namespace

Async<FlowList> list_flows(Functions& functions, ListFlows query) {
  FlowList page;
  NewestFirst order{.function = "ff_flow_list", .ns = query.ns, .limit = query.limit};
  order.cursor = query.cursor;
  auto next = co_await visit_newest(
      functions, std::move(order),
      [&](const std::vector<Moment>& moments) -> Async<std::size_t> {
        const auto flows = co_await read_flows(functions, moments);
        FF_CO_TRY(flows);
        for (const auto& flow : *flows)
          if (matches(flow, query)) page.flows.push_back(core::info_of(flow));
        co_return page.flows.size();
      });
  FF_CO_TRY(next);
  page.next = std::move(*next);
  co_return page;
}

Async<FlowNodes> list_flow_nodes(Functions& functions, ListFlowNodes query) {
  const ExecutionId subject{core::partition_of(query.id.uuid(), functions.partition_count()),
                            query.id.uuid()};
  FlowNodes page;
  std::optional<NodePlace> next = NodePlace{.node = query.from};
  while (next && (page.nodes.size() < query.limit || next->edge > 0)) {
    const auto left = query.limit - static_cast<std::uint32_t>(page.nodes.size());
    const std::uint32_t begun = next->edge > 0 ? 1 : 0;
    std::vector<Request> requests;
    requests.push_back(read_request(functions, subject,
                                    call_for_nodes(*next, std::min(nodes_at_once, left + begun))));
    auto replies = co_await functions.call_all(std::move(requests));
    auto list = list_of(std::move(replies.front()));
    FF_CO_TRY(list);
    if (is_refusal(*list)) co_return refused(flow_context(subject), *list);
    auto slice = read_nodes(*next, without(std::move(*list), 2));
    FF_CO_TRY(slice);
    append(page.nodes, std::move(slice->nodes), begun > 0);
    next = slice->next;
  }
  if (next) page.next = next->node;
  co_return page;
}

}  // namespace ff::valkey_store
