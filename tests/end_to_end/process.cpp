#include "tests/end_to_end/process.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ff::test {
namespace {

struct Pipe {
  int read;
  int write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  return {ends[0], ends[1]};
}

}  // namespace

Process::Process(std::vector<std::string> arguments, std::string input) {
  const auto in = make_pipe(), out = make_pipe(), err = make_pipe();
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::signal(SIGPIPE, SIG_IGN);  // a program need not read all of its input
  pid_ = ::fork();
  if (pid_ == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(err.write, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  for (const int ours_not : {in.read, out.write, err.write}) ::close(ours_not);
  for (std::string_view rest = input; !rest.empty();) {
    const auto written = ::write(in.write, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::close(in.write);
  out_ = out.read;
  err_ = err.read;
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

void Process::signal(int number) { ::kill(pid_, number); }

// False when it will never print again.
bool Process::read_some(int wait_ms) {
  std::array<pollfd, 2> files{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (::poll(files.data(), files.size(), wait_ms) < 0) return false;
  bool open = false;
  for (auto& file : files) {
    if (file.revents == 0) {
      open = true;
      continue;
    }
    char bytes[4096];
    const auto size = ::read(file.fd, bytes, sizeof bytes);
    if (size <= 0) continue;
    open = true;
    (file.fd == out_ ? out_text_ : err_text_).append(bytes, static_cast<std::size_t>(size));
  }
  return open;
}

std::string Process::wait_for_output(const std::string& text) {
  while (true) {
    const auto all = out_text_ + err_text_;
    if (all.find(text) != std::string::npos) return all;
    if (!read_some()) {
      ADD_FAILURE() << "the program ended without printing '" << text << "':\n" << all;
      return all;
    }
  }
}

std::string Process::output_so_far() {
  read_some(0);
  return out_text_ + err_text_;
}

Finished Process::wait() {
  while (read_some()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out_text_, err_text_};
}

}  // namespace ff::test
