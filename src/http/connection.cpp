#include "http/connection.hpp"

#include <flowfabric/limits.hpp>

#include <array>

#include <spdlog/spdlog.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/http/error.hpp>

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "base/version.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::uint32_t header_bytes_max = 16 * 1024;
constexpr std::uint64_t other_fields_bytes_max = 4 * 1024 * 1024;  // tags and policies of a batch
constexpr std::uint64_t body_bytes_max =
    base64_encoded_size(limits::batch_bytes_max) + other_fields_bytes_max;
constexpr std::uint64_t drain_bytes_max = 64 * 1024 * 1024;
constexpr std::chrono::seconds read_timeout{60};  // also how long an idle connection is kept
constexpr std::chrono::seconds write_timeout{30};
constexpr std::chrono::seconds drain_timeout{5};

// How to answer a request that could not be read; none if there is nobody to answer.
std::optional<Error> explain_unreadable(const error_code& failed) {
  using beast::http::error;
  if (failed == error::body_limit)
    return Error{Errc::payload_too_large,
                 fmt::format("the request body is larger than {} bytes", body_bytes_max)};
  if (failed == error::header_limit || failed == error::buffer_overflow)
    return Error{Errc::headers_too_large,
                 fmt::format("the request headers are larger than {} bytes", header_bytes_max)};
  const bool hung_up = failed == error::end_of_stream || failed == error::partial_message;
  if (failed.category() == error_code(error::end_of_stream).category() && !hung_up)
    return Error{Errc::invalid_input, "this is not an HTTP/1.1 request: " + failed.message()};
  return std::nullopt;
}

}  // namespace

Connection::Connection(tcp::socket socket, Engine& engine)
    : stream_{beast::tcp_stream(std::move(socket))}, engine_(engine) {}

asio::awaitable<void> Connection::serve() {
  bool more = true;
  while (more && !closing_) more = co_await serve_one();
  error_code ignored;
  stream_.socket.socket().shutdown(tcp::socket::shutdown_both, ignored);
}

void Connection::close(bool now) {
  asio::post(strand(), [self = shared_from_this(), now] {
    self->closing_ = true;
    self->stop_waiting();
    if (now || self->idle_) self->stream_.socket.cancel();
  });
}

// Reads and answers one request; false when the connection is done.
asio::awaitable<bool> Connection::serve_one() {
  RequestParser parser;
  parser.header_limit(header_bytes_max);
  parser.body_limit(body_bytes_max);
  const auto failed = co_await read_request(parser);
  if (failed) {
    co_await refuse(failed);
    co_return false;
  }
  const Request request = parser.release();
  auto response = co_await answer(request);
  // Nobody reads the body of an answer to HEAD; a client would take it for the next answer.
  const bool head = request.method() == Verb::head;
  if (head) response.body().clear();
  const bool keep = request.keep_alive() && !closing_ && !head;
  const bool sent = co_await send(std::move(response), keep ? Keep::open : Keep::close);
  co_return sent&& keep;
}

asio::awaitable<error_code> Connection::read_request(RequestParser& parser) {
  stream_.socket.expires_after(read_timeout);
  idle_ = true;
  auto failed = co_await read_header(stream_, parser);
  idle_ = false;
  if (!failed && beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
    Response go_on{Status::continue_, 11};
    failed = co_await write(stream_, go_on);
  }
  if (!failed) failed = co_await read(stream_, parser);
  co_return failed;
}

asio::awaitable<void> Connection::refuse(error_code failed) {
  const auto error = explain_unreadable(failed);
  if (!error) co_return;
  const bool sent = co_await send(error_response(*error), Keep::close);
  if (sent) co_await drain();
}

// Takes what the client is still sending: closed with unread bytes, the connection would be reset and
// the answer lost.
asio::awaitable<void> Connection::drain() {
  error_code failed;
  stream_.socket.socket().shutdown(tcp::socket::shutdown_send, failed);
  stream_.socket.expires_after(drain_timeout);
  std::array<char, 64 * 1024> bytes;
  for (std::uint64_t taken = 0; !failed && taken < drain_bytes_max;)
    taken += co_await stream_.socket.async_read_some(
        asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failed));
}

asio::awaitable<Response> Connection::answer(const Request& request) {
  stream_.socket.expires_never();
  auto matched = match(request);
  Response response;
  if (matched && matched->route->may_wait)
    response = co_await respond_unless_in_vain(std::move(matched));
  else
    response = co_await respond_or_apologise(std::move(matched));
  spdlog::debug("{} {} {}", printable(request.method_string()), printable(request.target()),
                response.result_int());
  co_return response;
}

asio::awaitable<Response> Connection::respond_or_apologise(Result<Match> matched) {
  try {
    co_return co_await respond(engine_, std::move(matched));
  } catch (const std::exception& bug) {
    spdlog::error("a request failed: {}", bug.what());
  }
  co_return error_response({Errc::internal, "the server failed on this request; see its log"});
}

// A long poll ends early when its client has gone or the server stops. Whatever the engine answers
// then is sent: it may be work that was claimed at the last moment.
asio::awaitable<Response> Connection::respond_unless_in_vain(Result<Match> matched) {
  watch_for_hang_up();
  if (closing_) asio::post(strand(), [self = shared_from_this()] { self->stop_waiting(); });
  auto response = co_await asio::co_spawn(
      strand(), respond_or_apologise(std::move(matched)),
      asio::bind_cancellation_slot(stop_waiting_.slot(), asio::use_awaitable));
  error_code ignored;
  stream_.socket.socket().cancel(ignored);  // the watch
  co_return response;
}

void Connection::watch_for_hang_up() {
  stream_.socket.socket().async_wait(tcp::socket::wait_read,
                                     [self = shared_from_this()](error_code failed) {
                                       if (!failed && self->peer_has_gone()) self->stop_waiting();
                                     });
}

// False also if it sent its next request already.
bool Connection::peer_has_gone() {
  auto& socket = stream_.socket.socket();
  error_code failed;
  char byte;
  socket.non_blocking(true, failed);
  const auto size = socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
  return size == 0 && failed != asio::error::would_block;
}

void Connection::stop_waiting() { stop_waiting_.emit(asio::cancellation_type::terminal); }

// False if it could not be sent.
asio::awaitable<bool> Connection::send(Response response, Keep keep) {
  response.set(beast::http::field::server, std::string("FlowFabric/") + version);
  response.keep_alive(keep == Keep::open);
  response.prepare_payload();
  stream_.socket.expires_after(write_timeout);
  const auto failed = co_await write(stream_, response);
  co_return !failed;
}

}  // namespace ff::http
