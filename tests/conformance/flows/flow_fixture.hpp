// Helpers that tests of flows share: graphs, states and claims of nodes.
#pragma once

#include <fmt/format.h>

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {

inline NodeName node_name(std::string text) { return *NodeName::parse(std::move(text)); }

inline Dependency dependency(const char* name, DependsOn on = DependsOn::succeeded) {
  return {.node = node_name(name), .on = on};
}

inline FlowNode node(const char* name, std::vector<Dependency> after = {}) {
  return {.name = node_name(name), .kind = greet, .payload = name, .after = std::move(after)};
}

class FlowConformance : public Conformance {
 protected:
  FlowInfo submit_flow(std::vector<FlowNode> nodes) {
    return submit_flow(SubmitFlow{.nodes = std::move(nodes)});
  }
  FlowInfo submit_flow(SubmitFlow flow) { return must(run(std::move(flow))).flow; }
  FlowInfo flow(const FlowInfo& of) { return must(run(GetFlow{.id = of.id})); }

  // "a=completed b=waiting", in the order of submission.
  std::string states(const FlowInfo& of) {
    std::string text;
    ListFlowNodes list{.id = of.id};
    for (const auto& each : must(run(list)).nodes)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", each.name.str(),
                          to_string(each.state));
    return text;
  }
  ExecutionId id_of(const FlowInfo& of, const char* name) {
    for (const auto& each : must(run(ListFlowNodes{.id = of.id})).nodes)
      if (each.name.str() == name) return each.id;
    throw std::runtime_error("no such node");
  }
  ClaimedExecution claim_node(const FlowInfo& of, const char* name) {
    return must(run(claim_of(id_of(of, name))));
  }
  void complete_node(const FlowInfo& of, const char* name, std::string result = "out") {
    must(run(complete(claim_node(of, name), std::move(result))));
  }
  // "code field", or "accepted".
  template <class Op>
  std::string refused(Op operation) {
    const auto reply = run(std::move(operation));
    if (reply) return "accepted";
    for (const auto& detail : reply.error().details)
      if (detail.name == "field") return fmt::format("{} {}", reply.error().name(), detail.value);
    return fmt::format("{} ", reply.error().name());
  }
  void fail_node(const FlowInfo& of, const char* name) {
    must(run(failure(claim_node(of, name), "broke", "permanent")));
  }
};

}  // namespace ff::conformance
