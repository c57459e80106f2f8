#include "cli/output/flow_graph.hpp"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

ExecutionId id_of(std::string_view name) {
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < std::min<std::size_t>(name.size(), 16); ++i)
    bytes[i] = static_cast<std::uint8_t>(name[i]);
  return {1, Uuid{bytes}};
}

NodeName named(std::string_view name) { return must(NodeName::parse(std::string(name))); }

FlowNodeInfo node(std::string_view name, std::vector<std::string> after = {},
                  ExecutionState state = ExecutionState::completed) {
  FlowNodeInfo made{.id = id_of(name),
                    .name = named(name),
                    .kind = must(Kind::parse("k")),
                    .lane = default_lane(),
                    .state = state};
  for (const auto& each : after)
    made.after.push_back({.id = id_of(each), .node = named(each), .on = DependsOn::succeeded});
  return made;
}

std::string drawn(const std::vector<FlowNodeInfo>& nodes, std::size_t width = 80) {
  return "\n" + draw_graph(nodes, Screen{.width = width});
}

TEST(FlowGraph, ChainIsALineDown) {
  EXPECT_EQ(drawn({node("aa"), node("bb", {"aa"}), node("cc", {"bb"}, ExecutionState::active)}), R"(
✓ aa
  │
✓ bb
  │
▶ cc

▶ active   ✓ completed
)");
}

TEST(FlowGraph, DiamondForksAndJoins) {
  EXPECT_EQ(drawn({node("aa"), node("bb", {"aa"}), node("cc", {"aa"}), node("dd", {"bb", "cc"})}),
            R"(
✓ aa
  ├──────┐
✓ bb   ✓ cc
  └──┬───┘
   ✓ dd

✓ completed
)");
}

TEST(FlowGraph, ItemsOfAListAreOneWithTheirNode) {
  auto pages = node("pages", {"list"}, ExecutionState::waiting_children);
  pages.map = MapOver{.input = named("list")};
  std::vector<FlowNodeInfo> nodes{node("list"), pages, node("sum", {"pages"}, ExecutionState::waiting_children)};
  EXPECT_EQ(drawn(nodes), R"(
✓ list
  │
· pages
  │
· sum

· waiting_children   ✓ completed
)");
  for (const auto* name : {"pages.0", "pages.1", "pages.10"}) {
    nodes.push_back(node(name, {}, nodes.size() == 3 ? ExecutionState::active : ExecutionState::completed));
    nodes.back().optional = true;
    nodes[1].after.push_back({.id = id_of(name), .node = named(name), .on = DependsOn::finished});
  }
  EXPECT_EQ(drawn(nodes), R"(
✓ list
  │
· pages: 2 of 3 completed
  │
· sum

· waiting_children   ✓ completed
)");
}

TEST(FlowGraph, EdgeOverALayerPassesBesideIt) {
  EXPECT_EQ(drawn({node("aa"), node("bb", {"aa"}), node("cc", {"aa", "bb"})}), R"(
✓ aa
  ├────┐
✓ bb   │
  ├────┘
✓ cc

✓ completed
)");
}

TEST(FlowGraph, UnusualDependenciesAreExplained) {
  auto rollback = node("undo", {"ship"}, ExecutionState::skipped);
  rollback.after[0].on = DependsOn::failed;
  rollback.optional = true;
  auto any = node("join", {"ship", "undo"}, ExecutionState::waiting_children);
  any.needed = 1;
  const auto text = drawn({node("ship"), rollback, any});
  EXPECT_NE(text.find("\n  undo: after ship (failed); optional\n"), text.npos) << text;
  EXPECT_NE(text.find("\n  join: after 1 of: ship, undo\n"), text.npos) << text;
}

TEST(FlowGraph, TooWideGraphIsALinePerNode) {
  std::vector<FlowNodeInfo> nodes{node("root")};
  for (int i = 0; i < 9; ++i) nodes.push_back(node("node" + std::to_string(i), {"root"}));
  const auto text = drawn(nodes, 40);
  EXPECT_NE(text.find("    1  ✓ node8  root\n"), text.npos) << text;
}

TEST(FlowGraph, ManyNodesAreALineEach) {
  std::vector<FlowNodeInfo> nodes;
  for (int i = 0; i < 1'000; ++i)
    nodes.push_back(i == 0 ? node("n0")
                           : node("n" + std::to_string(i), {"n" + std::to_string(i - 1)}));
  EXPECT_NE(drawn(nodes).find("  999  ✓ n999  n998\n"), std::string::npos);
}

TEST(FlowGraph, NamesTheFlowThatANodeIs) {
  auto region = node("eu", {"split"}, ExecutionState::waiting_children);
  region.subflow = *FlowId::parse("0190a6f2-0000-7000-8000-000000000001");
  const auto text = drawn({node("split"), region});
  EXPECT_TRUE(text.ends_with(
      "\n  eu: after split; flow 0190a6f2-0000-7000-8000-000000000001\n")) << text;
}

TEST(FlowGraph, MermaidAndDotHaveNodesAndEdges) {
  auto rollback = node("undo", {"ship"}, ExecutionState::skipped);
  rollback.after[0].on = DependsOn::failed;
  const std::vector<FlowNodeInfo> nodes{node("build"), node("ship", {"build"}), rollback};
  EXPECT_EQ(to_mermaid(nodes), R"(flowchart TD
  n0["build<br/>completed"]:::completed
  n1["ship<br/>completed"]:::completed
  n2["undo<br/>skipped"]:::skipped
  n0 --> n1
  n1 -. failed .-> n2
  classDef completed fill:#d3f9d8
  classDef skipped fill:#f1f3f5
)");
  EXPECT_EQ(to_dot(nodes), R"(digraph flow {
  node [shape=box, style="rounded,filled"];
  n0 [label="build\ncompleted", fillcolor="#d3f9d8"];
  n1 [label="ship\ncompleted", fillcolor="#d3f9d8"];
  n2 [label="undo\nskipped", fillcolor="#f1f3f5"];
  n0 -> n1;
  n1 -> n2 [label="failed", style=dashed];
}
)");
}

}  // namespace
}  // namespace ff::cli
