#include "cli/input/wait.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace ff::cli {

IdAtInterrupt::IdAtInterrupt() : shared_(std::make_shared<Shared>()) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct ::sigaction action {};
    const bool is_ignored =
        ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!is_ignored) sigaddset(&signals, signal);  // shells ignore SIGINT for commands behind an &
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([shared = shared_, signals] {
    int number = 0;
    sigwait(&signals, &number);
    const std::lock_guard lock(shared->mutex);
    if (!shared->work.empty())
      std::fputs(("ff: interrupted; " + shared->work + " goes on\n").c_str(), stderr);
    std::_Exit(128 + number);
  }).detach();
}

void IdAtInterrupt::set(std::string work) {
  const std::lock_guard lock(shared_->mutex);
  shared_->work = std::move(work);
}

}  // namespace ff::cli
