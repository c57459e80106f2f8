#include "store/embedded/resources/audit_log.hpp"

#include <algorithm>
#include <charconv>

#include "base/try.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

// Of one call: where many more are removed than added, the rest follows with the next ones.
constexpr std::uint64_t removed_max = 1'000;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// The number of the first entry in an order; none if the log is empty.
Result<std::optional<std::uint64_t>> first_in(const Database& database, Order order) {
  std::optional<std::uint64_t> found;
  auto visited = database.for_each({.prefix = std::string(keys::audit_prefix), .order = order},
                                   [&](std::string_view key, std::string_view) -> Result<Next> {
                                     const auto number = keys::parse_audit(key);
                                     FF_TRY(number);
                                     found = *number;
                                     return Next::stop;
                                   });
  FF_TRY(visited);
  return found;
}

// The first number whose entry is not from before `at`. Times grow with the numbers.
Result<std::uint64_t> number_at(const Database& database, TimePoint at) {
  const auto oldest = first_in(database, Order::forward);
  FF_TRY(oldest);
  const auto newest = first_in(database, Order::backward);
  FF_TRY(newest);
  if (!*oldest || !*newest) return 0;
  std::uint64_t low = **oldest;
  std::uint64_t high = **newest + 1;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    const auto bytes = database.get(keys::audit(middle));
    FF_TRY(bytes);
    const auto entry = *bytes ? decode_audit_entry(**bytes) : AuditEntry{};  // removed meanwhile: an old one
    FF_TRY(entry);
    if (entry->at < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

Result<void> AuditLog::restore(const Database& database) {
  const auto oldest = first_in(database, Order::forward);
  FF_TRY(oldest);
  const auto newest = first_in(database, Order::backward);
  FF_TRY(newest);
  if (!*oldest || !*newest) return {};
  first_ = **oldest;
  next_ = **newest + 1;
  return {};
}

void AuditLog::remove_oldest(Turn& turn) {
  turn.erase(keys::audit(first_));
  ++first_;
}

Result<Done> AuditLog::execute(const core::AppendAudit& command, Turn& turn) {
  auto entry = command.entry;
  entry.at = turn.now();
  turn.put(keys::audit(next_), encode(entry));
  ++next_;
  for (std::uint64_t i = 0; i < removed_max && next_ - first_ > command.entries_max; ++i)
    remove_oldest(turn);
  return Done{};
}

Result<std::size_t> AuditLog::execute(const core::TrimAudit& command, Turn& turn) {
  std::size_t removed = 0;
  while (removed < command.max && first_ < next_) {
    const auto bytes = turn.get(keys::audit(first_));
    FF_TRY(bytes);
    const auto entry = *bytes ? decode_audit_entry(**bytes) : AuditEntry{};
    FF_TRY(entry);
    if (entry->at >= command.before) break;
    remove_oldest(turn);
    ++removed;
  }
  return removed;
}

Result<AuditPage> read_audit(const Database& database, const ReadAudit& query) {
  Range range{.prefix = std::string(keys::audit_prefix), .order = Order::backward};
  if (query.until) {
    const auto end = number_at(database, *query.until);
    FF_TRY(end);
    range.after = keys::audit(*end);
  }
  if (query.after) {
    const auto number = number_in(*query.after);
    if (!number) return core::wrong_audit_cursor();
    range.after = range.after ? std::min(*range.after, keys::audit(*number)) : keys::audit(*number);
  }
  AuditPage page;
  std::size_t looked_at = 0;
  auto read = database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        const auto number = keys::parse_audit(key);
        FF_TRY(number);
        auto entry = decode_audit_entry(value);
        FF_TRY(entry);
        if (query.since && entry->at < *query.since) {
          page.next.reset();
          return Next::stop;
        }
        // Only now it is known that there is another one.
        if (page.entries.size() == query.limit || looked_at == core::audit_looked_at_max) {
          page.next = std::to_string(*number + 1);
          return Next::stop;
        }
        ++looked_at;
        entry->id = std::to_string(*number);
        if (core::matches(query, *entry)) page.entries.push_back(std::move(*entry));
        return Next::go_on;
      });
  FF_TRY(read);
  return page;
}

}  // namespace ff::embedded
