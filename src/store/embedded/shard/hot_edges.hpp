// The open edges of flows that a shard has in memory, so that the end of a node reads none from the database.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/flows/flow.hpp"

namespace ff::embedded {

// A cache: the database has the same edges. Not thread-safe.
class HotEdges {
 public:
  explicit HotEdges(std::size_t edges_max) : edges_max_(edges_max) {}

  void add(const core::Edge& edge);

  // An edge that is decided leaves. True if it is kept here.
  bool put(const core::Edge& edge);

  // Null if it is not here.
  const core::Edge* find(const core::EdgeId& id) const;

  // At most `max` edges out of a node, in order, from behind `after`. None if not all of its `count` edges are
  // known here.
  std::optional<std::vector<core::EdgeId>> out_of(const ExecutionId& upstream, std::uint32_t count,
                                                  const std::optional<core::EdgeId>& after,
                                                  std::size_t max);

  // The node is removed.
  void erase(const ExecutionId& upstream);

  // Starts anew if there are too many.
  void shrink();

 private:
  struct Out {
    std::vector<core::EdgeId> edges;  // decided ones, too
    std::size_t open = 0;
    bool sorted = true;
  };

  std::size_t edges_max_;
  std::unordered_map<core::EdgeId, core::Edge> open_;
  std::unordered_map<ExecutionId, Out> out_;  // by upstream node
};

}  // namespace ff::embedded
