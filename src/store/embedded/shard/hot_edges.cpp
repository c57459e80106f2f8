#include "store/embedded/shard/hot_edges.hpp"

#include <algorithm>
#include <utility>

namespace ff::embedded {

void HotEdges::add(const core::Edge& edge) {
  if (edge.state != core::EdgeState::pending) return;
  open_.insert_or_assign(edge.id, edge);
  auto& out = out_[edge.upstream];
  out.sorted = out.edges.empty() || (out.sorted && out.edges.back() < edge.id);
  out.edges.push_back(edge.id);
  ++out.open;
}

bool HotEdges::put(const core::Edge& edge) {
  const auto found = open_.find(edge.id);
  if (found == open_.end()) return false;
  if (edge.state == core::EdgeState::pending) {
    found->second = edge;
    return true;
  }
  open_.erase(found);
  const auto out = out_.find(edge.upstream);
  if (out != out_.end() && --out->second.open == 0) out_.erase(out);
  return false;
}

const core::Edge* HotEdges::find(const core::EdgeId& id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

std::optional<std::vector<core::EdgeId>> HotEdges::out_of(const ExecutionId& upstream,
                                                          std::uint32_t count,
                                                          const std::optional<core::EdgeId>& after,
                                                          std::size_t max) {
  const auto found = out_.find(upstream);
  if (found == out_.end() || found->second.edges.size() != count) return std::nullopt;
  auto& [edges, open, sorted] = found->second;
  if (!std::exchange(sorted, true)) std::ranges::sort(edges);
  const auto first = after ? std::ranges::upper_bound(edges, *after) : edges.begin();
  const auto size = std::min<std::ptrdiff_t>(edges.end() - first, static_cast<std::ptrdiff_t>(max));
  return std::vector(first, first + size);
}

void HotEdges::erase(const ExecutionId& upstream) {
  const auto found = out_.find(upstream);
  if (found == out_.end()) return;
  for (const auto& edge : found->second.edges) open_.erase(edge);
  out_.erase(found);
}

void HotEdges::shrink() {
  if (open_.size() <= edges_max_) return;
  open_.clear();
  out_.clear();
}

}  // namespace ff::embedded
