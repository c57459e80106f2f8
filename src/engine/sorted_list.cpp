#include "engine/sorted_list.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/try.hpp"
#include "engine/bulks/bulk_matches.hpp"
#include "engine/starting/wait_reasons.hpp"

namespace ff {
namespace {

// Ascending: the smallest comes first.
struct SortKey {
  std::int64_t number = 0;
  ExecutionId id;
  auto operator<=>(const SortKey&) const = default;
};

std::int64_t number_of(const ExecutionInfo& execution, ListOrder order) {
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const auto ms = [](TimePoint time) { return time.time_since_epoch().count(); };
  const auto& ended = execution.completed_at;
  switch (order) {
    case ListOrder::newest: return -ms(execution.created_at);
    case ListOrder::oldest: return ms(execution.created_at);
    case ListOrder::ended_newest: return ended ? -ms(*ended) : last;
    case ListOrder::ended_oldest: return ended ? ms(*ended) : last;
    case ListOrder::priority_highest: return -std::int64_t{execution.priority};
    case ListOrder::priority_lowest: return execution.priority;
  }
  return 0;
}

SortKey key_of(const ExecutionInfo& execution, ListOrder order) {
  return {.number = number_of(execution, order), .id = execution.id};
}

// "ORDER:NUMBER:ID"
std::string to_cursor(const SortKey& key, ListOrder order) {
  return fmt::format("{}:{}:{}-{}", to_string(order), key.number, key.id.partition(),
                     key.id.uuid().str());
}

Result<SortKey> from_cursor(std::string_view text, ListOrder order) {
  const auto prefix = fmt::format("{}:", to_string(order));
  const auto rest = text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view{};
  const auto colon = rest.find(':');
  if (colon != std::string_view::npos) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + colon, number);
    const auto id = ExecutionId::parse(rest.substr(colon + 1));
    if (failed == std::errc{} && end == rest.data() + colon && id)
      return SortKey{.number = number, .id = *id};
  }
  return fail_field(Errc::invalid_input, "cursor",
                    "cursor must be `next` of an earlier page in the same order, unchanged");
}

// All that the filter matches.
Async<std::vector<ExecutionInfo>> read_all(store::Store& store, WorkerCache& workers,
                                           ListExecutions list) {
  list.cursor = std::nullopt;
  list.limit = static_cast<std::uint32_t>(limits::sorted_looks_max);
  auto page = co_await read_matches(store, workers, std::move(list));
  FF_CO_TRY(page);
  if (page->next)
    co_return fail_field(
        Errc::invalid_input, "order",
        fmt::format(
            "this order looks at every execution that may match, and there are more than {}; "
            "narrow the list by created or a tag, or take the order newest",
            limits::sorted_looks_max));
  co_return std::move(page->executions);
}

}  // namespace

Async<ExecutionList> sorted_page(store::Store& store, WorkerCache& workers, ListExecutions list) {
  const auto order = list.order;
  const auto limit = list.limit;
  std::optional<SortKey> after;
  if (list.cursor) {
    const auto cursor = from_cursor(*list.cursor, order);
    FF_CO_TRY(cursor);
    after = *cursor;
  }
  auto all = co_await read_all(store, workers, std::move(list));
  FF_CO_TRY(all);
  if (after)
    std::erase_if(*all, [&](const ExecutionInfo& each) { return key_of(each, order) <= *after; });
  const auto shown = std::min<std::size_t>(limit, all->size());
  std::ranges::partial_sort(*all, all->begin() + static_cast<std::ptrdiff_t>(shown), {},
                            [&](const ExecutionInfo& each) { return key_of(each, order); });
  ExecutionList page;
  if (shown < all->size()) page.next = to_cursor(key_of((*all)[shown - 1], order), order);
  all->resize(shown);
  page.executions = std::move(*all);
  WaitReasons reasons(store, workers);
  co_await reasons.show(page.executions);
  co_return page;
}

}  // namespace ff
