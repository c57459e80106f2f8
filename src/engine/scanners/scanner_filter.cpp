#include "engine/scanners/scanner_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/utf8.hpp"

namespace ff {

bool ScannerFilter::matches(const ExecutionInfo& execution) const {
  if (ns && execution.ns != *ns) return false;
  if (!tag) return true;
  const auto found = execution.tags.find(tag->first);
  return found != execution.tags.end() && found->second == tag->second;
}

std::string ScannerFilter::str() const {
  std::vector<std::string> parts;
  if (ns) parts.push_back(fmt::format("namespace={}", ns->str()));
  if (tag) parts.push_back(fmt::format("tag={}={}", printable(tag->first), printable(tag->second)));
  return fmt::format("{}", fmt::join(parts, " "));
}

asio::awaitable<std::vector<ExecutionId>> FilteredCandidates::own(
    std::vector<ExecutionId> candidates) {
  if (filter_.is_empty()) co_return candidates;
  forget_in_time();
  std::vector<GetExecution> queries;
  for (const auto& id : candidates)
    if (!others_.contains(id)) queries.push_back({id});
  const auto executions = co_await store_.run_all(queries);
  std::vector<ExecutionId> found;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (!executions[i]) continue;
    if (filter_.matches(*executions[i]))
      found.push_back(queries[i].id);
    else if (others_.size() < others_max)
      others_.insert(queries[i].id);
  }
  co_return found;
}

void FilteredCandidates::forget_in_time() {
  if (store_.now() < forget_at_) return;
  others_.clear();
  forget_at_ = store_.now() + remembered_for;
}

}  // namespace ff
