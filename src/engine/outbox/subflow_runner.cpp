#include "engine/outbox/subflow_runner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "engine/subflows.hpp"
#include "store/subflow_record.hpp"

namespace ff {
namespace {

// A flow is not removed before its node has ended with it.
constexpr Millis subflow_retention_min = std::chrono::hours{1};

// The flow has ended, is being removed or was never there: there is nothing more to do about it.
template <class Reply>
bool is_out_of_reach(const Result<Reply>& reply) {
  return !reply && (reply.error().code == Errc::flow_not_found ||
                    reply.error().code == Errc::flow_already_terminal);
}

}  // namespace

Async<SubflowRunner::Demanded> SubflowRunner::demand_of(const core::RunSubflow& effect) {
  GetExecution read_node{effect.id};
  auto node = co_await store_.run(read_node);
  if (!node && node.error().code == Errc::execution_not_found) co_return Demanded{};
  FF_CO_TRY(node);
  Demanded demanded{.node = std::move(*node)};
  const bool is_current = demanded.node->replays == effect.run && demanded.node->subflow;
  if (!is_current || is_terminal(demanded.node->state)) co_return demanded;
  core::ReadFlow read_flow{*demanded.node->flow};
  auto flow = co_await store_.run(read_flow);
  if (!flow && flow.error().code == Errc::flow_not_found) co_return demanded;
  FF_CO_TRY(flow);
  demanded.demand = flow->state == FlowState::paused ? Demand::hold : Demand::run;
  demanded.flow = std::move(*flow);
  co_return demanded;
}

// The demand may change while it is being met, and several of these may run at once; the last one to act sees the
// last demand, because each looks again after it has acted.
Async<Done> SubflowRunner::run(core::RunSubflow effect) {
  const auto id = core::subflow_id(effect.id, effect.run);
  std::optional<Demand> met;
  while (true) {
    const auto demanded = co_await demand_of(effect);
    FF_CO_TRY(demanded);
    if (demanded->demand == met) co_return Done{};
    if (demanded->demand == Demand::run) {
      FF_CO_TRY(co_await start(effect, *demanded));
      // A flow that somebody else paused stays so until its node is let go on.
      if (effect.turn > 1 || met) {
        ResumeFlow resume{id};
        const auto resumed = co_await store_.run(resume);
        if (!is_out_of_reach(resumed)) FF_CO_TRY(resumed);
      }
    } else if (demanded->demand == Demand::hold) {
      PauseFlow pause{.id = id, .reason = demanded->flow->reason};
      const auto paused = co_await store_.run(std::move(pause));
      if (!is_out_of_reach(paused)) FF_CO_TRY(paused);
    } else {
      FF_CO_TRY(co_await cancel(id, *demanded));
    }
    met = demanded->demand;
  }
}

Async<Done> SubflowRunner::start(const core::RunSubflow& effect, const Demanded& demanded) {
  GetPayload read{effect.id};
  const auto payload = co_await store_.run(read);
  FF_CO_TRY(payload);
  auto graph = store::decode_subflow(payload->bytes);
  FF_CO_TRY(graph);
  FF_CO_TRY(pack_subflows("nodes", graph->nodes));
  const auto id = core::subflow_id(effect.id, effect.run);
  core::CreateFlow create{.id = id,
                          .partition = core::partition_of(id.uuid(), store_.partition_count()),
                          .submit = {},
                          .nodes = {},
                          .parent = core::ParentNode{.node = effect.id, .run = effect.run},
                          .retention_default = retention_default_};
  create.nodes = with_ids(std::move(graph->nodes), id, create.partition);
  create.submit.ns = demanded.node->ns;
  create.submit.kind = demanded.node->kind;
  create.submit.on_failure = graph->on_failure;
  create.submit.result = std::move(graph->result);
  create.submit.tags = demanded.node->tags;
  create.submit.budgets = demanded.node->policy.budgets;
  create.submit.retention = std::max(demanded.flow->retention, subflow_retention_min);
  const auto created = co_await store_.run(std::move(create));
  if (!created && !created.error().retryable())
    co_return co_await fail_node(
        effect.id, effect.run,
        fmt::format("flow {} cannot start: {}", id.str(), created.error().message));
  FF_CO_TRY(created);
  co_return Done{};
}

Async<Done> SubflowRunner::cancel(const FlowId& id, const Demanded& demanded) {
  core::BeginCancel begin{.id = id, .policy = CancelPolicy::cancel_all};
  const bool has_ended = demanded.node && is_terminal(demanded.node->state);
  begin.reason = has_ended ? fmt::format("its node {}", to_string(demanded.node->state))
                           : "its node runs again";
  if (has_ended && demanded.node->cancel_reason && !demanded.node->cancel_reason->empty())
    begin.reason += ": " + *demanded.node->cancel_reason;
  const auto cancelled = co_await store_.run(std::move(begin));
  if (!is_out_of_reach(cancelled)) FF_CO_TRY(cancelled);
  co_return Done{};
}

Async<Done> SubflowRunner::fail_node(ExecutionId id, std::uint32_t run, std::string reason) {
  core::EndNode end{.id = id, .run = run};
  end.failure = {.reason = std::move(reason), .category = "subflow"};
  co_return co_await store_.run(std::move(end));
}

Async<Done> SubflowRunner::run(core::EndSubflow effect) {
  core::ReadFlow read{effect.flow};
  const auto flow = co_await store_.run(read);
  if (!flow && flow.error().code == Errc::flow_not_found)
    co_return co_await fail_node(
        effect.id, effect.run,
        fmt::format("flow {} was removed before its result was read", effect.flow.str()));
  FF_CO_TRY(flow);
  // It was redriven meanwhile, and tells its next end.
  if (!flow->ended_at || flow->generation != effect.generation) co_return Done{};
  if (flow->state != FlowState::completed) {
    auto reason = fmt::format("flow {} {}", effect.flow.str(), to_string(flow->state));
    if (!flow->reason.empty()) reason += ": " + flow->reason;
    co_return co_await fail_node(effect.id, effect.run, std::move(reason));
  }
  core::EndNode end{.id = effect.id, .run = effect.run};
  if (flow->result) {
    store::ReadResult read_result{*flow->result};
    auto result = co_await store_.run(read_result);
    // A node that is optional may have failed, or have been skipped.
    if (!result && result.error().code != Errc::execution_failed) FF_CO_TRY(result);
    if (result) {
      end.result = std::move(result->bytes);
      end.content_type = std::move(result->content_type);
    }
  }
  co_return co_await store_.run(std::move(end));
}

}  // namespace ff
