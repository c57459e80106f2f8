#include "cli/event_stream.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli {
namespace {

constexpr Millis wait_for_events = std::chrono::seconds{20};
constexpr Millis answer_time = std::chrono::seconds{30};  // beyond the wait

}  // namespace

Result<EventPage> EventStream::next(Page page) {
  // Without a place to begin at, the first answer says where that is, so that a stop before the first event
  // can tell.
  const bool begins = !query_.after;
  query_.limit =
      page.limit == 0 ? limits::events_page_max : std::min(page.limit, limits::events_page_max);
  query_.wait = page.wait && !begins ? wait_for_events : Millis{0};
  auto events = run_within({.timeout = query_.wait + answer_time, .stop = stop_}, engine_, query_);
  if (!events && stop_.stop_requested()) return EventPage{{}, query_.after.value_or("")};
  if (!events) return events;
  query_.after = events->next;
  if (events->missed)
    fmt::print(stderr, "ff: some events are missing here: they are not kept any more\n");
  return events;
}

void print_event(const Context& context, const Event& event) {
  const auto fields = http::to_fields(event);
  if (context.json) {
    print_json(fields);
  } else {
    const auto type = fmt::format("{:<16}", to_string(event.type));
    const bool colours = standard_output().colours;
    const auto subject =
        is_of_flow(event.type) && event.flow
            ? fmt::format("{}  {}", event.flow->str(), event.kind.str())
            : fmt::format("{}  {}/{}", short_id(event.id), event.lane.str(), event.kind.str());
    fmt::print("{}  {}  {}\n", for_people("at_ms", fields.at("at_ms")),
               colours ? coloured(type, colour_of(to_string(event.type))) : type, subject);
  }
  flush_output();
}

}  // namespace ff::cli
