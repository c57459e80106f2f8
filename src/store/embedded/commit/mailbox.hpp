// A thread and the calls that wait for it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ff::embedded {

template <class Call>
class Mailbox {
 public:
  using Process = std::function<void(std::vector<Call>)>;

  ~Mailbox() { stop(); }

  // From now on `process` gets what has gathered, again and again, in a thread of its own.
  void run(Process process) {
    thread_ = std::thread([this, process = std::move(process)] { loop(process); });
  }

  // From any thread.
  void put(std::vector<Call> calls) {
    // Notifies under the lock: as soon as the calls are answered, the mailbox may go.
    const std::lock_guard lock(mutex_);
    if (calls_.empty())
      calls_ = std::move(calls);
    else
      std::ranges::move(calls, std::back_inserter(calls_));
    changed_.notify_one();
  }

  // Finishes what is in it.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void loop(const Process& process) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !calls_.empty(); });
      if (calls_.empty()) return;
      auto calls = std::exchange(calls_, {});
      lock.unlock();
      process(std::move(calls));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call> calls_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ff::embedded
