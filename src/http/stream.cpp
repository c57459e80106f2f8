#include "http/stream.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t read_bytes = 64 * 1024;  // at a time, of what is large

auto into(error_code& failed) { return asio::redirect_error(asio::use_awaitable, failed); }

template <class Streams, class Parser>
asio::awaitable<error_code> read_whole(Streams& streams, beast::flat_buffer& buffer,
                                       Parser& parser) {
  error_code failed;
  if (auto* plain = std::get_if<0>(&streams))
    co_await beast::http::async_read(*plain, buffer, parser, into(failed));
  else
    co_await beast::http::async_read(std::get<1>(streams), buffer, parser, into(failed));
  co_return failed;
}

template <class Streams, class Message>
asio::awaitable<error_code> write_whole(Streams& streams, Message& message) {
  error_code failed;
  if (auto* plain = std::get_if<0>(&streams))
    co_await beast::http::async_write(*plain, message, into(failed));
  else
    co_await beast::http::async_write(std::get<1>(streams), message, into(failed));
  co_return failed;
}

}  // namespace

Stream::Stream(tcp::socket socket, std::shared_ptr<TlsContext> tls)
    : context_(std::move(tls)), stream_(std::in_place_type<Plain>, std::move(socket)) {
  if (!context_) return;
  Plain plain = std::move(std::get<Plain>(stream_));
  stream_.emplace<Tls>(std::move(plain), *context_);
}

beast::tcp_stream& Stream::tcp() {
  if (auto* plain = std::get_if<Plain>(&stream_)) return *plain;
  return std::get<Tls>(stream_).next_layer();
}

asio::awaitable<error_code> Stream::accept_handshake() {
  error_code failed;
  if (auto* tls = std::get_if<Tls>(&stream_))
    co_await tls->async_handshake(asio::ssl::stream_base::server, into(failed));
  co_return failed;
}

bool is_plain_http(const error_code& handshake) {
  return handshake.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(handshake.value())) == SSL_R_HTTP_REQUEST;
}

void Stream::drop_tls() {
  Plain plain = std::move(tcp());
  stream_.emplace<Plain>(std::move(plain));
}

asio::awaitable<error_code> Stream::connect_handshake(const std::string& host) {
  auto* tls = std::get_if<Tls>(&stream_);
  if (!tls) co_return error_code{};
  error_code failed;
  // An address has no name to indicate; the call then says so, and that is all right.
  static_cast<void>(SSL_set_tlsext_host_name(tls->native_handle(), host.c_str()));
  tls->set_verify_callback(asio::ssl::host_name_verification(host), failed);
  if (!failed) co_await tls->async_handshake(asio::ssl::stream_base::client, into(failed));
  co_return failed;
}

asio::awaitable<error_code> Stream::receive() {
  constexpr std::size_t chunk = 2048;
  error_code failed;
  if (buffer_.size() == 0) buffer_.shrink_to_fit();  // who waits should not hold memory
  std::size_t size = 0;
  if (auto* plain = std::get_if<Plain>(&stream_))
    size = co_await plain->async_read_some(buffer_.prepare(chunk), into(failed));
  else
    size = co_await std::get<Tls>(stream_).async_read_some(buffer_.prepare(chunk), into(failed));
  buffer_.commit(size);
  co_return failed;
}

asio::awaitable<error_code> Stream::read_header(RequestParser& parser) {
  error_code failed;
  if (auto* plain = std::get_if<Plain>(&stream_))
    co_await beast::http::async_read_header(*plain, buffer_, parser, into(failed));
  else
    co_await beast::http::async_read_header(std::get<Tls>(stream_), buffer_, parser, into(failed));
  co_return failed;
}

asio::awaitable<error_code> Stream::read(RequestParser& parser) {
  if (parser.content_length().value_or(read_bytes) > buffer_.capacity())
    buffer_.reserve(buffer_.size() + read_bytes);
  return read_whole(stream_, buffer_, parser);
}
asio::awaitable<error_code> Stream::read(ResponseParser& parser) {
  buffer_.reserve(read_bytes);
  return read_whole(stream_, buffer_, parser);
}
asio::awaitable<error_code> Stream::write(Request& request) {
  return write_whole(stream_, request);
}
asio::awaitable<error_code> Stream::write(Response& response) {
  return write_whole(stream_, response);
}

asio::awaitable<error_code> Stream::write(std::string_view bytes) {
  error_code failed;
  if (auto* plain = std::get_if<Plain>(&stream_))
    co_await asio::async_write(*plain, asio::buffer(bytes), into(failed));
  else
    co_await asio::async_write(std::get<Tls>(stream_), asio::buffer(bytes), into(failed));
  co_return failed;
}

}  // namespace ff::http
