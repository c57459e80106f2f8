// SIGINT and SIGTERM as a stop token.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace ff::cli {

// A process that is told to stop ends within this time, whatever it waits for.
inline constexpr Millis stop_max_default = std::chrono::seconds{15};

// From here on SIGINT and SIGTERM, which must be blocked, end the process at once, with its running
// commands; so does the end of stop_max_default.
void end_at_next_signal();

// Takes the signals from every thread that is started later, so it must come before the engine. The second
// signal, or the end of `stop_max` after the first, ends the process at once, with its running commands.
class StopSignals {
 public:
  explicit StopSignals(Millis stop_max = stop_max_default);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool stopped() const { return source_.stop_requested(); }
  void stop() { source_.request_stop(); }  // as a signal does

  void wait();  // until it is stopped

 private:
  void receive();

  Millis stop_max_;
  std::stop_source source_;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::thread receiver_;
};

}  // namespace ff::cli
