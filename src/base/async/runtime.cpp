#include "base/async/runtime.hpp"

#include <latch>
#include <memory>

#include <boost/asio/post.hpp>

namespace ff {

Runtime::Runtime(std::size_t threads)
    : context_(static_cast<int>(threads)), work_(context_.get_executor()) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
}

Runtime::~Runtime() { stop(); }

void Runtime::finish_running() {
  // Each thread waits for the others, so each of them takes part once. Shared: the last to leave may do so after
  // this function has returned.
  const auto all_here = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(threads_.size()));
  for (std::size_t i = 0; i < threads_.size(); ++i)
    asio::post(context_, [all_here] { all_here->arrive_and_wait(); });
  all_here->wait();
}

void Runtime::stop() {
  work_.reset();
  context_.stop();
  threads_.clear();
}

}  // namespace ff
