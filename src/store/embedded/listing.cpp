#include "store/embedded/listing.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/filters/filter.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/records.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

constexpr std::size_t looked_at_max = 10'000;  // of one page, whether they match or not

// A cursor is the place of the last execution that was looked at, in hex.
std::string to_cursor(const keys::Moment& moment) {
  std::string text;
  for (const char byte : keys::moment(moment))
    text += fmt::format("{:02x}", static_cast<std::uint8_t>(byte));
  return text;
}

Result<Range> range_of(const ListExecutions& query, const core::Filter& filter) {
  Range range{.prefix = keys::by_time_of(query.ns), .order = Order::backward};
  if (!filter.tags.empty()) {
    const auto& [tag, value] = *filter.tags.begin();
    range.prefix = keys::by_tag_of(query.ns, tag, value);
  }
  if (filter.created.before)
    range.after = range.prefix +
                  keys::moment({.at = *filter.created.before, .id = ExecutionId{}}).substr(0, 8);
  if (query.cursor) {
    auto place = from_cursor(*query.cursor);
    FF_TRY(place);
    auto after = range.prefix + *place;
    if (!range.after || after < *range.after) range.after = std::move(after);
  }
  return range;
}

}  // namespace

Result<std::string> from_cursor(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto* end = text.data() + i + 2;
    const auto parsed = std::from_chars(text.data() + i, end, byte, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != end) break;
    bytes += static_cast<char>(byte);
  }
  const auto moment = keys::parse_moment(bytes);
  if (!moment || to_cursor(*moment) != text)
    return fail_field(Errc::invalid_input, "cursor",
                      "cursor must be `next` of an earlier page, unchanged");
  return bytes;
}

Result<std::optional<core::Execution>> load_execution(const Database& database,
                                                      const ExecutionId& id) {
  // It may end, or be replayed, between two looks.
  for (const auto& key : {keys::live(id), keys::ended(id), keys::live(id)}) {
    const auto bytes = database.get(key);
    FF_TRY(bytes);
    if (*bytes) return decode(id, **bytes);
  }
  return std::nullopt;
}

std::string list_cursor(TimePoint created_at, const ExecutionId& id) {
  return to_cursor({.at = created_at, .id = id});
}

Result<ExecutionList> list(const Database& database, const ListExecutions& query, TimePoint now) {
  const auto filter = core::filter_of(query, now);
  FF_TRY(filter);
  const auto range = range_of(query, *filter);
  FF_TRY(range);
  ExecutionList page;
  std::size_t looked_at = 0;
  const auto visit = [&](std::string_view key, std::string_view) -> Result<Next> {
    const auto moment = keys::parse_moment(key);
    FF_TRY(moment);
    if (filter->created.from && moment->at < *filter->created.from) return Next::stop;
    const auto execution = load_execution(database, moment->id);
    FF_TRY(execution);
    if (*execution && core::may_match(*filter, **execution))
      page.executions.push_back(core::info_of(**execution));
    if (page.executions.size() < query.limit && ++looked_at < looked_at_max) return Next::go_on;
    page.next = to_cursor(*moment);
    return Next::stop;
  };
  FF_TRY(database.for_each(*range, visit));
  return page;
}

Result<store::DueReply> retention_due(const Database& database, RetentionMark& mark, TimePoint now,
                                      std::size_t max) {
  store::DueReply reply;
  auto first = TimePoint::max();
  const auto visit = [&](std::string_view key, std::string_view) -> Result<Next> {
    const auto moment = keys::parse_moment(key);
    FF_TRY(moment);
    first = std::min(first, moment->at);
    if (moment->at > now || reply.due.size() == max) {
      reply.next = moment->at;
      return Next::stop;
    }
    reply.due.push_back(moment->id);
    return Next::go_on;
  };
  FF_TRY(database.for_each({.prefix = std::string(keys::retention_prefix),
                            .after = keys::retention(mark.begin_look(), ExecutionId{})},
                           visit));
  mark.end_look(first);
  return reply;
}

}  // namespace ff::embedded
