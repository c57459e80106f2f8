#include "base/async/runtime.hpp"

namespace ff {

Runtime::Runtime(std::size_t threads)
    : context_(static_cast<int>(threads)), work_(context_.get_executor()) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
}

Runtime::~Runtime() { stop(); }

void Runtime::stop() {
  work_.reset();
  context_.stop();
  threads_.clear();
}

}  // namespace ff
