#include "http/server/streams/event_stream.hpp"

#include <algorithm>
#include <charconv>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "base/try.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

namespace beast = boost::beast;

namespace {

constexpr std::uint32_t events_per_read = 100;

// Of the events of a page that was read after the place `after`, without the first `seen`.
std::string event_text(const EventPage& page, std::string_view after, std::size_t seen) {
  std::string text;
  if (page.missed && page.events.empty()) text += fmt::format("id: {}\n", page.next);
  if (page.missed) text += "event: missed\ndata: {}\n\n";
  for (auto i = seen; i < page.events.size(); ++i) {
    const auto& event = page.events[i];
    const bool last = i + 1 == page.events.size();
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n",
                        last ? page.next : fmt::format("{}~{}", after, i + 1),
                        to_string(event.type), json::serialize(to_fields(event)));
  }
  return text;
}

// How much a media range of an Accept header is wanted: its parameter q, 0 to 1.
double quality_of(std::string_view parameters) {
  const beast::http::param_list list(parameters);
  for (const auto& [name, value] : list) {
    if (!beast::iequals(name, "q")) continue;
    double quality = 0;
    std::from_chars(value.data(), value.data() + value.size(), quality);
    return quality;
  }
  return 1;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

// The best one named; the first of equals.
bool prefers_event_stream(std::string_view accept) {
  bool is_stream = false;
  double best = 0;
  while (!accept.empty()) {
    const auto comma = std::min(accept.find(','), accept.size());
    const auto range = accept.substr(0, comma);
    const auto semicolon = std::min(range.find(';'), range.size());
    const auto type = trimmed(range.substr(0, semicolon));
    const bool names_stream = beast::iequals(type, event_stream_type);
    const auto quality = quality_of(range.substr(semicolon));
    if ((names_stream || beast::iequals(type, "application/json")) && quality > best) {
      best = quality;
      is_stream = names_stream;
    }
    accept.remove_prefix(std::min(accept.size(), comma + 1));
  }
  return is_stream;
}

EventStream::EventStream(Engine& engine, ReadEvents query)
    : engine_(engine), query_(std::move(query)) {
  const auto tilde = query_.after ? query_.after->rfind('~') : std::string::npos;
  if (tilde == std::string::npos) return;
  std::uint32_t count = 0;
  const auto* end = query_.after->data() + query_.after->size();
  const auto [rest, wrong] = std::from_chars(query_.after->data() + tilde + 1, end, count);
  // Otherwise the engine refuses the place.
  if (wrong != std::errc{} || rest != end || count > events_per_read) return;
  seen_ = count;
  query_.after->resize(tilde);
}

Async<std::string> EventStream::read(Millis wait) {
  query_.limit = query_.after ? events_per_read + seen_ : 1;
  query_.wait = wait;
  auto page = co_await engine_.run(query_);
  // The place is gone, so nothing can be counted from it: the next place is right behind the first event.
  if (page && page->missed) seen_ = 0;
  if (page && page->missed && page->events.size() > 1) {
    query_.limit = 1;
    page = co_await engine_.run(query_);
  }
  FF_CO_TRY(page);
  auto text = event_text(*page, query_.after.value_or(""), std::exchange(seen_, 0));
  query_.after = page->next;
  co_return text;
}

void EventStream::step_back() {
  query_.after = after_before_;
  seen_ = seen_before_;
}

Async<std::string> EventStream::begin(std::size_t) {
  after_before_ = query_.after;
  seen_before_ = seen_;
  auto text = co_await read(Millis{0});
  if (text && text->empty()) text = fmt::format("id: {}\n\n", *query_.after);
  co_return text;
}

Async<std::string> EventStream::next(Millis silence_max, std::size_t bytes_max) {
  after_before_ = query_.after;
  seen_before_ = seen_;
  std::string text;
  Millis wait = silence_max;
  while (text.size() < bytes_max) {
    const auto more = co_await read(wait);
    FF_CO_TRY(more);
    if (more->empty()) break;
    text += *more;
    wait = Millis{0};
  }
  co_return text.empty() ? std::string(still_here) : text;
}

}  // namespace ff::http
