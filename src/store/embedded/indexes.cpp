#include "store/embedded/indexes.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/overloaded.hpp"

namespace ff::embedded {

void Indexes::add(const core::Execution& execution) {
  std::visit(Overloaded{
                 [&](const core::Ready& ready) {
                   ready_[{execution.ns, execution.lane}].emplace(ready.score, execution.id);
                 },
                 [&](const core::Leased& leased) {
                   leased_.insert({leased.expires_at, execution.id});
                 },
                 [](const core::Ended&) {},
             },
             core::placement(execution));
}

void Indexes::remove(const core::Execution& execution) {
  std::visit(Overloaded{
                 [&](const core::Ready& ready) {
                   const auto queue = ready_.find({execution.ns, execution.lane});
                   FF_ASSERT(queue != ready_.end());
                   const auto erased = queue->second.erase({ready.score, execution.id});
                   FF_ASSERT(erased == 1);
                   if (queue->second.empty()) ready_.erase(queue);
                 },
                 [&](const core::Leased& leased) {
                   const auto erased = leased_.erase({leased.expires_at, execution.id});
                   FF_ASSERT(erased == 1);
                 },
                 [](const core::Ended&) {},
             },
             core::placement(execution));
}

std::vector<store::Candidate> Indexes::ready_heads(const store::ReadyHeads& query) const {
  std::vector<store::Candidate> heads;
  for (const auto& lane : query.lanes) {
    const auto queue = ready_.find({query.ns, lane});
    if (queue == ready_.end()) continue;
    std::size_t left = query.max;
    for (const auto& [score, id] : queue->second) {
      if (left-- == 0) break;
      heads.push_back({.id = id, .score = score});
    }
  }
  return first(std::move(heads), query.max);
}

std::vector<store::LeaseDue> Indexes::leases_due(TimePoint now, std::size_t max) const {
  std::vector<store::LeaseDue> due;
  for (const auto& lease : leased_) {
    if (lease.expired_at > now || due.size() == max) break;
    due.push_back(lease);
  }
  return due;
}

std::vector<store::Candidate> first(std::vector<store::Candidate> candidates, std::size_t max) {
  std::ranges::sort(candidates, {}, [](const store::Candidate& candidate) {
    return std::pair(candidate.score, candidate.id);
  });
  // A lane that was asked for twice gives its heads twice.
  const auto repeated = std::ranges::unique(candidates, {}, &store::Candidate::id);
  candidates.erase(repeated.begin(), repeated.end());
  if (candidates.size() > max) candidates.resize(max);
  return candidates;
}

std::vector<store::LeaseDue> first(std::vector<store::LeaseDue> due, std::size_t max) {
  std::ranges::sort(due);
  if (due.size() > max) due.resize(max);
  return due;
}

}  // namespace ff::embedded
