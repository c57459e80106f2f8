#include "cli/input/stop_signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/log.hpp"
#include "cli/child_process.hpp"

namespace ff::cli {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// As a signal would, without waiting for anything.
[[noreturn]] void end_at_once(int signal) {
  kill_children();
  std::_Exit(128 + signal);
}

// Ends the process at the next signal, or when stopping takes too long. Returns if `closing` becomes true.
void end_if_not_over(Millis stop_max, const std::atomic<bool>& closing) {
  const auto signals = stop_signals();
  const timespec limit{.tv_sec = stop_max.count() / 1'000,
                       .tv_nsec = stop_max.count() % 1'000 * 1'000'000};
  int number = 0;
  do number = sigtimedwait(&signals, nullptr, &limit);
  while (number < 0 && errno == EINTR);
  if (closing) return;
  if (number > 0) end_at_once(number);
  log::error("not everything ended within {} ms; the process ends without it", stop_max.count());
  end_at_once(SIGTERM);
}

}  // namespace

void end_at_next_signal() {
  std::thread([] {
    const std::atomic<bool> closing = false;
    end_if_not_over(stop_max_default, closing);
  }).detach();
}

StopSignals::StopSignals(Millis stop_max) : stop_max_(stop_max) {
  const auto signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  receiver_ = std::thread([this] { receive(); });
}

StopSignals::~StopSignals() {
  closing_ = true;
  pthread_kill(receiver_.native_handle(), SIGTERM);
  receiver_.join();
}

void StopSignals::receive() {
  const auto signals = stop_signals();
  int number = 0;
  sigwait(&signals, &number);
  if (closing_) return;
  source_.request_stop();
  end_if_not_over(stop_max_, closing_);
}

void StopSignals::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, source_.get_token(), [] { return false; });
}

}  // namespace ff::cli
