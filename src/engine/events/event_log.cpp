#include "engine/events/event_log.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace ff {
namespace {

bool matches(const Event& event, const ReadEvents& query) {
  return (!query.ns || event.ns == *query.ns) && (!query.lane || event.lane == *query.lane) &&
         (!query.kind || event.kind == *query.kind) && (!query.id || event.id == *query.id) &&
         (query.types.empty() || std::ranges::find(query.types, event.type) != query.types.end());
}

}  // namespace

void EventLog::append(std::span<const core::Happening> happenings) {
  const std::lock_guard lock(mutex_);
  for (const auto& happening : happenings) events_.push_back(happening.event);
  end_ += happenings.size();
  while (events_.size() > max_) events_.pop_front();
}

Result<EventPage> EventLog::read(const ReadEvents& query) const {
  const auto after = query.after ? parse(*query.after) : Result<Place>{};
  if (!after) return std::unexpected(after.error());

  const std::lock_guard lock(mutex_);
  EventPage page;
  const auto first = end_ - events_.size();
  auto number = query.after ? after->number : end_;
  page.missed = query.after && (!after->of_this_log || number < first);
  if (page.missed || number > end_) number = first;
  while (number < end_ && page.events.size() < query.limit) {
    const auto& event = events_[number - first];
    if (matches(event, query)) page.events.push_back(event);
    ++number;
  }
  page.next = place(number);
  return page;
}

std::string EventLog::end() const {
  const std::lock_guard lock(mutex_);
  return place(end_);
}

std::string EventLog::place(std::uint64_t number) const {
  return fmt::format("{}-{}", name_, number);
}

Result<EventLog::Place> EventLog::parse(const std::string& text) const {
  const auto dash = text.rfind('-');
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto* digits = text.data() + (dash == std::string::npos ? text.size() : dash + 1);
  const auto parsed = std::from_chars(digits, end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return fail_field(Errc::invalid_input, "after",
                      "after must be `next` of an earlier page, unchanged");
  return Place{.of_this_log = text.substr(0, dash) == name_, .number = number};
}

}  // namespace ff
