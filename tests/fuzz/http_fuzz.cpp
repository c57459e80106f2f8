// A connection answers whatever it is sent, and ends when its client does.
#include <flowfabric/log.hpp>

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/server/connection.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

using asio::ip::tcp;

constexpr std::size_t input_bytes_max = 64 * 1024;  // what a socket's buffer holds in any case

// Answers at once, with nothing in it; what follows events is told to stop.
class EmptyEngine final : public Engine {
 public:
  explicit EmptyEngine(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  asio::any_io_executor executor() override { return executor_; }

  asio::awaitable<void> perform(EngineCall& call) override {
    if (call.get_if<ReadEvents>() && ++pages_ > 1)
      call.refuse({Errc::internal, "no more"});
    else
      call.visit(
          []<class Op>(OperationCall<Op>& each) { each.reply.emplace(typename Op::Reply{}); });
    co_return;
  }

 private:
  asio::any_io_executor executor_;
  int pages_ = 0;
};

tcp::socket adopt(const asio::any_io_executor& executor, int descriptor) {
  return tcp::socket(asio::make_strand(executor), tcp::v4(), descriptor);
}

asio::awaitable<void> read_all(tcp::socket& socket) {
  std::array<char, 4096> bytes;
  boost::system::error_code ended;
  while (!ended)
    co_await socket.async_read_some(asio::buffer(bytes),
                                    asio::redirect_error(asio::use_awaitable, ended));
}

void check(std::string_view input) {
  int ends[2];
  expect(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there are sockets");
  asio::io_context context;
  EmptyEngine engine(context.get_executor());
  http::ServerContext server(engine, {}, {}, {}, false);
  const auto connection =
      std::make_shared<http::Connection>(adopt(context.get_executor(), ends[0]), server);
  auto client = adopt(context.get_executor(), ends[1]);
  expect(::send(ends[1], input.data(), input.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(input.size()),
         "the input fits into the socket");
  ::shutdown(ends[1], SHUT_WR);
  asio::co_spawn(connection->strand(), connection->serve(), asio::detached);
  asio::co_spawn(client.get_executor(), read_all(client), asio::detached);
  context.run();
  expect(server.long_polls.used() == 0 && server.body_bytes.used() == 0,
         "everything is given back");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ff::set_logger({});
  ff::fuzz::check(ff::fuzz::as_text(data, size).substr(0, ff::fuzz::input_bytes_max));
  return 0;
}
