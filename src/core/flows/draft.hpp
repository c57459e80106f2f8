// A change of a flow and several of its nodes in the making. Decisions work on copies of the records; the
// result is a list of changes for one plan.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
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

  // The result of a node that ends in this change.
  void set_result(const ExecutionId& id, std::string result);

  // Adds a node that nothing has yet, with its edges from nodes that are there, or are added as well.
  void add(Execution node, std::string payload, std::vector<Edge> edges);

  // A node that is added once more runs again if its payload is another one now, and an item also if it did not
  // complete. `spawned_in` is the run of its spawner, if it has one. False: the flow has no such node.
  struct Again {
    ExecutionId id;
    std::string payload;
    std::optional<ContentType> content_type = {};
    std::uint64_t digest = 0;  // of the payload
    std::optional<std::uint32_t> spawned_in = {};
    bool is_item = false;  // of a list, which is read again
  };
  Result<bool> add_again(Again again);

  // A node that began depends on a new one as well, or on one that it depended on before. False: the flow has the
  // child already, and it may wait for its parent.
  Result<bool> add_child(const ExecutionId& parent, const ExecutionId& child);

  // Makes an execution that is there already a node.
  void add_member(const Execution& execution);

  // Adds an edge of an open flow, which has no effect before apply_edge.
  Result<void> stage_edge(const ExecutionId& upstream, const ExecutionId& downstream,
                          const GivenEdgeId& given);
  Result<void> apply_edge(const EdgeId& id);

  // A node that the draft works on, for changes beside those above.
  Result<Execution*> change(const ExecutionId& id);

  // Such a node is settled after everything else.
  void settle_last(const ExecutionId& id) { settled_last_ = id; }

  // Runs a node once more, and opens the edges out of it.
  Result<void> reset(const ExecutionId& id, const ReplayRequest& request);

  // Brings the next nodes of the walk in line with the flow.
  Result<void> advance();

  // Brings the edges out of a node in line with it. The reply of the slice tells where to go on.
  Result<SliceReply> align_edges(const ExecutionId& id, const std::optional<EdgeId>& after);

  Result<SliceReply> cancel_rest(const ExecutionId& id, const std::optional<EdgeId>& after);

  // Repairs a node that waits, and one slice of the edges into it.
  Result<CheckReply> check(const ExecutionId& id, std::uint32_t from);

  // Decides everything that follows, and moves the changes and effects out.
  Result<void> finish(std::vector<Change>& changes, std::vector<Effect>& effects,
                      std::optional<EventType> event = {});

 private:
  struct Node {
    std::optional<Execution> before = {};  // absent: it is new
    Execution next;
    std::optional<EventType> event = {};
    std::optional<std::string> payload = {};
    std::optional<std::string> result = {};
    bool starts_anew = false;  // what it left of its last run is erased
  };

  Node& insert(Node node);
  Result<Node*> node(const ExecutionId& id);
  Result<Edge*> edge(const EdgeId& id);
  void add_edge(Edge edge);
  Result<void> align(Edge& edge, const Execution& upstream);
  Result<bool> check_edge(const EdgeId& id);
  Result<bool> recount_edges(Node& node);
  Result<bool> renew_effect_of_map(Node& node);
  Result<void> align_new_edges(const ExecutionId& upstream);
  Result<void> settle_new_nodes();
  Result<void> align_queued();
  void add_edge_changes(std::vector<Change>& changes);
  void settle(Node& node);
  void note_end(const Node& node);
  void leave_subflow(const Execution& node);
  void start_anew(Node& node, const ReplayRequest& request);
  Result<std::vector<EdgeId>> edges_out(const ExecutionId& upstream, std::size_t max);
  Result<bool> is_needed_by_others(const ExecutionId& upstream, const ExecutionId& except);

  PartitionView& view_;
  TimePoint now_;
  Flow before_;
  std::unordered_map<ExecutionId, Node> nodes_;
  std::vector<ExecutionId> order_;  // of `nodes_`, in which events tell of them: causes first
  std::unordered_map<EdgeId, Edge> edges_;                // read, and perhaps changed, or new
  std::unordered_map<EdgeId, Edge> edges_before_;         // as they are stored
  std::map<ExecutionId, std::vector<EdgeId>> new_edges_;  // by upstream node
  std::vector<Change> other_changes_;
  std::vector<Effect> effects_;
  std::deque<ExecutionId> to_align_;        // nodes that ended or run again
  std::deque<ExecutionId> to_cancel_rest_;  // nodes that started without all before them
  std::optional<ExecutionId> settled_last_ = {};
  std::size_t budget_ = flow_step_max;
};

// Why a node is cancelled that another one, which started, does not wait for.
std::string reason_of_rest(const std::string& started);

// Whether an edge leads from one node to the other; with a role, one of that role.
Result<bool> leads_to(PartitionView& view, const ExecutionId& upstream,
                      const ExecutionId& downstream, std::optional<EdgeRole> role = {});

// The flow that an execution is a node of; store_damaged if there is none.
Result<const Flow*> flow_of(PartitionView& view, const Execution& execution);

// Takes the change of one execution out of a plan.
PutExecution take_put(std::vector<Change>& changes);

// Adds what a change of a node means for its flow and for the nodes after it.
Result<void> add_consequences(PartitionView& view, std::vector<Change>& changes,
                              std::vector<Effect>& effects, TimePoint now);
template <class Reply>
Result<void> add_consequences(PartitionView& view, Plan<Reply>& plan, TimePoint now) {
  if (plan.has_consequences) return {};
  return add_consequences(view, plan.changes, plan.effects, now);
}

}  // namespace ff::core
