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

}  // namespace

// Budgets and quotas of all nodes exist and belong to the namespace; each is asked for once.
Async<void> LocalEngine::check_attachments(const Namespace& ns,
                                           const std::vector<BudgetId>& budgets,
                                           const std::vector<FlowNode>& nodes) {
  std::set<BudgetId> all(budgets.begin(), budgets.end());
  std::set<QuotaId> quotas;
  for (const auto& node : nodes) {
    all.insert(node.policy.budgets.begin(), node.policy.budgets.end());
    if (node.policy.quota) quotas.insert(*node.policy.quota);
  }
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
  co_return Result<void>{};
}

Async<FlowReply> LocalEngine::handle(SubmitFlow operation) {
  FF_CO_TRY(co_await check_attachments(operation.ns, operation.budgets, operation.nodes));
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
  FF_CO_TRY(co_await check_attachments(flow->ns, {}, operation.nodes));
  const auto partition = core::partition_of(operation.id.uuid(), store_->partition_count());
  core::AddNodes add{
      .id = operation.id, .nodes = {}, .retention_default = options_.retention_default};
  add.nodes = with_ids(std::move(operation.nodes), operation.id, partition);
  co_return co_await store_->run(std::move(add));
}

// Only with nodes to add; without, the store has all of it.
Async<EndReply> LocalEngine::handle(Complete operation) {
  auto nodes = std::exchange(operation.spawn, {});
  co_return co_await grow(std::move(operation), std::move(nodes));
}

Async<EndReply> LocalEngine::handle(WaitForChildren operation) {
  auto nodes = std::exchange(operation.children, {});
  co_return co_await grow(std::move(operation), std::move(nodes));
}

template <class End>
Async<EndReply> LocalEngine::grow(End end, std::vector<FlowNode> nodes) {
  GetExecution read{end.id};
  const auto execution = co_await store_->run(read);
  FF_CO_TRY(execution);
  if (!execution->flow) co_return core::refusals::not_a_node(end.id);
  if (execution->node && std::ranges::find(nodes, *execution->node, &FlowNode::name) != nodes.end())
    co_return core::refusals::adds_itself(*execution->node);
  FF_CO_TRY(co_await check_attachments(execution->ns, {}, nodes));
  core::Grow grow{.id = end.id,
                  .flow = *execution->flow,
                  .end = {},
                  .nodes = {},
                  .retention_default = options_.retention_default};
  grow.nodes = with_ids(std::move(nodes), *execution->flow, end.id.partition());
  grow.end = std::move(end);
  co_return co_await store_->run(std::move(grow));
}

Async<FlowInfo> LocalEngine::handle(GetFlow operation) {
  co_return co_await without_cancellation_exceptions(read_flow_or_wait(operation));
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
  auto flow = co_await handle(GetFlow{.id = id, .wait = wait});
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

}  // namespace ff
