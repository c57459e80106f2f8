#include "store/valkey/caches/paused_lanes_mirror.hpp"

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/operator_calls.hpp"

namespace ff::valkey_store {
namespace {

constexpr Millis look_interval{500};
constexpr std::string_view version_field = "version";

std::uint16_t slot() {
  static const keys::Partition place{std::string(keys::lanes_tag)};
  return place.slot;
}

}  // namespace

void PausedLanesMirror::set_sink(std::function<void()> on_change) {
  const std::lock_guard lock(sink_mutex_);
  on_change_ = std::move(on_change);
}

void PausedLanesMirror::look() { wakeup_.wake(); }

Async<std::string> PausedLanesMirror::read_version() {
  Request request{.command = {"HGET", keys::paused_lanes(), std::string(version_field)},
                  .route = slot()};
  auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
  FF_CO_TRY(reply);
  if (const auto* error = reply->as_error()) co_return server_error(*error);
  co_return text_in(*reply);
}

Async<std::size_t> PausedLanesMirror::refresh() {
  Request request{.command = {"HGETALL", keys::paused_lanes()}, .route = slot()};
  auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
  FF_CO_TRY(reply);
  if (const auto* error = reply->as_error()) co_return server_error(*error);
  const auto* flat = reply->as_array();
  if (!flat) co_return malformed("HGETALL");
  core::PausedLanes::All all;
  version_.clear();
  for (std::size_t i = 0; i + 1 < flat->size(); i += 2) {
    const auto name = text_in((*flat)[i]);
    auto text = text_in((*flat)[i + 1]);
    if (name == version_field)
      version_ = std::move(text);
    else if (auto lane = parse_paused_lane(name, text))
      all.insert(std::move(*lane));
  }
  const auto count = all.size();
  if (paused_.replace(std::move(all))) {
    const std::lock_guard lock(sink_mutex_);
    on_change_();
  }
  co_return count;
}

asio::awaitable<void> PausedLanesMirror::keep_up() {
  while (!parts_.background.is_stopping()) {
    co_await wakeup_.wait_until(std::chrono::steady_clock::now() + look_interval);
    if (parts_.background.is_stopping()) co_return;
    const auto version = co_await read_version();
    if (version && *version != version_) static_cast<void>(co_await refresh());
  }
}

}  // namespace ff::valkey_store
