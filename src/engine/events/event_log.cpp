#include "engine/events/event_log.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/try.hpp"

namespace ff {

bool matches(const Event& event, const ReadEvents& query) {
  return (!query.ns || event.ns == *query.ns) && (!query.lane || event.lane == *query.lane) &&
         (!query.kind || event.kind == *query.kind) && (!query.id || event.id == *query.id) &&
         (!query.flow || event.flow == query.flow) &&
         (query.types.empty() || std::ranges::find(query.types, event.type) != query.types.end());
}

void EventLog::append(std::span<const core::ExecutionChange> changes) {
  const std::lock_guard lock(mutex_);
  for (const auto& change : changes) events_.push_back(std::make_shared<const Event>(change.event));
  end_ += changes.size();
  while (events_.size() > max_) events_.pop_front();
}

// As if one had come, and all were gone already.
void EventLog::note_gap() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  ++end_;
}

Result<EventPage> EventLog::read(const ReadEvents& query) const {
  const auto after = query.after ? parse(*query.after) : Result<Position>{};
  FF_TRY(after);

  const std::lock_guard lock(mutex_);
  EventPage page;
  const auto first = end_ - events_.size();
  auto number = query.after ? after->number : end_;
  page.missed = query.after && (!after->of_this_log || number < first || number > end_);
  if (page.missed) number = first;
  while (number < end_ && page.events.size() < query.limit) {
    const auto& event = *events_[number - first];
    if (matches(event, query)) page.events.push_back(event);
    ++number;
  }
  page.next = place(number);
  return page;
}

std::uint64_t EventLog::end_number() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

EventLog::Slice EventLog::since(std::uint64_t number, std::size_t max) const {
  const std::lock_guard lock(mutex_);
  const auto oldest = end_ - events_.size();
  Slice slice{.first = std::max(number, oldest), .events = {}};
  for (auto at = slice.first; at < end_ && slice.events.size() < max; ++at)
    slice.events.push_back(events_[at - oldest]);
  return slice;
}

std::uint64_t EventLog::number_of(std::string_view place) const {
  const auto position = parse(place);
  FF_ASSERT(position && position->of_this_log);
  return position->number;
}

std::string EventLog::place(std::uint64_t number) const {
  return fmt::format("{}-{}", name_, number);
}

Result<EventLog::Position> EventLog::parse(std::string_view text) const {
  const auto dash = text.rfind('-');
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto* digits = text.data() + (dash == std::string_view::npos ? text.size() : dash + 1);
  const auto parsed = std::from_chars(digits, end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return fail_field(Errc::invalid_input, "after",
                      "after must be `next` of an earlier page, unchanged");
  return Position{.of_this_log = text.substr(0, dash) == name_, .number = number};
}

}  // namespace ff
