#include "sdk/client/graph_parts.hpp"

#include <flowfabric/limits.hpp>

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

NodeName name_of(std::size_t i) { return must(NodeName::parse(fmt::format("n{}", i))); }

// Each node depends on the next one.
std::vector<FlowNode> backward_chain(std::size_t count) {
  std::vector<FlowNode> nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i].name = name_of(i);
    if (i + 1 < count) nodes[i].after = {{name_of(i + 1)}};
  }
  return nodes;
}

TEST(GraphParts, SmallGraphIsOnePartInItsOrder) {
  const auto parts = must(graph_parts(backward_chain(3)));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].at(0).name, name_of(0));
}

TEST(GraphParts, DependenciesStandInTheSameOrAnEarlierPart) {
  const auto parts = must(graph_parts(backward_chain(2 * limits::flow_call_nodes_max + 1)));
  ASSERT_EQ(parts.size(), 3u);
  std::set<std::string> known;
  for (const auto& part : parts) {
    EXPECT_LE(part.size(), limits::flow_call_nodes_max);
    for (const auto& node : part) known.insert(node.name.str());
    for (const auto& node : part)
      for (const auto& dependency : node.after) EXPECT_TRUE(known.contains(dependency.node.str()));
  }
  EXPECT_EQ(known.size(), 2 * limits::flow_call_nodes_max + 1);
}

TEST(GraphParts, LargePayloadsMakeMoreParts) {
  std::vector<FlowNode> nodes(3);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = name_of(i);
    nodes[i].payload.resize(limits::flow_call_bytes_max / 2);
  }
  EXPECT_EQ(must(graph_parts(std::move(nodes))).size(), 2u);
}

TEST(GraphParts, ManyDependenciesMakeMoreParts) {
  auto nodes = backward_chain(5);
  for (std::size_t i = 1; i < nodes.size(); ++i)
    nodes[i].after.assign(limits::flow_call_edges_max / 2, {name_of(0)});
  nodes[0].after.clear();
  const auto parts = must(graph_parts(std::move(nodes)));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(), 3u);
}

TEST(GraphParts, LargeCycleIsRefused) {
  auto nodes = backward_chain(limits::flow_call_nodes_max + 1);
  nodes.back().after = {{name_of(0)}};
  EXPECT_EQ(graph_parts(std::move(nodes)).error().code, Errc::cycle_detected);
}

}  // namespace
}  // namespace ff
