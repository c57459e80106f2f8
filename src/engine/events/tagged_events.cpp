#include "engine/events/tagged_events.hpp"

#include <algorithm>

#include "engine/scanners/scanner_filter.hpp"

namespace ff {

asio::awaitable<void> keep_tagged(store::Store& store, std::string_view tag,
                                  std::vector<Event>& events) {
  std::vector<ExecutionId> ids;
  for (const auto& event : events) ids.push_back(event.id);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());

  const auto equals = tag.find('=');
  const ScannerFilter filter{
      .tag = {{std::string(tag.substr(0, equals)), std::string(tag.substr(equals + 1))}}};
  FilteredCandidates candidates(store, filter);
  const auto tagged = co_await candidates.own(std::move(ids));
  std::erase_if(events,
                [&](const Event& event) { return !std::ranges::binary_search(tagged, event.id); });
}

}  // namespace ff
