#include "http/transport/stream.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/error.hpp>

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::size_t read_bytes = 64 * 1024;  // at a time, of what is large

auto into(error_code& failed) { return asio::redirect_error(asio::use_awaitable, failed); }

void add_fields(std::string& header, const beast::http::fields& fields) {
  for (const auto& field : fields) {
    header += field.name_string();
    header += ": ";
    header += field.value();
    header += "\r\n";
  }
  header += "\r\n";
}

std::string header_of(const Request& request) {
  auto header = fmt::format("{} {} HTTP/1.1\r\n", std::string_view(request.method_string()),
                            std::string_view(request.target()));
  add_fields(header, request);
  return header;
}

std::string header_of(const Response& response) {
  auto header =
      fmt::format("HTTP/1.1 {} {}\r\n", response.result_int(), std::string_view(response.reason()));
  add_fields(header, response);
  return header;
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

asio::awaitable<error_code> Stream::read_some(std::size_t size_max) {
  error_code failed;
  std::size_t size = 0;
  if (auto* plain = std::get_if<Plain>(&stream_))
    size = co_await plain->async_read_some(buffer_.prepare(size_max), into(failed));
  else
    size = co_await std::get<Tls>(stream_).async_read_some(buffer_.prepare(size_max), into(failed));
  buffer_.commit(size);
  co_return failed;
}

asio::awaitable<error_code> Stream::receive() {
  constexpr std::size_t chunk = 2048;
  if (buffer_.size() == 0) buffer_.shrink_to_fit();  // no memory for an idle connection
  return read_some(chunk);
}

asio::awaitable<error_code> Stream::discard(std::span<char> space, std::size_t& taken) {
  error_code failed;
  taken += co_await tcp().async_read_some(asio::buffer(space), into(failed));
  co_return failed;
}

template <bool is_request>
asio::awaitable<error_code> Stream::parse(Parser<is_request>& parser,
                                          bool (Parser<is_request>::*is_enough)() const) {
  while (!(parser.*is_enough)()) {
    error_code failed = beast::http::error::need_more;
    if (buffer_.size() > 0) {
      failed = {};
      buffer_.consume(parser.put(buffer_.data(), failed));
    }
    if (failed == beast::http::error::need_more)
      failed = co_await read_some(beast::read_size(buffer_, read_bytes));
    if (failed == asio::error::eof) {
      failed = {};
      if (parser.got_some())
        parser.put_eof(failed);
      else
        failed = beast::http::error::end_of_stream;
    }
    if (failed) co_return failed;
  }
  co_return error_code{};
}

asio::awaitable<error_code> Stream::read_header(Parser<true>& request) {
  request.eager(false);
  return parse<true>(request, &Parser<true>::is_header_done);
}

asio::awaitable<error_code> Stream::read(Parser<true>& request) {
  if (request.content_length().value_or(read_bytes) > buffer_.capacity())
    buffer_.reserve(buffer_.size() + read_bytes);
  request.eager(true);
  return parse<true>(request, &Parser<true>::is_done);
}
asio::awaitable<error_code> Stream::read(Parser<false>& response) {
  buffer_.reserve(read_bytes);
  response.eager(true);
  return parse<false>(response, &Parser<false>::is_done);
}

asio::awaitable<error_code> Stream::write(const Request& request) {
  return write(header_of(request), request.body());
}
asio::awaitable<error_code> Stream::write(const Response& response) {
  return write(header_of(response), response.body());
}

asio::awaitable<error_code> Stream::write(std::string header, std::string_view body) {
  error_code failed;
  const std::array<asio::const_buffer, 2> both{asio::buffer(header), asio::buffer(body)};
  if (auto* plain = std::get_if<Plain>(&stream_))
    co_await asio::async_write(*plain, both, into(failed));
  else
    co_await asio::async_write(std::get<Tls>(stream_), both, into(failed));
  co_return failed;
}

}  // namespace ff::http
