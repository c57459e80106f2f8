#include "valkey/listener.hpp"

#include <map>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.hpp"
#include "valkey/cluster/slot.hpp"
#include "valkey/network/backoff.hpp"
#include "valkey/network/open_stream.hpp"
#include "valkey/protocol/write_batch.hpp"

namespace ff::valkey {
namespace {

constexpr Millis listen_again_min{50};
constexpr Millis listen_again_max{1000};

}  // namespace

Listener::Listener(std::shared_ptr<ConnectionContext> context, Task task,
                   Subscriber::Handlers handlers, std::function<void()> on_lost)
    : context_(std::move(context)),
      task_(std::move(task)),
      handlers_(std::move(handlers)),
      on_lost_(std::move(on_lost)),
      ping_timer_(context_->executor),
      pause_timer_(context_->executor) {}

void Listener::close() {
  closed_ = true;
  ping_timer_.cancel();
  pause_timer_.cancel();
  if (stream_) stream_->close();
}

asio::awaitable<void> Listener::run() {
  while (!closed_) {
    const Result<void> opened = co_await open();
    std::string problem;
    if (opened)
      problem = co_await listen();
    else
      problem = opened.error().message;
    ping_timer_.cancel();
    if (stream_) stream_->close();
    if (closed_) break;
    outage_.note(task_.endpoints[current_], problem);
    current_ = (current_ + 1) % task_.endpoints.size();
    on_lost_();
    error_code ignored;
    pause_timer_.expires_after(pause_after(failures_++, listen_again_min, listen_again_max));
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<Result<void>> Listener::open() {
  auto made = context_->make_stream(task_.endpoints[current_]);
  FF_CO_TRY(made);
  stream_ = std::move(*made);
  Result<void> opened =
      co_await open_stream(*stream_, task_.endpoints[current_], context_->options);
  if (opened) opened = co_await check_role();
  co_return opened;
}

// A replica passes on what its primary publishes only while it is linked to it. A server that does not tell
// its role is taken for a primary.
asio::awaitable<Result<void>> Listener::check_role() {
  static const std::vector<std::string> command{"ROLE"};
  WriteBatch batch;
  batch.add(command);
  const error_code failed = co_await stream_->write(batch.buffers());
  if (failed) co_return fail(Errc::store_unavailable, failed.message());
  ReplyReader reader;
  arm_ping();  // a server that does not answer
  heard_ = false;
  const Result<Reply> reply = co_await read_reply(*stream_, reader);
  ping_timer_.cancel();
  FF_CO_TRY(reply);
  const auto* parts = reply->as_array();
  const auto* role = parts && !parts->empty() ? parts->front().as_text() : nullptr;
  if (role && *role == "slave") co_return fail(Errc::store_unavailable, "it is a replica");
  co_return Result<void>{};
}

void Listener::look_again() {
  if (stream_) stream_->close();
}

// As few commands as possible: in a cluster, one may only name channels of one slot.
std::vector<std::vector<std::string>> Listener::subscriptions() const {
  std::map<int, std::vector<std::string>> by_slot;
  for (const auto& channel : task_.channels) {
    auto& command = by_slot[context_->options.cluster ? slot_of(channel) : 0];
    if (command.empty()) command.push_back("SSUBSCRIBE");
    command.push_back(channel);
  }
  std::vector<std::vector<std::string>> commands;
  for (auto& [slot, command] : by_slot) commands.push_back(std::move(command));
  return commands;
}

asio::awaitable<std::string> Listener::listen() {
  confirmed_ = 0;
  heard_ = true;
  const auto commands = subscriptions();
  WriteBatch batch;
  for (const auto& command : commands) batch.add(command);
  const error_code failed = co_await stream_->write(batch.buffers());
  if (failed) co_return failed.message();
  arm_ping();
  ReplyReader reader;
  while (true) {
    const Result<Reply> reply = co_await read_reply(*stream_, reader);
    if (closed_) co_return "closed";
    if (!reply) co_return heard_ ? reply.error().message : "it does not answer a ping";
    heard_ = true;
    std::string problem;
    if (!take(*reply, problem)) co_return problem;
  }
}

// False, and why, if the subscription is over.
bool Listener::take(const Reply& reply, std::string& problem) {
  const auto* fields = reply.as_array();
  const auto* kind = fields && !fields->empty() ? (*fields)[0].as_text() : nullptr;
  const auto text = [&](std::size_t index) { return (*fields)[index].as_text(); };
  if (kind && *kind == "smessage" && fields->size() == 3 && text(1) && text(2)) {
    handlers_.on_message(*text(1), *text(2));
    return true;
  }
  if (kind && *kind == "ssubscribe") {
    if (++confirmed_ != task_.channels.size()) return true;
    failures_ = 0;
    outage_.note_end(task_.endpoints[current_]);
    handlers_.on_gap();
    return true;
  }
  if (kind && *kind == "pong") return true;
  problem = kind && *kind == "sunsubscribe" ? "it serves the channels no longer" : to_text(reply);
  return false;
}

void Listener::arm_ping() {
  ping_timer_.expires_after(context_->options.ping_interval);
  ping_timer_.async_wait([self = shared_from_this(), stream = stream_](error_code cancelled) {
    if (!cancelled && stream == self->stream_ && !self->closed_) self->ping(stream);
  });
}

void Listener::ping(const std::shared_ptr<Stream>& stream) {
  static const std::string command = "*1\r\n$4\r\nPING\r\n";
  if (!std::exchange(heard_, false)) return stream->close();
  stream->write({asio::buffer(command)}, [stream](error_code) {});
  arm_ping();
}

}  // namespace ff::valkey
