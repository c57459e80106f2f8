#include "valkey/network/open_stream.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.hpp"
#include "valkey/protocol/refusal.hpp"
#include "valkey/protocol/write_batch.hpp"

namespace ff::valkey {

Async<Reply> read_reply(Stream& stream, ReplyReader& reader) {
  while (true) {
    auto reply = reader.next();
    FF_CO_TRY(reply);
    if (*reply) co_return std::move(**reply);
    const Stream::Received received = co_await stream.read();
    if (received.failed) co_return fail(Errc::store_unavailable, received.failed.message());
    reader.feed(received.bytes);
  }
}

namespace {

using Command = std::vector<std::string>;

// AUTH, if there is a password, and a name for the server's own lists.
std::vector<Command> greeting(const ClientOptions& options) {
  std::vector<Command> commands;
  if (!options.password.empty()) {
    commands.push_back({"AUTH"});
    if (!options.user.empty()) commands.back().push_back(options.user);
    commands.back().push_back(options.password);
  }
  commands.push_back({"CLIENT", "SETNAME", "flowfabric"});
  return commands;
}

// Result of an error reply to one of those commands. A missing connection name is harmless.
Result<void> judge(const std::string& command, const std::string& error) {
  const auto kind = refusal_of(error).kind;
  const bool is_turned_away =
      error.starts_with("ERR max number of clients") || error.starts_with("DENIED");
  if (is_turned_away || (command == "AUTH" && kind == Refusal::Kind::not_now))
    return fail(Errc::store_unavailable, "it said " + error);
  if (command == "AUTH" || kind == Refusal::Kind::unauthenticated)
    return fail(Errc::unauthenticated, error);
  return {};
}

Async<void> introduce(Stream& stream, const ClientOptions& options) {
  const std::vector<Command> commands = greeting(options);
  WriteBatch batch;
  for (const auto& command : commands) batch.add(command);
  const error_code failed = co_await stream.write(batch.buffers());
  if (failed) co_return fail(Errc::store_unavailable, failed.message());
  ReplyReader reader;
  for (const auto& command : commands) {
    const Result<Reply> reply = co_await read_reply(stream, reader);
    FF_CO_TRY(reply);
    const ReplyError* error = reply->as_error();
    if (!error) continue;
    const Result<void> judged = judge(command[0], error->text);
    if (!judged) co_return judged;
  }
  if (!reader.is_empty()) co_return fail(Errc::malformed_response, "bytes that nobody asked for");
  co_return Result<void>{};
}

std::unexpected<Error> too_slow(const ClientOptions& options) {
  return fail(Errc::store_unavailable,
              fmt::format("it did not answer within {} ms{}", options.connect_timeout.count(),
                          options.tls ? "; does it speak TLS?" : ""));
}

std::string why_not_connected(const error_code& failed) {
  const bool is_tls = failed.category() == asio::error::get_ssl_category() ||
                      failed.category() == asio::ssl::error::get_stream_category();
  if (!is_tls) return failed.message();
  return fmt::format(
      "{}; does it speak TLS, and is its certificate for this name and signed by someone you "
      "trust?",
      failed.message());
}

}  // namespace

Async<void> open_stream(Stream& stream, const Endpoint& endpoint, const ClientOptions& options) {
  // A handler that is on its way already cannot be cancelled; it then finds the limit gone.
  struct Limit {
    asio::steady_timer timer;
    bool is_over = false;
  };
  auto limit = std::make_shared<Limit>(
      asio::steady_timer(co_await asio::this_coro::executor, options.connect_timeout));
  std::weak_ptr<Limit> watched = limit;
  limit->timer.async_wait([watched, &stream](error_code cancelled) {
    const auto running = watched.lock();
    if (cancelled || !running) return;
    running->is_over = true;
    stream.close();
  });

  const error_code failed = co_await stream.connect(endpoint);
  if (limit->is_over) co_return too_slow(options);
  if (failed) co_return fail(Errc::store_unavailable, why_not_connected(failed));
  Result<void> introduced = co_await introduce(stream, options);
  if (limit->is_over) co_return too_slow(options);
  if (introduced) co_return introduced;
  if (introduced.error().code == Errc::unauthenticated)
    co_return fail(Errc::unauthenticated, to_advice(options, endpoint));
  if (introduced.error().code == Errc::malformed_response)
    co_return fail(Errc::store_unavailable, "it sent " + introduced.error().message);
  co_return introduced;
}

}  // namespace ff::valkey
