// A change of a flow and several of its nodes in the making. Decisions work on copies of the records; the
// result is a list of changes for one plan.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/flows/commands.hpp"
#include "core/transitions/plan.hpp"

namespace ff::core {

// Edges and nodes that one step looks at; more go on in further steps, through the outbox.
inline constexpr std::size_t flow_step_max = 100;

class FlowDraft {
 public:
  FlowDraft(PartitionView& view, Flow before, TimePoint now)
      : flow(before), view_(view), now_(now), before_(std::move(before)) {}

  Flow flow;  // changed in place

  // Takes over an execution that a command of its own changed; `before` is null if it is new.
  Result<void> take(const Execution* before, PutExecution put);

  // Adds a node that nothing has yet, with its edges. Edges out of nodes before it are counted there.
  Result<void> add(Execution node, std::string payload, std::vector<Edge> edges);

  // Runs a node once more, and opens the edges out of it.
  Result<void> reset(const ExecutionId& id, const ReplayRequest& request);

  // Brings the next nodes of the walk in line with the flow.
  Result<void> advance();

  // Brings the edges out of a node in line with it. The reply of the slice tells where to go on.
  Result<SliceReply> align_edges(const ExecutionId& id, const std::optional<EdgeId>& after);

  Result<SliceReply> cancel_rest(const ExecutionId& id, const std::optional<EdgeId>& after);

  // Decides everything that follows, and moves the changes and effects out.
  Result<void> finish(std::vector<Change>& changes, std::vector<Effect>& effects,
                      std::optional<EventType> event = {});

 private:
  struct Node {
    std::optional<Execution> before = {};  // absent: it is new
    Execution next;
    std::optional<EventType> event = {};
    std::optional<std::string> payload = {};
    bool starts_anew = false;  // what it left of its last run is erased
  };

  Node& insert(Node node);
  Result<Node*> node(const ExecutionId& id);
  Result<Edge*> edge(const EdgeId& id);
  Result<void> align(Edge& edge, const Execution& upstream);
  Result<void> align_queued();
  void settle(Node& node);
  void note_end(const Node& node);
  void start_anew(Node& node, const ReplayRequest& request);
  Result<bool> is_needed_by_others(const ExecutionId& upstream, const ExecutionId& except);

  PartitionView& view_;
  TimePoint now_;
  Flow before_;
  std::map<ExecutionId, Node> nodes_;
  std::vector<ExecutionId> order_;  // of `nodes_`, in which events tell of them: causes first
  std::map<EdgeId, Edge> edges_;         // read, and perhaps changed
  std::map<EdgeId, Edge> edges_before_;  // as they are stored
  std::vector<Edge> new_edges_;
  std::vector<Change> other_changes_;
  std::vector<Effect> effects_;
  std::deque<ExecutionId> to_align_;        // nodes that ended or run again
  std::deque<ExecutionId> to_cancel_rest_;  // nodes that started without all before them
  std::size_t budget_ = flow_step_max;
};

// Why a node is cancelled that another one, which started, does not wait for.
std::string reason_of_rest(const std::string& started);

// The flow that an execution is a node of; store_damaged if there is none.
Result<const Flow*> flow_of(PartitionView& view, const Execution& execution);

// Adds what a change of a node means for its flow and for the nodes after it.
Result<void> add_consequences(PartitionView& view, std::vector<Change>& changes,
                              std::vector<Effect>& effects, TimePoint now);
template <class Reply>
Result<void> add_consequences(PartitionView& view, Plan<Reply>& plan, TimePoint now) {
  if (plan.has_consequences) return {};
  return add_consequences(view, plan.changes, plan.effects, now);
}

}  // namespace ff::core
