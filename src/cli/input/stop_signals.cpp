#include "cli/input/stop_signals.hpp"

#include <csignal>

namespace ff::cli {

StopSignals::StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  receiver_ = std::thread([this, signals] {
    int number = 0;
    sigwait(&signals, &number);
    source_.request_stop();
  });
}

StopSignals::~StopSignals() {
  // Without effect if it has received one.
  pthread_kill(receiver_.native_handle(), SIGTERM);
  receiver_.join();
}

void StopSignals::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, source_.get_token(), [] { return false; });
}

}  // namespace ff::cli
