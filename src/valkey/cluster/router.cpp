#include "valkey/cluster/router.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "valkey/cluster/slot.hpp"
#include "valkey/cluster/topology.hpp"
#include "valkey/network/backoff.hpp"

namespace ff::valkey {
namespace {

constexpr Millis retry_min{10};
constexpr Millis retry_max{500};
constexpr unsigned redirects_at_once_max = 5;  // then with pauses: nodes may disagree for a while

constexpr Millis replica_reconnect_gap = std::chrono::seconds{1};

const Error closed{Errc::store_unavailable, "the Valkey client has been closed"};

std::shared_ptr<ConnectionContext> make_context(asio::any_io_executor executor,
                                                ClientOptions options) {
  FF_ASSERT(!options.endpoints.empty());
  auto tls = make_tls(options);
  return std::make_shared<ConnectionContext>(
      ConnectionContext{asio::make_strand(std::move(executor)), std::move(options), std::move(tls),
                        CoroutineGroup{}});
}

}  // namespace

Router::Router(asio::any_io_executor executor, ClientOptions options)
    : context_(make_context(std::move(executor), std::move(options))),
      sweep_timer_(context_->executor),
      retry_timer_(context_->executor),
      refresh_timer_(context_->executor) {
  if (context_->options.cluster) return;
  const auto& endpoint = context_->options.endpoints.front();
  nodes_.push_back({{to_text(endpoint)}, endpoint, {{0, slot_count - 1}}});
}

void Router::send(Request request, Done done) {
  const auto timeout = context_->options.request_timeout;
  const bool brief = request.patience == Patience::brief;
  const auto deadline = Steady::now() + (brief ? std::min(timeout, silence_max) : timeout);
  Call call{.request = std::move(request), .done = std::move(done), .deadline = deadline};
  std::unique_lock lock(mutex_);
  if (inbox_closed_) {
    lock.unlock();
    asio::post(executor(),
               [call = std::move(call)]() mutable { call.answer(std::unexpected(closed)); });
    return;
  }
  inbox_.push_back(std::move(call));
  if (std::exchange(drain_posted_, true)) return;
  lock.unlock();
  asio::post(executor(), [self = shared_from_this()] { self->drain(); });
}

std::vector<Node> Router::nodes() const {
  const std::lock_guard lock(mutex_);
  return nodes_;
}

void Router::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(inbox_closed_, true)) return;
  }
  context_->coroutines.spawn(executor(), [self = shared_from_this()]() -> asio::awaitable<void> {
    self->shut_down();
    co_return;
  });
}

void Router::wait() { context_->coroutines.wait(); }

void Router::shut_down() {
  closed_ = true;
  drain();
  for (auto& [name, connection] : connections_) connection->stop(closed);
  reject_held(closed);
  sweep_timer_.cancel();
  retry_timer_.cancel();
  refresh_timer_.cancel();
  tell_watchers();
}

void Router::drain() {
  {
    const std::lock_guard lock(mutex_);
    drained_.swap(inbox_);
    drain_posted_ = false;
  }
  for (auto& call : drained_) dispatch(std::move(call));
  drained_.clear();
  flush();
}

void Router::start() {
  if (closed_ || std::exchange(started_, true)) return;
  if (context_->options.cluster) {
    by_slot_.assign(slot_count, nullptr);
    context_->coroutines.spawn(executor(),
                               [self = shared_from_this()] { return self->follow_cluster(); });
    return;
  }
  const auto& endpoints = context_->options.endpoints;
  auto& only = connections_[to_text(endpoints.front())];
  only = std::make_shared<Connection>(context_, endpoints, *this);
  primaries_.push_back(only.get());
}

void Router::dispatch(Call call) {
  if (closed_) return call.answer(std::unexpected(closed));
  start();
  auto target = connection_for(call.request.route);
  const bool waits = call.request.patience == Patience::full;
  if (!target && target.error().code == Errc::not_ready && waits)
    hold(std::move(call), std::move(target.error().message));
  else if (!target)
    call.answer(
        fail(target.error().code == Errc::not_ready ? Errc::store_unavailable : target.error().code,
             std::move(target.error().message)));
  else if (!waits && (*target)->is_down())
    call.answer(std::unexpected((*target)->down()));
  else
    (*target)->add(std::move(call));
}

Result<Connection*> Router::connection_for(const Route& route) {
  if (!context_->options.cluster) return primaries_.front();
  if (primaries_.empty())
    return fail(Errc::not_ready, refresh_problem_.empty()
                                     ? "no node of the cluster has answered yet"
                                     : refresh_problem_);
  return std::visit(
      Overloaded{[&](AnyNode) -> Result<Connection*> { return any_connection(); },
                 [&](std::uint16_t slot) -> Result<Connection*> {
                   FF_ASSERT(slot < slot_count);
                   if (by_slot_[slot]) return by_slot_[slot];
                   want_refresh();
                   return fail(Errc::not_ready, fmt::format("no node serves slot {}", slot));
                 },
                 [&](const NodeName& name) -> Result<Connection*> {
                   const auto found = connections_.find(name.text);
                   if (found != connections_.end()) return found->second.get();
                   return fail(
                       Errc::store_unavailable,
                       fmt::format("{} is not a primary of the cluster any more", name.text));
                 }},
      route);
}

Connection* Router::any_connection() {
  for (std::size_t i = 0; i < primaries_.size(); ++i) {
    auto* candidate = primaries_[++turn_ % primaries_.size()];
    if (candidate->is_ready()) return candidate;
  }
  return primaries_[turn_ % primaries_.size()];
}

Connection& Router::connection_to(const Endpoint& endpoint) {
  auto& connection = connections_[to_text(endpoint)];
  if (!connection)
    connection = std::make_shared<Connection>(context_, std::vector<Endpoint>{endpoint}, *this);
  return *connection;
}

void Router::flush() {
  bool is_idle = true;
  for (auto& [name, connection] : connections_) {
    connection->flush();
    is_idle = is_idle && connection->is_idle();
  }
  if (!is_idle || !held_.empty()) arm_sweep();
}

void Router::on_answer(Connection& from, Call call, Reply reply) {
  const auto* error = reply.as_error();
  if (!error || !call.done || call.once) return call.answer(std::move(reply));
  const auto refusal = refusal_of(error->text);
  call.written_at = {};  // a refusal means that nothing was done
  switch (refusal.kind) {
    case Refusal::Kind::ordinary: return call.answer(std::move(reply));
    case Refusal::Kind::moved:
    case Refusal::Kind::ask: return redirect(from, std::move(call), refusal);
    case Refusal::Kind::not_now:
      if (call.request.patience != Patience::full && !error->text.starts_with("TRYAGAIN"))
        return call.answer(fail(
            Errc::store_unavailable,
            fmt::format("Valkey at {} is not ready: {}", to_text(from.endpoint()), error->text)));
      return hold(std::move(call), error->text);
    case Refusal::Kind::not_primary: on_replica(from); return hold(std::move(call), error->text);
    case Refusal::Kind::unauthenticated:
      return call.answer(
          fail(Errc::unauthenticated, to_advice(context_->options, from.endpoint())));
    case Refusal::Kind::permission_denied:
      return call.answer(
          fail(Errc::permission_denied, fmt::format("Valkey at {} does not allow this: {}",
                                                    to_text(from.endpoint()), error->text)));
  }
}

void Router::redirect(Connection& from, Call call, const Refusal& refusal) {
  if (!context_->options.cluster)
    return call.answer(
        fail(Errc::invalid_input,
             fmt::format("Valkey at {} is a node of a cluster; use valkey-cluster://",
                         to_text(from.endpoint()))));
  const Endpoint endpoint = complete_address(refusal.node, from.endpoint());
  auto& target = connection_to(endpoint);
  if (refusal.kind == Refusal::Kind::moved) {
    by_slot_[refusal.slot] = &target;
    want_refresh();
  }
  if (call.tries++ >= redirects_at_once_max)
    return hold(std::move(call),
                fmt::format("the cluster's nodes disagree about slot {}", refusal.slot));
  call.asking = refusal.kind == Refusal::Kind::ask;
  target.add(std::move(call));
  target.flush();
}

// The server was a primary, and others were told that it is one. In a cluster they find the next one by
// themselves; otherwise its name, or the next endpoint, may lead to it.
void Router::on_replica(Connection& from) {
  if (context_->options.cluster) return want_refresh();
  if (from.age() <= replica_reconnect_gap) return;
  from.leave("it has become a replica");
  tell_watchers();
}

void Router::on_lost(Connection&) {
  if (context_->options.cluster) want_refresh();
}

void Router::hold(Call call, std::string trouble) {
  call.trouble = std::move(trouble);
  call.asking = false;
  const auto until = Steady::now() + pause_after(call.tries++, retry_min, retry_max);
  held_.push_back({std::move(call), until});
  arm_retry();
  arm_sweep();
}

void Router::retry_held(bool all) {
  const auto now = Steady::now();
  for (auto& held : std::exchange(held_, {})) {
    if (all || now >= held.until)
      dispatch(std::move(held.call));
    else
      held_.push_back(std::move(held));
  }
  flush();
  if (!held_.empty()) arm_retry();
}

void Router::reject_held(const Error& error) {
  for (auto& held : std::exchange(held_, {})) held.call.answer(std::unexpected(error));
}

void Router::arm_retry() {
  if (closed_ || std::exchange(retry_armed_, true)) return;
  retry_timer_.expires_after(retry_min);
  retry_timer_.async_wait([self = shared_from_this()](error_code) {
    self->retry_armed_ = false;
    if (!self->closed_) self->retry_held(false);
  });
}

void Router::arm_sweep() {
  if (closed_ || std::exchange(sweep_armed_, true)) return;
  sweep_timer_.expires_after(
      std::clamp(context_->options.request_timeout / 16, Millis{5}, Millis{250}));
  sweep_timer_.async_wait([self = shared_from_this()](error_code) {
    self->sweep_armed_ = false;
    if (!self->closed_) self->sweep();
  });
}

void Router::sweep() {
  const auto now = Steady::now();
  for (auto& [name, connection] : connections_) connection->sweep(now);
  for (auto& held : held_)
    if (now >= held.call.deadline)
      held.call.answer(
          fail(Errc::store_unavailable,
               fmt::format("Valkey did not do it within {} ms: {}",
                           context_->options.request_timeout.count(), held.call.trouble)));
  std::erase_if(held_, [](const Held& held) { return !held.call.done; });
  flush();
}

void Router::watch(std::weak_ptr<Watcher> watcher) { watchers_.push_back(std::move(watcher)); }

void Router::tell_watchers() {
  std::erase_if(watchers_, [](const auto& watcher) { return watcher.expired(); });
  for (const auto& watcher : std::vector(watchers_))
    if (const auto alive = watcher.lock()) (*alive)();
}

}  // namespace ff::valkey
