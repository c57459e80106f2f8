#include "cli/input/stop_signals.hpp"

#include <csignal>
#include <cstdlib>

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

}  // namespace

void end_at_next_signal() {
  std::thread([] {
    const auto signals = stop_signals();
    int number = 0;
    sigwait(&signals, &number);
    end_at_once(number);
  }).detach();
}

StopSignals::StopSignals() {
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
  for (bool first = true;; first = false) {
    int number = 0;
    sigwait(&signals, &number);
    if (closing_) return;
    if (!first) end_at_once(number);
    source_.request_stop();
  }
}

void StopSignals::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, source_.get_token(), [] { return false; });
}

}  // namespace ff::cli
