#include "engine/bulks/bulk_matches.hpp"

#include "base/try.hpp"
#include "engine/starting/wait_reasons.hpp"

namespace ff {
namespace {

// A page of the store ends after so many looks, however few match.
constexpr std::uint64_t looks_of_short_page = 10'000;

}  // namespace

ListExecutions matches_of(const Namespace& ns, std::string where, std::uint32_t limit) {
  ListExecutions list{.ns = ns};
  list.where = std::move(where);
  list.limit = limit;
  return list;
}

Async<ExecutionList> read_matches(store::Store& store, WorkerCache& workers, ListExecutions list) {
  const auto filter = core::filter_of(list, store.now());
  FF_CO_TRY(filter);
  auto page = co_await store.run(std::move(list));
  FF_CO_TRY(page);
  const bool derives = !filter->states.empty() && filter->shows(ExecutionState::waiting) !=
                                                      filter->shows(ExecutionState::rate_limited);
  if (!derives) co_return page;
  WaitReasons reasons(store, workers);
  co_await reasons.show(page->executions);
  std::erase_if(page->executions,
                [&](const ExecutionInfo& each) { return !filter->shows(each.state); });
  co_return page;
}

Async<MatchCount> count_matches(store::Store& store, WorkerCache& workers, ListExecutions list) {
  MatchCount matches;
  for (std::uint64_t looks = 0; looks < limits::bulk_looks_max;) {
    const auto page = co_await read_matches(store, workers, list);
    FF_CO_TRY(page);
    matches.count += page->executions.size();
    if (!page->next) co_return matches;
    const bool is_full = page->executions.size() == list.limit;
    looks += is_full ? list.limit : looks_of_short_page;
    list.cursor = page->next;
  }
  matches.at_least = true;
  co_return matches;
}

}  // namespace ff
