#include "valkey/client.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "valkey/cluster/router.hpp"

namespace ff::valkey {

Client::Client(asio::any_io_executor executor, ClientOptions options)
    : router_(std::make_shared<Router>(std::move(executor), std::move(options))) {}

Client::~Client() {
  router_->close();
  router_->wait();
}

void Client::send(Request request, std::move_only_function<void(Result<Reply>)> done) {
  router_->send(std::move(request), std::move(done));
}

Async<Reply> Client::run(Request request) {
  auto initiate = [this, request = std::move(request)](auto handler) mutable {
    const auto executor = asio::get_associated_executor(handler);
    send(std::move(request), [executor, handler = std::move(handler)](Result<Reply> reply) mutable {
      asio::dispatch(executor, [handler = std::move(handler), reply = std::move(reply)]() mutable {
        std::move(handler)(std::move(reply));
      });
    });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<Reply>)>(
      std::move(initiate), asio::use_awaitable);
}

std::vector<Node> Client::nodes() const { return router_->nodes(); }

void Client::close() { router_->close(); }

}  // namespace ff::valkey
