// The fault that stops a store for good. After a failed write, memory is ahead of the disk and must
// not be served any more.
#pragma once

#include <flowfabric/error.hpp>

#include <atomic>
#include <mutex>

namespace ff::embedded {

// Thread-safe. The first fault stays.
class Fault {
 public:
  void set(const Error& cause);

  // The fault, for as long as this object lives; null while all is well.
  const Error* get() const { return present_.load(std::memory_order_acquire) ? &error_ : nullptr; }

 private:
  std::mutex mutex_;
  std::atomic<bool> present_ = false;
  Error error_;
};

}  // namespace ff::embedded
