// The threads that coroutines run on.
#pragma once

#include <flowfabric/async.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>
#include <vector>

namespace ff {

// An io_context and the threads that serve it. Coroutines that own changing state run on a strand of
// it. stop() (and the destructor) abandons what is still pending: end the work first.
class Runtime {
 public:
  explicit Runtime(std::size_t threads);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  asio::any_io_executor executor() { return context_.get_executor(); }
  void stop();

  // Returns when every handler that was running has ended. Not from one of its own threads.
  void finish_running();

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::jthread> threads_;
};

}  // namespace ff
