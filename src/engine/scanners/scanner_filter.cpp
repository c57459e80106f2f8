#include "engine/scanners/scanner_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/utf8.hpp"

namespace ff {

namespace {

bool matches(const ScannerFilter& filter, const Namespace& ns, const Tags& tags) {
  if (filter.ns && ns != *filter.ns) return false;
  if (!filter.tag) return true;
  const auto found = tags.find(filter.tag->first);
  return found != tags.end() && found->second == filter.tag->second;
}

}  // namespace

bool ScannerFilter::matches(const ExecutionInfo& execution) const {
  return ff::matches(*this, execution.ns, execution.tags);
}
bool ScannerFilter::matches(const FlowInfo& flow) const {
  return ff::matches(*this, flow.ns, flow.tags);
}

asio::awaitable<std::vector<FlowId>> own_flows(store::Store& store, const ScannerFilter& filter,
                                               std::vector<FlowId> flows) {
  if (filter.is_empty()) co_return flows;
  std::vector<core::ReadFlow> queries;
  for (const auto& id : flows) queries.push_back({id});
  const auto found = co_await store.run_all(std::move(queries));
  std::vector<FlowId> own;
  for (std::size_t i = 0; i < flows.size(); ++i)
    if (found[i] && filter.matches(*found[i])) own.push_back(flows[i]);
  co_return own;
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
  std::vector<core::ReadFlow> flow_queries;  // of those that are no executions
  for (std::size_t i = 0; i < queries.size(); ++i)
    if (!executions[i] && executions[i].error().code == Errc::execution_not_found)
      flow_queries.push_back({FlowId{queries[i].id.uuid()}});
  const auto flows = co_await store_.run_all(std::move(flow_queries));
  std::vector<ExecutionId> found;
  std::size_t next_flow = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::optional<bool> matches;
    if (executions[i])
      matches = filter_.matches(*executions[i]);
    else if (executions[i].error().code == Errc::execution_not_found)
      if (const auto& flow = flows[next_flow++]) matches = filter_.matches(*flow);
    if (!matches) continue;
    if (*matches)
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
