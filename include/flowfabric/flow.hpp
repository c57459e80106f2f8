// Builds a flow: a graph of executions that is submitted whole.
//
//   ff::Flow flow("release");
//   flow.add("build", "compile", source);
//   flow.add("unit", "test").after("build");
//   flow.add("deploy", "ship").after({"build", "unit"});
//   flow.add("rollback", "undo").on_failure_of("deploy").optional();
//   client.submit(flow);
#pragma once

#include <flowfabric/flows.hpp>

#include <concepts>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ff {

// Names and other texts are checked by to_operation() and by Client::submit(), not before. Not thread-safe.
class Flow {
 public:
  // A node and its dependencies. Lives as long as its flow. One name is a template's parameter: as a std::string, it
  // would also accept a list of two names, as two pointers.
  class Node {
   public:
    Node& payload(std::string bytes, std::string content_type = {});
    Node& lane(std::string lane);
    Node& priority(std::int32_t priority);  // 0 to 9000, higher runs first
    Node& delay_until(TimePoint time);      // also if its dependencies allow it earlier
    Node& deadline(TimePoint time);
    Node& tag(std::string key, std::string value);
    Node& policy(Policy policy);

    // Starts after these nodes have completed. `input` is the name of their results for the handler; empty:
    // the names of the nodes.
    template <std::convertible_to<std::string> Name>
    Node& after(Name&& node, std::string input = {}) {
      return depend({std::forward<Name>(node)}, DependsOn::succeeded, input);
    }
    Node& after(std::vector<std::string> nodes, std::string input = {});
    // One of these nodes suffices.
    Node& after_any(std::vector<std::string> nodes, std::string input = {});
    // Starts if this node has failed, expired or been cancelled; otherwise it is skipped.
    template <std::convertible_to<std::string> Name>
    Node& on_failure_of(Name&& node) {
      return depend({std::forward<Name>(node)}, DependsOn::failed, {});
    }
    // Starts when these nodes have ended, however they did.
    template <std::convertible_to<std::string> Name>
    Node& always_after(Name&& node, std::string input = {}) {
      return depend({std::forward<Name>(node)}, DependsOn::finished, input);
    }
    Node& always_after(std::vector<std::string> nodes, std::string input = {});

    // So many of the nodes before it suffice. Without it: all.
    Node& needed(std::uint32_t count);
    // When it starts, nodes before it that are still open are cancelled, unless another node waits for them.
    Node& cancel_rest();

    // Its failure does not fail the flow.
    Node& optional();

    // Runs once for each entry of the list that this node's result is; depends on that node. See MapOver.
    struct MapOptions {
      std::optional<std::uint32_t> max_parallel = {};
      std::uint32_t tolerated_failures = 0;
    };
    Node& map(std::string node) { return map(std::move(node), MapOptions{}); }
    Node& map(std::string node, MapOptions options);

    const std::string& name() const { return name_; }

   private:
    friend class Flow;
    struct Edge {
      std::string node;
      DependsOn on;
      std::string input;
    };
    Node(std::string name, std::string kind) : name_(std::move(name)), kind_(std::move(kind)) {}
    Node& depend(std::vector<std::string> nodes, DependsOn on, const std::string& input);
    Result<FlowNode> to_node() const;
    Result<void> add_subflow(FlowNode& node) const;

    std::string name_;
    std::string kind_;
    std::string lane_ = "default";
    std::string content_type_;
    std::string map_over_;
    std::shared_ptr<const Flow> subflow_ = {};
    FlowNode rest_;  // everything that needs no check
    std::vector<Edge> edges_;
  };

  explicit Flow(std::string kind = "flow") : kind_(std::move(kind)) {}

  Node& add(std::string name, std::string kind, std::string payload = {});
  // A node that is a flow: its kind, nodes, result and failure rule are those of `subflow`, as they are now.
  Node& add(std::string name, const Flow& subflow);

  Flow& ns(std::string ns);
  // Either makes a repeated submit the same flow.
  Flow& id(FlowId id);
  Flow& idempotency_key(std::string key);

  Flow& result(std::string node);  // whose result is the flow's
  Flow& stop_on_failure();  // cancels the other nodes, except those that wait for failures or ends
  Flow& deadline(TimePoint time);
  Flow& tag(std::string key, std::string value);
  Flow& budget(BudgetId id);  // that every node spends from
  // Of its nodes that name none.
  Flow& fairness(FairnessKey key, std::uint32_t weight = 1);
  Flow& retention(Millis time);

  std::size_t size() const { return nodes_.size(); }

  // Fails with the node and the field that is wrong.
  Result<SubmitFlow> to_operation() const;

  // Only the nodes, for a flow that has others already: dependencies may name those.
  Result<std::vector<FlowNode>> nodes() const;

 private:
  std::string kind_;
  std::string ns_ = "default";
  std::string key_;
  std::string result_;
  SubmitFlow rest_;
  std::deque<Node> nodes_;
};

}  // namespace ff
