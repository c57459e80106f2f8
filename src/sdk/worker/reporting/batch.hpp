// Many items in one call: how many fit, and what came of each.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/limits.hpp>

#include <functional>
#include <ranges>

namespace ff {

// How many of the first items fit into one call, at least 1; `bytes` of an item is what it carries.
template <std::ranges::input_range Items, class Bytes>
std::size_t batch_size(const Items& items, Bytes bytes) {
  std::size_t count = 0, total = 0;
  for (const auto& item : items) {
    total += std::invoke(bytes, item);
    const bool full = count == limits::batch_items_max || total > limits::batch_bytes_max;
    if (count > 0 && full) break;
    ++count;
  }
  return count;
}

// Result of the i-th item, for a reply with `results`.
template <class Reply>
auto item_result(const Result<Reply>& reply, std::size_t i) {
  using Item = std::remove_cvref_t<decltype(reply->results[i])>;
  if (!reply) return Item(std::unexpected(reply.error()));
  if (i < reply->results.size()) return reply->results[i];
  return Item(
      fail(Errc::malformed_response, "the engine did not answer for every item of the call"));
}

}  // namespace ff
