#include "http/message_io.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace ff::http {
namespace {

template <class Parser>
asio::awaitable<error_code> read_whole(MessageStream& stream, Parser& parser) {
  error_code failed;
  co_await beast::http::async_read(stream.socket, stream.buffer, parser,
                                   asio::redirect_error(asio::use_awaitable, failed));
  co_return failed;
}

template <class Message>
asio::awaitable<error_code> write_whole(MessageStream& stream, Message& message) {
  error_code failed;
  co_await beast::http::async_write(stream.socket, message,
                                    asio::redirect_error(asio::use_awaitable, failed));
  co_return failed;
}

}  // namespace

asio::awaitable<error_code> read_header(MessageStream& stream, RequestParser& parser) {
  error_code failed;
  co_await beast::http::async_read_header(stream.socket, stream.buffer, parser,
                                          asio::redirect_error(asio::use_awaitable, failed));
  co_return failed;
}

asio::awaitable<error_code> read(MessageStream& stream, RequestParser& parser) {
  return read_whole(stream, parser);
}
asio::awaitable<error_code> read(MessageStream& stream, ResponseParser& parser) {
  return read_whole(stream, parser);
}
asio::awaitable<error_code> write(MessageStream& stream, Request& request) {
  return write_whole(stream, request);
}
asio::awaitable<error_code> write(MessageStream& stream, Response& response) {
  return write_whole(stream, response);
}

}  // namespace ff::http
