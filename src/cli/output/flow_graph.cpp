// Drawing in layers: a node's layer is the length of the longest path to it. An edge over several layers gets a
// joint in each layer that it crosses, so that every line connects neighbours. Joints and nodes of a layer are
// ordered by the mean position of their neighbours, which keeps crossings few. Between two layers, the edges that
// leave a node share one horizontal track; a cell of the drawing collects the directions of the lines through it.
#include "cli/output/flow_graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "cli/output/output.hpp"

namespace ff::cli {
namespace {

constexpr std::size_t drawn_nodes_max = 200;
constexpr std::size_t gap = 3;  // between neighbours in a layer
constexpr int ordering_rounds = 8;

std::string_view sign_of(ExecutionState state) {
  switch (state) {
    case ExecutionState::waiting: return "○";
    case ExecutionState::delayed: return "◷";
    case ExecutionState::waiting_children: return "·";
    case ExecutionState::active: return "▶";
    case ExecutionState::completed: return "✓";
    case ExecutionState::failed: return "✗";
    case ExecutionState::cancelled: return "⊘";
    case ExecutionState::expired: return "⌛";
    case ExecutionState::rate_limited: return "◌";
    case ExecutionState::suspended: return "‖";
    case ExecutionState::skipped: return "–";
  }
  return "?";
}

// ---- Nodes as they are drawn ------------------------------------------------------------------------

// With the text that stands for it.
struct Drawn : FlowNodeInfo {
  std::string text;
};

// The items of a list are one with their node.
std::vector<Drawn> drawn_of(std::span<const FlowNodeInfo> nodes) {
  struct Items {
    std::size_t count = 0;
    std::size_t completed = 0;
  };
  std::map<std::string, Items, std::less<>> lists;  // by the names of their nodes
  for (const auto& node : nodes)
    if (node.map) lists[node.name.str()];
  const auto list_of = [&](const NodeName& name) {
    const auto dot = name.str().rfind('.');
    const bool is_item = dot != std::string::npos &&
                         name.str().find_first_not_of("0123456789", dot + 1) == std::string::npos;
    return is_item ? lists.find(name.str().substr(0, dot)) : lists.end();
  };
  for (const auto& node : nodes)
    if (const auto list = list_of(node.name); list != lists.end()) {
      list->second.count += 1;
      if (node.state == ExecutionState::completed) list->second.completed += 1;
    }
  std::vector<Drawn> drawn;
  for (const auto& node : nodes) {
    if (list_of(node.name) != lists.end()) continue;
    auto& made = drawn.emplace_back(Drawn{node, shown_name(node)});
    std::erase_if(made.after, [&](const DependencyInfo& dependency) {
      return list_of(dependency.node) != lists.end();
    });
    if (const auto list = lists.find(node.name.str()); list != lists.end() && list->second.count > 0)
      made.text += fmt::format(": {} of {} completed", list->second.completed, list->second.count);
  }
  return drawn;
}

// ---- The graph by positions -----------------------------------------------------------------------

using Position = std::size_t;

struct Graph {
  std::vector<std::vector<Position>> before;  // of each node, without repetitions
  std::vector<std::size_t> layer;
};

Graph graph_of(std::span<const Drawn> nodes) {
  std::map<ExecutionId, Position> positions;
  for (Position i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i].id, i);
  Graph graph{.before = std::vector<std::vector<Position>>(nodes.size()),
              .layer = std::vector<std::size_t>(nodes.size(), 0)};
  std::vector<std::vector<Position>> behind(nodes.size());
  std::vector<std::size_t> open(nodes.size(), 0);
  for (Position i = 0; i < nodes.size(); ++i) {
    std::set<Position> known;
    for (const auto& dependency : nodes[i].after)
      if (const auto found = positions.find(dependency.id); found != positions.end())
        known.insert(found->second);
    known.erase(i);
    for (const auto each : known) behind[each].push_back(i);
    graph.before[i].assign(known.begin(), known.end());
    open[i] = known.size();
  }
  std::vector<Position> free;
  for (Position i = 0; i < nodes.size(); ++i)
    if (open[i] == 0) free.push_back(i);
  while (!free.empty()) {
    const auto node = free.back();
    free.pop_back();
    for (const auto each : behind[node]) {
      graph.layer[each] = std::max(graph.layer[each], graph.layer[node] + 1);
      if (--open[each] == 0) free.push_back(each);
    }
  }
  return graph;
}

// ---- Layers -----------------------------------------------------------------------------------------

// A node, or a joint of an edge that passes through the layer.
struct Item {
  std::optional<Position> node;
  std::size_t width = 1;
  std::vector<std::size_t> up = {};    // items of the layer above, by their places in it
  std::vector<std::size_t> down = {};  // likewise below
  std::size_t left = 0;                // its first column

  // Lines meet a node below the first letter of its name, so that a chain is a straight line.
  std::size_t offset() const { return node ? 2 : 0; }
  std::size_t line() const { return left + offset(); }
};
using Layer = std::vector<Item>;

std::string label_of(const Drawn& node) {
  return fmt::format("{} {}", sign_of(node.state), node.text);
}

// Layers are moved around by permutations, which keep the links between them right.
class Layout {
 public:
  Layout(std::span<const Drawn> nodes, const Graph& graph) {
    layers_.resize(*std::ranges::max_element(graph.layer) + 1);
    std::vector<std::size_t> place(nodes.size());
    for (Position i = 0; i < nodes.size(); ++i) {
      auto& layer = layers_[graph.layer[i]];
      place[i] = layer.size();
      layer.push_back({.node = i, .width = nodes[i].text.size() + 2});
    }
    for (Position i = 0; i < nodes.size(); ++i)
      for (const auto before : graph.before[i])
        connect({graph.layer[before], place[before]}, {graph.layer[i], place[i]});
    for (int round = 0; round < ordering_rounds; ++round) {
      for (std::size_t i = 1; i < layers_.size(); ++i) order(i, &Item::up);
      for (std::size_t i = layers_.size() - 1; i-- > 0;) order(i, &Item::down);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) set_columns(i);
  }

  const std::vector<Layer>& layers() const { return layers_; }
  std::size_t width() const {
    std::size_t widest = 0;
    for (const auto& layer : layers_)
      for (const auto& item : layer) widest = std::max(widest, item.left + item.width);
    return widest;
  }

 private:
  struct Place {
    std::size_t layer;
    std::size_t item;
  };

  void connect(Place from, Place to) {
    auto above = from;
    for (auto layer = from.layer + 1; layer <= to.layer; ++layer) {
      Place below = to;
      if (layer < to.layer) {
        below = {layer, layers_[layer].size()};
        layers_[layer].push_back({});
      }
      layers_[above.layer][above.item].down.push_back(below.item);
      layers_[below.layer][below.item].up.push_back(above.item);
      above = below;
    }
  }

  // Sorts a layer by the mean place of the neighbours; an item without neighbours keeps its place.
  void order(std::size_t index, std::vector<std::size_t> Item::*links) {
    auto& layer = layers_[index];
    std::vector<double> mean(layer.size());
    for (std::size_t i = 0; i < layer.size(); ++i) {
      const auto& neighbours = layer[i].*links;
      const auto sum = std::accumulate(neighbours.begin(), neighbours.end(), 0.0);
      mean[i] = neighbours.empty() ? static_cast<double>(i)
                                   : sum / static_cast<double>(neighbours.size());
    }
    std::vector<std::size_t> sorted(layer.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::stable_sort(sorted, {}, [&](std::size_t i) { return mean[i]; });
    std::vector<std::size_t> place(layer.size());
    Layer moved;
    for (const auto old : sorted) {
      place[old] = moved.size();
      moved.push_back(std::move(layer[old]));
    }
    layer = std::move(moved);
    if (index > 0) renumber(layers_[index - 1], &Item::down, place);
    if (index + 1 < layers_.size()) renumber(layers_[index + 1], &Item::up, place);
  }

  static void renumber(Layer& layer, std::vector<std::size_t> Item::*links,
                       const std::vector<std::size_t>& place) {
    for (auto& item : layer)
      for (auto& link : item.*links) link = place[link];
  }

  // Of the nodes among them; of the joints if there are no nodes.
  static std::size_t mean_line(const Layer& layer, const std::vector<std::size_t>& places) {
    const auto is_node = [&](std::size_t place) { return layer[place].node.has_value(); };
    const bool has_nodes = std::ranges::any_of(places, is_node);
    std::size_t sum = 0;
    std::size_t count = 0;
    for (const auto place : places) {
      if (has_nodes && !is_node(place)) continue;
      sum += layer[place].line();
      ++count;
    }
    return sum / count;
  }

  // From left to right, each item as near to the lines of those above it as its neighbour allows.
  void set_columns(std::size_t index) {
    std::size_t free = 0;
    for (auto& item : layers_[index]) {
      std::size_t wanted = free;
      if (!item.up.empty()) {
        const auto line = mean_line(layers_[index - 1], item.up);
        wanted = line > item.offset() ? line - item.offset() : 0;
      }
      item.left = std::max(free, wanted);
      free = item.left + item.width + gap;
    }
  }

  std::vector<Layer> layers_;
};

// ---- Lines --------------------------------------------------------------------------------------------

enum Direction : std::uint8_t { up = 1, down = 2, left = 4, right = 8 };

// By the directions of the lines in a cell.
constexpr std::array<std::string_view, 16> lines{" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                                 "─", "└", "┌", "├", "─", "┴", "┬", "┼"};

class LineRows {
 public:
  LineRows(std::size_t rows, std::size_t width)
      : cells_(rows, std::vector<std::uint8_t>(width, 0)) {}

  void vertical(std::size_t column, std::size_t from, std::size_t to) {
    for (auto row = from; row <= to; ++row) {
      cells_[row][column] |= row == from ? 0 : up;
      cells_[row][column] |= row == to ? 0 : down;
    }
  }
  void enter(std::size_t column) { cells_.front()[column] |= up; }
  void leave(std::size_t column) { cells_.back()[column] |= down; }
  void horizontal(std::size_t row, std::size_t from, std::size_t to) {
    for (auto column = from; column <= to; ++column) {
      cells_[row][column] |= column == from ? 0 : left;
      cells_[row][column] |= column == to ? 0 : right;
    }
  }

  std::string str() const {
    std::string text;
    for (const auto& row : cells_) {
      std::string line;
      for (const auto cell : row) line += lines[cell];
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  std::vector<std::vector<std::uint8_t>> cells_;
};

// The edges that leave one item.
struct Bundle {
  std::size_t from;                 // its column
  std::vector<std::size_t> to;      // the columns below
  std::size_t first = 0, last = 0;  // the columns of its track
  std::size_t track = 0;

  bool is_straight() const { return first == last; }
};

std::vector<Bundle> bundles_of(const Layer& above, const Layer& below) {
  std::vector<Bundle> bundles;
  for (const auto& item : above) {
    if (item.down.empty()) continue;
    Bundle bundle{.from = item.line(), .to = {}};
    for (const auto each : item.down) bundle.to.push_back(below[each].line());
    bundle.first = std::min(bundle.from, *std::ranges::min_element(bundle.to));
    bundle.last = std::max(bundle.from, *std::ranges::max_element(bundle.to));
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

// True if `a` must run above `b`: otherwise their vertical lines would lie upon each other.
bool must_be_above(const Bundle& a, const Bundle& b) {
  return std::ranges::find(b.to, a.from) != b.to.end();
}

// Lines that only meet in one item may share a track.
bool overlap(const Bundle& a, const Bundle& b) {
  const bool join = a.to.size() == 1 && a.to == b.to;
  return !join && a.first <= b.last && b.first <= a.last;
}

// Gives each bundle the highest track that is free and allowed; returns the number of tracks.
std::size_t set_tracks(std::vector<Bundle>& bundles) {
  std::size_t tracks = 1;
  std::vector<Bundle*> placed;
  std::vector<Bundle*> open;
  for (auto& bundle : bundles)
    if (!bundle.is_straight()) open.push_back(&bundle);
  while (!open.empty()) {
    const auto is_free = [&](const Bundle* each) {
      return std::ranges::none_of(
          open, [&](const Bundle* other) { return other != each && must_be_above(*other, *each); });
    };
    // In a circle of demands one of them is not met.
    auto next = std::ranges::find_if(open, is_free);
    if (next == open.end()) next = open.begin();
    auto& bundle = **next;
    for (const auto* other : placed)
      if (overlap(*other, bundle)) bundle.track = std::max(bundle.track, other->track + 1);
    tracks = std::max(tracks, bundle.track + 1);
    placed.push_back(&bundle);
    open.erase(next);
  }
  return tracks;
}

std::string lines_between(const Layer& above, const Layer& below, std::size_t width) {
  auto bundles = bundles_of(above, below);
  const auto tracks = set_tracks(bundles);
  LineRows rows(tracks, width);
  for (const auto& bundle : bundles) {
    rows.enter(bundle.from);
    for (const auto column : bundle.to) rows.leave(column);
    if (bundle.is_straight()) {
      rows.vertical(bundle.from, 0, tracks - 1);
      continue;
    }
    rows.vertical(bundle.from, 0, bundle.track);
    rows.horizontal(bundle.track, bundle.first, bundle.last);
    for (const auto column : bundle.to) rows.vertical(column, bundle.track, tracks - 1);
  }
  return rows.str();
}

std::string row_of(const Layer& layer, std::span<const Drawn> nodes, bool colours) {
  std::string line;
  std::size_t column = 0;
  for (const auto& item : layer) {
    line.append(item.left - column, ' ');
    if (item.node) {
      const auto& node = nodes[*item.node];
      const auto label = label_of(node);
      line += colours ? coloured(label, colour_of(to_string(node.state))) : label;
    } else {
      line += "│";
    }
    column = item.left + item.width;
  }
  return line + '\n';
}

// ---- Words --------------------------------------------------------------------------------------------

bool is_plain(const FlowNodeInfo& node) {
  return !node.subflow && !node.needed && !node.optional && std::ranges::all_of(node.after, [](const auto& each) {
    return each.on == DependsOn::succeeded;
  });
}

std::string notes_on(std::span<const Drawn> nodes) {
  std::string text;
  for (const auto& node : nodes) {
    if (is_plain(node)) continue;
    std::vector<std::string> notes;
    if (!node.after.empty()) notes.push_back("after " + shown_dependencies(node));
    if (node.optional) notes.emplace_back("optional");
    if (node.subflow) notes.push_back("flow " + node.subflow->str());
    text += fmt::format("  {}: {}\n", shown_name(node), fmt::join(notes, "; "));
  }
  return text;
}

std::string legend_of(std::span<const Drawn> nodes) {
  std::set<ExecutionState> states;
  for (const auto& node : nodes) states.insert(node.state);
  std::string text;
  for (const auto state : states)
    text += fmt::format("{}{} {}", text.empty() ? "" : "   ", sign_of(state), to_string(state));
  return text + '\n';
}

std::string a_line_per_node(std::span<const Drawn> nodes, const Graph& graph,
                            const Screen& screen) {
  std::vector<Position> order(nodes.size());
  std::iota(order.begin(), order.end(), Position{0});
  std::ranges::stable_sort(order, {}, [&](Position i) { return graph.layer[i]; });
  Table table({{.title = "layer", .align = Column::Align::right},
               {.title = "node", .fit = Column::Fit::keep},
               {.title = "after"}});
  for (const auto i : order)
    table.add({{std::to_string(graph.layer[i])},
               {label_of(nodes[i]), colour_of(to_string(nodes[i].state))},
               {shown_dependencies(nodes[i])}});
  return table.str(screen);
}

// Mermaid and DOT name nodes by their numbers: names may have any characters there.
template <class Write>
void for_each_edge(std::span<const Drawn> nodes, Write write) {
  std::map<ExecutionId, Position> positions;
  for (Position i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i].id, i);
  for (Position i = 0; i < nodes.size(); ++i)
    for (const auto& dependency : nodes[i].after)
      if (const auto found = positions.find(dependency.id); found != positions.end())
        write(found->second, i, dependency.on);
}

constexpr std::string_view fill_of(ExecutionState state) {
  switch (state) {
    case ExecutionState::completed: return "#d3f9d8";
    case ExecutionState::failed:
    case ExecutionState::expired: return "#ffe3e3";
    case ExecutionState::active: return "#d0ebff";
    case ExecutionState::delayed:
    case ExecutionState::cancelled:
    case ExecutionState::rate_limited:
    case ExecutionState::suspended: return "#fff3bf";
    case ExecutionState::skipped: return "#f1f3f5";
    case ExecutionState::waiting:
    case ExecutionState::waiting_children: return "#ffffff";
  }
  return "#ffffff";
}

}  // namespace

std::string shown_name(const FlowNodeInfo& node) {
  return node.name.str().empty() ? short_id(node.id) : node.name.str();
}

std::string shown_dependencies(const FlowNodeInfo& node) {
  std::string text;
  if (node.needed) text = fmt::format("{} of: ", *node.needed);
  constexpr std::size_t shown_max = 10;
  for (std::size_t i = 0; i < node.after.size(); ++i) {
    const auto& each = node.after[i];
    if (i > 0) text += ", ";
    if (i == shown_max) return text + fmt::format("… ({} in all)", node.after.size());
    text += each.node.str().empty() ? short_id(each.id) : each.node.str();
    if (each.on != DependsOn::succeeded) text += fmt::format(" ({})", to_string(each.on));
  }
  return text;
}

std::string draw_graph(std::span<const FlowNodeInfo> all, const Screen& screen) {
  if (all.empty()) return "";
  const auto nodes = drawn_of(all);
  const auto graph = graph_of(nodes);
  const auto legend = legend_of(nodes);
  if (nodes.size() > drawn_nodes_max) return a_line_per_node(nodes, graph, screen) + "\n" + legend;
  const Layout layout(nodes, graph);
  if (layout.width() > screen.width) return a_line_per_node(nodes, graph, screen) + "\n" + legend;
  const auto& layers = layout.layers();
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    text += row_of(layers[i], nodes, screen.colours);
    if (i + 1 < layers.size()) text += lines_between(layers[i], layers[i + 1], layout.width());
  }
  text += '\n' + legend;
  const auto notes = notes_on(nodes);
  return notes.empty() ? text : text + '\n' + notes;
}

std::string to_mermaid(std::span<const FlowNodeInfo> all) {
  const auto nodes = drawn_of(all);
  std::string text = "flowchart TD\n";
  std::set<ExecutionState> states;
  for (Position i = 0; i < nodes.size(); ++i) {
    text += fmt::format("  n{}[\"{}<br/>{}\"]:::{}\n", i, nodes[i].text,
                        to_string(nodes[i].state), to_string(nodes[i].state));
    states.insert(nodes[i].state);
  }
  for_each_edge(nodes, [&](Position from, Position to, DependsOn on) {
    if (on == DependsOn::succeeded)
      text += fmt::format("  n{} --> n{}\n", from, to);
    else
      text += fmt::format("  n{} -. {} .-> n{}\n", from, to_string(on), to);
  });
  for (const auto state : states)
    text += fmt::format("  classDef {} fill:{}\n", to_string(state), fill_of(state));
  return text;
}

std::string to_dot(std::span<const FlowNodeInfo> all) {
  const auto nodes = drawn_of(all);
  std::string text = "digraph flow {\n  node [shape=box, style=\"rounded,filled\"];\n";
  for (Position i = 0; i < nodes.size(); ++i)
    text += fmt::format("  n{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", i, nodes[i].text,
                        to_string(nodes[i].state), fill_of(nodes[i].state));
  for_each_edge(nodes, [&](Position from, Position to, DependsOn on) {
    if (on == DependsOn::succeeded)
      text += fmt::format("  n{} -> n{};\n", from, to);
    else
      text += fmt::format("  n{} -> n{} [label=\"{}\", style=dashed];\n", from, to, to_string(on));
  });
  return text + "}\n";
}

}  // namespace ff::cli
