#include "cli/event_stream.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "sdk/blocking.hpp"

namespace ff::cli {
namespace {

// How long a signal may go unnoticed.
constexpr Millis wait_for_events = std::chrono::seconds{1};

volatile std::sig_atomic_t signalled = 0;

}  // namespace

EventStream::EventStream(Engine& engine, ReadEvents query)
    : engine_(engine), query_(std::move(query)) {
  const auto remember = [](int) { signalled = 1; };
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
}

Result<EventPage> EventStream::next(Page page) {
  query_.limit =
      page.limit == 0 ? limits::events_page_max : std::min(page.limit, limits::events_page_max);
  query_.wait = page.wait ? wait_for_events : Millis{0};
  auto events = run_blocking(engine_, query_);
  if (!events) return events;
  query_.after = events->next;
  if (events->missed)
    fmt::print(stderr, "ff: some events are missing here: they are not kept any more\n");
  return events;
}

bool EventStream::stopped() const { return signalled != 0; }

void print_event(const Context& context, const Event& event) {
  const auto fields = http::to_fields(event);
  if (context.json) {
    print_json(fields);
  } else {
    const auto type = fmt::format("{:<16}", to_string(event.type));
    const bool colours = standard_output().colours;
    fmt::print("{}  {}  {}  {}/{}\n", for_people("at_ms", fields.at("at_ms")),
               colours ? coloured(type, colour_of(to_string(event.type))) : type, event.id.str(),
               event.lane.str(), event.kind.str());
  }
  std::fflush(stdout);
}

}  // namespace ff::cli
