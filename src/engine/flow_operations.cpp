// An engine's operations on flows: ids, waiting and walks over graphs around the store's part.
#include <deque>
#include <map>
#include <set>

#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/text/digest.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/growth.hpp"
#include "core/flows/draft.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"
#include "engine/local_engine.hpp"
#include "engine/subflows.hpp"
#include "store/subflow_record.hpp"

namespace ff {
namespace {

using FlowClock = std::chrono::steady_clock;

void add(Digest& digest, const FlowNode& node) {
  auto submit = core::submit_of(node);
  submit.payload = node.payload;
  digest.add(node.name.str()).add(static_cast<std::int64_t>(core::request_digest(submit)));
  digest.add(std::ssize(node.after));
  for (const auto& dependency : node.after)
    digest.add(dependency.node.str())
        .add(std::to_underlying(dependency.on))
        .add(dependency.input ? dependency.input->str() : "");
  digest.add(node.needed ? *node.needed : -1).add(std::to_underlying(node.rest)).add(node.optional);
  if (node.flow) digest.add("flow");  // the payload is its graph
  if (!node.map) return;
  digest.add(node.map->input.str())
      .add(node.map->max_parallel ? *node.map->max_parallel : -1)
      .add(node.map->tolerated_failures);
}

// Of everything that a repeated submit must have in common with the first.
std::uint64_t digest_of(const SubmitFlow& submit) {
  Digest digest;
  digest.add(submit.ns.str()).add(submit.kind.str()).add(std::to_underlying(submit.on_failure));
  digest.add(submit.result ? submit.result->str() : "");
  digest.add(submit.deadline ? submit.deadline->time_since_epoch().count() : -1);
  digest.add(submit.retention ? submit.retention->count() : -1);
  digest.add(submit.building);
  digest.add(std::ssize(submit.tags));
  for (const auto& [key, value] : submit.tags) digest.add(key).add(value);
  digest.add(std::ssize(submit.budgets));
  for (const auto& budget : submit.budgets) digest.add(budget.str());
  for (const auto& node : submit.nodes) add(digest, node);
  return digest.value();
}

bool has_failed(ExecutionState state) {
  return state == ExecutionState::failed || state == ExecutionState::expired ||
         state == ExecutionState::cancelled;
}

// Nodes that were cancelled because another one started without them.
std::set<ExecutionId> rest_of_races(const std::vector<FlowNodeInfo>& nodes) {
  std::map<ExecutionId, const FlowNodeInfo*> by_id;
  for (const auto& node : nodes) by_id.emplace(node.id, &node);
  std::set<ExecutionId> found;
  for (const auto& node : nodes)
    for (const auto& dependency : node.after) {
      const auto before = by_id.find(dependency.id);
      if (before == by_id.end() || before->second->state != ExecutionState::cancelled) continue;
      if (before->second->reason == core::reason_of_rest(node.name.str()))
        found.insert(dependency.id);
    }
  return found;
}

// The nodes that run again if those in `from` do, in the order of submission.
std::vector<NodeName> with_dependents(const std::vector<FlowNodeInfo>& nodes,
                                      std::deque<ExecutionId> from) {
  std::multimap<ExecutionId, ExecutionId> dependents;
  for (const auto& node : nodes)
    for (const auto& dependency : node.after) dependents.emplace(dependency.id, node.id);
  std::set<ExecutionId> found(from.begin(), from.end());
  for (; !from.empty(); from.pop_front()) {
    const auto [first, last] = dependents.equal_range(from.front());
    for (auto each = first; each != last; ++each)
      if (found.insert(each->second).second) from.push_back(each->second);
  }
  std::vector<NodeName> names;
  for (const auto& node : nodes)
    if (found.contains(node.id)) names.push_back(node.name);
  return names;
}

void add_attachments(const std::vector<FlowNode>& nodes, std::set<BudgetId>& budgets,
                     std::set<QuotaId>& quotas) {
  for (const auto& node : nodes) {
    budgets.insert(node.policy.budgets.begin(), node.policy.budgets.end());
    if (node.policy.quota) quotas.insert(*node.policy.quota);
    if (node.flow) add_attachments(node.flow->nodes, budgets, quotas);
  }
}

void share_as(const std::optional<core::FairShare>& share, std::vector<FlowNode>& nodes) {
  for (auto& node : nodes) {
    auto& policy = node.policy;
    if (share && !policy.fairness_key) {
      policy.fairness_key = share->key;
      policy.fairness_weight = share->weight;
    }
    if (node.flow) share_as(core::needs_of(policy).share, node.flow->nodes);
  }
}

void add_limited(std::vector<FlowNode>& nodes, std::vector<FlowNode*>& limited) {
  for (auto& node : nodes) {
    if (node.policy.max_running) limited.push_back(&node);
    if (node.flow) add_limited(node.flow->nodes, limited);
  }
}

}  // namespace

void pass_on_fairness(SubmitFlow& flow) {
  std::optional<core::FairShare> share;
  if (flow.fairness_key)
    share = {.key = *flow.fairness_key, .weight = flow.fairness_weight.value_or(1)};
  share_as(share, flow.nodes);
}

Result<void> pack_subflows(std::string_view field, std::vector<FlowNode>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto& node = nodes[i];
    if (!node.flow) continue;
    node.payload = store::encode(*node.flow);
    node.flow->nodes.clear();
    if (node.payload.size() <= limits::payload_bytes_max) continue;
    const auto path = fmt::format("{}[{}].flow", field, i);
    return fail_field(Errc::flow_limit_exceeded, path,
                      fmt::format("{} has {} bytes with its payloads, and the limit is {}; pass "
                                  "large data by reference",
                                  path, node.payload.size(), limits::payload_bytes_max));
  }
  return {};
}

std::vector<core::NewNode> with_ids(std::vector<FlowNode> nodes, const FlowId& flow,
                                    PartitionIndex partition) {
  std::vector<core::NewNode> made;
  made.reserve(nodes.size());
  for (auto& node : nodes) {
    const auto id = core::node_id(flow, partition, node.name);
    made.push_back({id, std::move(node)});
  }
  return made;
}

// Budgets and quotas of all nodes exist and belong to the namespace; each is asked for once. The limits of fairness keys
// are made.
Async<void> LocalEngine::check_attachments(const Namespace& ns,
                                           const std::vector<BudgetId>& budgets,
                                           std::vector<FlowNode>& nodes) {
  std::set<BudgetId> all(budgets.begin(), budgets.end());
  std::set<QuotaId> quotas;
  add_attachments(nodes, all, quotas);
  for (const auto& budget : all) {
    Policy policy;
    policy.budgets.push_back(budget);
    FF_CO_TRY(co_await gate_.attachable(ns, policy));
  }
  for (const auto& quota : quotas) {
    Policy policy;
    policy.quota = quota;
    FF_CO_TRY(co_await gate_.attachable(ns, policy));
  }
  std::vector<FlowNode*> limited;
  add_limited(nodes, limited);
  for (auto* node : limited) FF_CO_TRY(co_await gate_.keep_limit(ns, node->lane, node->policy));
  co_return Result<void>{};
}

Async<FlowReply> LocalEngine::handle(SubmitFlow operation) {
  pass_on_fairness(operation);
  FF_CO_TRY(co_await check_attachments(operation.ns, operation.budgets, operation.nodes));
  FF_CO_TRY(pack_subflows("nodes", operation.nodes));
  const bool minted = !operation.id && !operation.idempotency_key;
  const auto id = operation.id ? *operation.id
                  : operation.idempotency_key
                      ? core::flow_id(operation.ns, *operation.idempotency_key)
                      : FlowId{make_uuid(store_->now(), *options_.random)};
  const auto partition = core::partition_of(id.uuid(), store_->partition_count());
  core::CreateFlow create{.id = id,
                          .partition = partition,
                          .submit = {},
                          .nodes = {},
                          .digest = digest_of(operation),
                          .minted = minted,
                          .retention_default = options_.retention_default};
  if (operation.dry_run) {
    if (!minted) {
      create.submit = {.ns = operation.ns, .nodes = {}, .dry_run = true};
      auto earlier = co_await store_->run(std::move(create));
      if (!earlier || earlier->duplicate) co_return earlier;
    }
    FlowInfo flow{.id = id,
                  .ns = operation.ns,
                  .kind = operation.kind,
                  .state = operation.building ? FlowState::building : FlowState::running,
                  .on_failure = operation.on_failure,
                  .tags = operation.tags,
                  .created_at = store_->now(),
                  .deadline = operation.deadline};
    flow.counts.nodes = static_cast<std::uint32_t>(operation.nodes.size());
    for (const auto& node : operation.nodes)
      flow.edges += static_cast<std::uint32_t>(node.after.size());
    co_return FlowReply{.flow = std::move(flow)};
  }
  create.nodes = with_ids(std::exchange(operation.nodes, {}), id, partition);
  create.submit = std::move(operation);
  co_return co_await store_->run(std::move(create));
}

Async<FlowInfo> LocalEngine::handle(ExtendFlow operation) {
  core::ReadFlow read{operation.id};
  const auto flow = co_await store_->run(read);
  FF_CO_TRY(flow);
  share_as(std::nullopt, operation.nodes);
  FF_CO_TRY(co_await check_attachments(flow->ns, {}, operation.nodes));
  FF_CO_TRY(pack_subflows("nodes", operation.nodes));
  const auto partition = core::partition_of(operation.id.uuid(), store_->partition_count());
  core::AddNodes add{
      .id = operation.id, .nodes = {}, .retention_default = options_.retention_default};
  add.nodes = with_ids(std::move(operation.nodes), operation.id, partition);
  co_return co_await store_->run(std::move(add));
}

namespace {

// The name of a node that was submitted without one. A key that is no name stands for one, so that the same key is the
// same node.
NodeName name_from(const IdempotencyKey& key, const Namespace& ns) {
  if (auto name = NodeName::parse(key.str())) return std::move(*name);
  return must(NodeName::parse(core::flow_id(ns, key).str()));
}

}  // namespace

Async<SubmitReply> LocalEngine::submit_node(Submit operation) {
  const auto flow = *operation.flow;
  if (!operation.node)
    operation.node = operation.idempotency_key
                         ? name_from(*operation.idempotency_key, operation.ns)
                         : must(NodeName::parse(make_uuid(store_->now(), *options_.random).str()));
  const auto partition = core::partition_of(flow.uuid(), store_->partition_count());
  core::SubmitNode submit{.id = flow,
                          .ns = operation.ns,
                          .node = {.id = core::node_id(flow, partition, *operation.node), .node = {}},
                          .retention_default = options_.retention_default};
  submit.node.node = core::node_of(std::move(operation));
  co_return co_await store_->run(std::move(submit));
}

// Only with nodes to add; without, the store has all of it.
Async<EndReply> LocalEngine::handle(Complete operation) {
  auto nodes = std::exchange(operation.spawn, {});
  co_return co_await grow(std::move(operation), std::move(nodes), "spawn");
}

Async<EndReply> LocalEngine::handle(WaitForChildren operation) {
  auto nodes = std::exchange(operation.children, {});
  co_return co_await grow(std::move(operation), std::move(nodes), "children");
}

template <class End>
Async<EndReply> LocalEngine::grow(End end, std::vector<FlowNode> nodes, std::string_view field) {
  GetExecution read{end.id};
  const auto execution = co_await store_->run(read);
  FF_CO_TRY(execution);
  if (!execution->flow) co_return core::refusals::not_a_node(end.id);
  if (execution->node) {
    const auto itself = std::ranges::find(nodes, *execution->node, &FlowNode::name);
    const auto place = static_cast<std::size_t>(itself - nodes.begin());
    if (itself != nodes.end())
      co_return core::refusals::adds_itself(*execution->node, {field, place});
  }
  share_as(core::needs_of(execution->policy).share, nodes);
  FF_CO_TRY(co_await check_attachments(execution->ns, {}, nodes));
  FF_CO_TRY(pack_subflows(std::is_same_v<End, Complete> ? "spawn" : "children", nodes));
  core::Grow grow{.id = end.id,
                  .flow = *execution->flow,
                  .end = {},
                  .nodes = {},
                  .retention_default = options_.retention_default};
  grow.nodes = with_ids(std::move(nodes), *execution->flow, end.id.partition());
  grow.end = std::move(end);
  co_return co_await store_->run(std::move(grow));
}

namespace {

// A page of inputs of a node that its flow's parent has: the cursor counts the levels above its offset.
constexpr unsigned level_shift = 28;
constexpr std::uint32_t offset_mask = (1u << level_shift) - 1;
static_assert(limits::node_dependencies_max < offset_mask && limits::subflow_depth_max < 16);

}  // namespace

Async<std::optional<ExecutionId>> LocalEngine::parent_of(ExecutionId id) {
  GetExecution read{id};
  const auto node = co_await store_->run(read);
  FF_CO_TRY(node);
  if (!node->flow) co_return std::optional<ExecutionId>{};
  core::ReadFlow read_flow{*node->flow};
  const auto flow = co_await store_->run(read_flow);
  FF_CO_TRY(flow);
  co_return flow->parent;
}

// A node that has no such input sees those of the node that its flow is.
Async<NodeInputs> LocalEngine::handle(GetInputs operation) {
  auto offset = operation.from & offset_mask;
  const auto first_level = operation.from >> level_shift;
  for (std::uint32_t level = 0;; ++level) {
    NodeInputs page;
    if (level >= first_level) {
      GetInputs read{.id = operation.id, .name = operation.name, .from = offset};
      do {
        auto next = co_await store_->run(read);
        FF_CO_TRY(next);
        page = std::move(*next);
        read.from = page.next.value_or(0);
      } while (page.inputs.empty() && page.next);
      if (page.next) *page.next |= level << level_shift;
      if (offset > 0 || !page.inputs.empty()) co_return page;
    }
    const auto parent = co_await parent_of(operation.id);
    FF_CO_TRY(parent);
    if (!*parent) co_return page;
    operation.id = **parent;
  }
}

Async<FlowView> LocalEngine::handle(GetFlow operation) {
  auto flow = co_await without_cancellation_exceptions(read_flow_or_wait(operation));
  FF_CO_TRY(flow);
  FlowView view{std::move(*flow)};
  if (!operation.graph) co_return view;
  ListFlowNodes list{.id = operation.id};
  auto page = co_await store_->run(list);
  FF_CO_TRY(page);
  view.nodes = std::move(page->nodes);
  view.next = page->next;
  co_return view;
}

Async<FlowInfo> LocalEngine::read_flow_or_wait(GetFlow operation) {
  const auto deadline = FlowClock::now() + operation.wait;
  const ExecutionId subject{core::partition_of(operation.id.uuid(), store_->partition_count()),
                            operation.id.uuid()};
  Wakeup wakeup(co_await asio::this_coro::executor);
  const WaitList<ExecutionId>::Waiter place(waiting_for_end_, subject, wakeup);
  while (true) {
    core::ReadFlow read{operation.id};
    auto flow = co_await store_->run(read);
    const bool done = !flow || flow->ended_at || FlowClock::now() >= deadline;
    if (done || co_await is_cancelled()) co_return flow;
    co_await wakeup.wait_until(deadline);
  }
}

Async<CancelFlowReply> LocalEngine::handle(CancelFlow operation) {
  const auto wait = operation.wait;
  const auto id = operation.id;
  core::BeginCancel begin{
      .id = id, .reason = std::move(operation.reason), .policy = operation.policy};
  auto reply = co_await store_->run(std::move(begin));
  if (!reply || wait == Millis{0} || reply->flow.ended_at) co_return reply;
  GetFlow get{.id = id, .wait = wait};
  auto flow = co_await handle(get);
  FF_CO_TRY(flow);
  reply->scheduled = flow->ended_at ? 0 : flow->counts.open();
  reply->flow = std::move(*flow);
  co_return reply;
}

Async<std::vector<FlowNodeInfo>> LocalEngine::all_nodes(FlowId id) {
  std::vector<FlowNodeInfo> nodes;
  ListFlowNodes list{.id = id};
  while (true) {
    auto page = co_await store_->run(list);
    FF_CO_TRY(page);
    std::ranges::move(page->nodes, std::back_inserter(nodes));
    if (!page->next) co_return nodes;
    list.from = *page->next;
  }
}

Async<RedriveReply> LocalEngine::handle(RedriveFlow operation) {
  core::ReadFlow read{operation.id};
  const auto before = co_await store_->run(read);
  FF_CO_TRY(before);
  const auto nodes = co_await all_nodes(operation.id);
  FF_CO_TRY(nodes);
  std::deque<ExecutionId> from;
  const auto rest = rest_of_races(*nodes);
  for (const auto& node : *nodes)
    if (operation.from ? node.name == *operation.from
                       : has_failed(node.state) && !rest.contains(node.id))
      from.push_back(node.id);
  if (operation.from && from.empty())
    co_return core::refusals::node_not_found(operation.id, *operation.from);
  core::BeginRedrive begin{.id = operation.id, .reason = std::move(operation.reason)};
  if (operation.from) begin.from = from.front();
  RedriveReply reply{.flow = *before, .nodes = with_dependents(*nodes, std::move(from))};
  reply.count = static_cast<std::uint32_t>(reply.nodes.size());
  if (reply.nodes.size() > limits::redrive_names_max) reply.nodes.resize(limits::redrive_names_max);
  if (operation.dry_run) co_return reply;
  auto flow = co_await store_->run(std::move(begin));
  FF_CO_TRY(flow);
  reply.flow = std::move(*flow);
  co_return reply;
}

// ---- Open flows ----------------------------------------------------------------------------------

Async<OpenFlowReply> LocalEngine::handle(OpenFlow operation) {
  const auto partition = core::partition_of(operation.id.uuid(), store_->partition_count());
  core::CreateFlow create{.id = operation.id,
                          .partition = partition,
                          .submit = {},
                          .nodes = {},
                          .is_open = true,
                          .retention_default = options_.retention_default};
  create.submit.ns = std::move(operation.ns);
  create.submit.kind = std::move(operation.kind);
  const auto reply = co_await store_->run(std::move(create));
  FF_CO_TRY(reply);
  co_return OpenFlowReply{.id = operation.id, .duplicate = reply->duplicate};
}

Async<CancelMembersReply> LocalEngine::handle(CancelMembers operation) {
  CancelFlow cancel{.id = operation.id,
                    .reason = std::move(operation.reason),
                    .policy = operation.policy};
  // Other policies leave members to run as long as they like.
  if (operation.policy == CancelPolicy::cancel_all) cancel.wait = operation.wait;
  const auto cancelled = co_await handle(std::move(cancel));
  FF_CO_TRY(cancelled);
  const auto nodes = co_await all_nodes(operation.id);
  FF_CO_TRY(nodes);
  CancelMembersReply reply{.policy = cancelled->policy,
                           .count = static_cast<std::uint32_t>(nodes->size())};
  const bool cancels_all = cancelled->policy == CancelPolicy::cancel_all;
  reply.scheduled = cancels_all && operation.wait == Millis{0} && !cancelled->flow.ended_at;
  for (const auto& node : *nodes) {
    if (reply.members.size() == limits::redrive_names_max) break;
    reply.members.push_back(node.id);
    if (cancels_all && !reply.scheduled && !is_terminal(node.state)) reply.open.push_back(node.id);
  }
  co_return reply;
}

}  // namespace ff
