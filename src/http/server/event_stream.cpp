#include "http/server/event_stream.hpp"

#include "base/try.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

constexpr std::size_t text_bytes_max = 64 * 1024;

std::string event_text(const EventPage& page) {
  std::string text;
  if (page.missed && page.events.empty()) text += fmt::format("id: {}\n", page.next);
  if (page.missed) text += "event: missed\ndata: {}\n\n";
  for (const auto& event : page.events)
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", page.next, to_string(event.type),
                        json::serialize(to_fields(event)));
  return text;
}

}  // namespace

// One event at a time, so that each has a place of its own.
Async<EventPage> EventStream::read(Millis wait) {
  query_.limit = 1;
  query_.wait = wait;
  auto page = co_await engine_.run(query_);
  if (page) query_.after = page->next;
  co_return page;
}

Async<std::string> EventStream::begin() {
  const auto page = co_await read(Millis{0});
  FF_CO_TRY(page);
  auto text = event_text(*page);
  co_return text.empty() ? fmt::format("id: {}\n\n", page->next) : text;
}

Async<std::string> EventStream::next(Millis silence_max) {
  std::string text;
  Millis wait = silence_max;
  while (text.size() < text_bytes_max) {
    const auto page = co_await read(wait);
    FF_CO_TRY(page);
    const auto more = event_text(*page);
    if (more.empty()) break;
    text += more;
    wait = Millis{0};
  }
  co_return text.empty() ? ": still here\n\n" : text;
}

}  // namespace ff::http
