// How a Router follows the changes of a cluster.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "valkey/cluster/router.hpp"
#include "valkey/cluster/topology.hpp"

namespace ff::valkey {
namespace {

constexpr Millis gap_min{100};
constexpr Millis gap_in_trouble{250};
constexpr Millis gap_at_peace = std::chrono::seconds{30};
constexpr Millis answer_timeout = std::chrono::seconds{1};

}  // namespace

void Router::want_refresh() {
  refresh_wanted_ = true;
  refresh_timer_.cancel();
}

asio::awaitable<void> Router::follow_cluster() {
  while (!closed_) {
    refresh_wanted_ = false;
    const auto began = Steady::now();
    const Result<void> refreshed = co_await refresh();
    if (closed_) break;
    note_refresh(refreshed);
    const Millis gap = !refreshed || is_anyone_stuck() ? gap_in_trouble : gap_at_peace;
    while (!closed_) {
      const auto until = began + (refresh_wanted_ ? gap_min : gap);
      if (Steady::now() >= until) break;
      error_code ignored;
      refresh_timer_.expires_at(until);
      co_await refresh_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
}

void Router::note_refresh(const Result<void>& refreshed) {
  if (refreshed) {
    if (!refresh_problem_.empty()) log::info("valkey cluster answers again");
    refresh_problem_.clear();
    return;
  }
  const auto& error = refreshed.error();
  if (refresh_problem_.empty())
    log::warn("valkey cluster does not answer, trying again until it does: {}", error.message);
  refresh_problem_ = error.message;
  if (!error.retryable()) reject_held(error);
}

// Asks one after the other until one answers.
Async<void> Router::refresh() {
  Result<void> last = fail(Errc::store_unavailable, "no node of the cluster answers");
  for (const auto& connection : whom_to_ask()) {
    const Result<Reply> reply = co_await ask_for_slots(*connection);
    if (closed_) break;
    if (!reply) {
      last = std::unexpected(reply.error());
      continue;
    }
    auto nodes = nodes_in(*reply, connection->endpoint());
    if (nodes) {
      apply(std::move(*nodes));
      co_return Result<void>{};
    }
    last = std::unexpected(nodes.error());
  }
  co_return last;
}

Result<std::vector<Node>> Router::nodes_in(const Reply& reply, const Endpoint& asked) const {
  const auto where = to_text(asked);
  if (const auto* error = reply.as_error()) {
    if (error->text.find("cluster support disabled") != std::string::npos)
      return fail(Errc::invalid_input,
                  fmt::format("Valkey at {} is not a node of a cluster; use valkey://", where));
    if (refusal_of(error->text).kind == Refusal::Kind::permission_denied)
      return fail(Errc::permission_denied,
                  fmt::format("Valkey at {} does not allow CLUSTER SLOTS: {}", where, error->text));
    return fail(Errc::store_unavailable, fmt::format("Valkey at {}: {}", where, error->text));
  }
  auto nodes = parse_cluster_slots(reply, asked);
  if (!nodes)
    return fail(Errc::store_unavailable,
                fmt::format("Valkey at {}: {}", where, nodes.error().message));
  if (nodes->empty())
    return fail(Errc::store_unavailable,
                fmt::format("Valkey at {} knows of no node with slots", where));
  return nodes;
}

// Connected nodes first, rotated on each call: a single node may be cut off and have outdated data.
std::vector<std::shared_ptr<Connection>> Router::whom_to_ask() {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& endpoint : context_->options.endpoints) connection_to(endpoint);
  for (const auto& [name, connection] : connections_) all.push_back(connection);
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(++turn_ % all.size()),
              all.end());
  std::stable_partition(all.begin(), all.end(),
                        [](const auto& connection) { return connection->is_ready(); });
  return all;
}

Async<Reply> Router::ask_for_slots(Connection& connection) {
  auto initiate = [this, &connection](auto handler) {
    const auto limit = std::min(answer_timeout, context_->options.request_timeout);
    // Posted: the answer comes in the middle of the connection's work, which may not change there.
    Done done = [on = executor(), handler = std::move(handler)](Result<Reply> reply) mutable {
      asio::post(on, [handler = std::move(handler), reply = std::move(reply)]() mutable {
        std::move(handler)(std::move(reply));
      });
    };
    connection.add({.request = {.command = {"CLUSTER", "SLOTS"}},
                    .done = std::move(done),
                    .deadline = Steady::now() + limit,
                    .once = true});
    flush();
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<Reply>)>(
      std::move(initiate), asio::use_awaitable);
}

void Router::apply(std::vector<Node> nodes) {
  std::fill(by_slot_.begin(), by_slot_.end(), nullptr);
  primaries_.clear();
  for (const auto& node : nodes) {
    auto& connection = connection_to(node.endpoint);
    primaries_.push_back(&connection);
    for (const auto& range : node.slots)
      for (int slot = range.first; slot <= range.last; ++slot)
        by_slot_[static_cast<std::size_t>(slot)] = &connection;
  }
  {
    const std::lock_guard lock(mutex_);
    nodes_ = std::move(nodes);
  }
  move_calls();
  retry_held(true);
  tell_watchers();
}

// Reroutes calls that wait for a node that is unreachable or is not a primary in use.
void Router::move_calls() {
  std::vector<Call> calls;
  for (auto at = connections_.begin(); at != connections_.end();) {
    auto& connection = *at->second;
    const bool is_used = std::ranges::find(primaries_, &connection) != primaries_.end();
    if (!is_used || !connection.is_ready())
      std::ranges::move(connection.take_waiting(), std::back_inserter(calls));
    if (is_used || !connection.is_idle()) {
      ++at;
    } else {
      connection.stop({Errc::store_unavailable, ""});
      at = connections_.erase(at);
    }
  }
  for (auto& call : calls) dispatch(std::move(call));
}

bool Router::is_anyone_stuck() const {
  return std::ranges::any_of(connections_, [](const auto& entry) {
    return !entry.second->is_ready() && !entry.second->is_idle();
  });
}

}  // namespace ff::valkey
