#include "tests/crash/victim.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ff::crash {

Victim::Victim(const std::filesystem::path& directory, std::uint64_t seed) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  const auto seed_text = std::to_string(seed);
  const std::array<const char*, 5> arguments{"crash_test", "--load", directory.c_str(),
                                             seed_text.c_str(), nullptr};
  const auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    // It must not outlive this program.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", const_cast<char* const*>(arguments.data()));
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

Victim::~Victim() {
  if (pid_ > 0) kill();
  ::close(pipe_);
}

bool Victim::read_some(int timeout_ms) {
  pollfd file{pipe_, POLLIN, 0};
  if (::poll(&file, 1, timeout_ms) <= 0) return true;
  std::array<char, 65536> bytes;
  const auto size = ::read(pipe_, bytes.data(), bytes.size());
  if (size <= 0) return false;
  told_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

void Victim::wait_until_ready() {
  while (told_.find("ready\n") == std::string::npos && read_some(-1)) {
  }
}

void Victim::leave_alone(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (!read_some(static_cast<int>(std::max(left.count(), decltype(left.count()){0})))) return;
  }
}

Victim::End Victim::kill() {
  ::kill(pid_, SIGKILL);
  while (read_some(-1)) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {std::move(told_), WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL};
}

}  // namespace ff::crash
