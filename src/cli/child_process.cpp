#include "cli/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 does not say so itself
}

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/try.hpp"

namespace ff::cli {
namespace {

using Steady = std::chrono::steady_clock;

class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int file) : file_(file) {}
  FileHandle(FileHandle&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~FileHandle() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }

 private:
  int file_ = -1;
};

std::unexpected<Error> cannot(const char* what) {
  return fail(Errc::internal, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A file in memory, so that nobody has to feed the child, and one that does not read hurts nobody.
Result<FileHandle> input_file(const std::string& bytes) {
  FileHandle file(::memfd_create("payload", MFD_CLOEXEC));
  if (file.get() < 0) return cannot("make a file in memory");
  write_all(file.get(), bytes);
  if (::lseek(file.get(), 0, SEEK_END) != static_cast<off_t>(bytes.size()))
    return fail(Errc::internal, "cannot keep the payload in memory");
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

struct Pipe {
  FileHandle read;  // does not block
  FileHandle write;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("make a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{FileHandle(ends[0]), FileHandle(ends[1])};
}

// The same file under a number that no child expects, so that giving the child its files replaces none that is
// still to be given.
Result<FileHandle> out_of_the_way(const FileHandle& file, int taken) {
  FileHandle moved(::fcntl(file.get(), F_DUPFD_CLOEXEC, taken));
  if (moved.get() < 0) return cannot("make a file for a command");
  return moved;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// A variable that is given takes the place of the inherited one.
std::vector<std::string> environment_for(const ChildCommand& command) {
  auto variables = command.environment;
  for (char** inherited = environ; *inherited; ++inherited) {
    const auto name = name_of(*inherited);
    const bool given =
        std::ranges::find(command.environment, name, &name_of) != command.environment.end();
    const bool withheld = std::ranges::find(command.withheld, name) != command.withheld.end();
    if (!given && !withheld) variables.push_back(*inherited);
  }
  return variables;
}

// The children that run, by their process groups.
class Children {
 public:
  void add(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.insert(group);
  }
  void remove(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group);
  }
  void kill() {
    const std::lock_guard lock(mutex_);
    for (const auto group : groups_) ::kill(-group, SIGKILL);
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> groups_;
};

Children& children() {
  static Children all;
  return all;
}

class ChildProcess {
 public:
  static Result<ChildProcess> start(const ChildCommand& command);
  ChildEnd run(std::stop_token stop);

 private:
  // Files that a child writes.
  struct Outputs {
    FileHandle output;
    FileHandle error;
    FileHandle request;
  };
  ChildProcess(const ChildCommand& command, pid_t pid, Outputs outputs)
      : command_(command),
        pid_(pid),
        exited_(::pidfd_open(pid, 0)),
        stop_wanted_(::eventfd(0, EFD_CLOEXEC)),
        output_(std::move(outputs.output)),
        error_(std::move(outputs.error)),
        request_(std::move(outputs.request)) {
    FF_ASSERT(exited_.get() >= 0);
    FF_ASSERT(stop_wanted_.get() >= 0);
  }

  void stop(ChildEnd::How why);
  int milliseconds_left() const;
  void take_output();
  void take_error();
  void take_request();

  const ChildCommand& command_;
  pid_t pid_;
  FileHandle exited_;
  FileHandle stop_wanted_;
  FileHandle output_;
  FileHandle error_;
  FileHandle request_;
  std::optional<Steady::time_point> kill_at_;
  ChildEnd end_{};
};

Result<ChildProcess> ChildProcess::start(const ChildCommand& command) {
  auto input = input_file(command.input);
  FF_TRY(input);
  auto output = make_pipe();
  FF_TRY(output);
  auto error = make_pipe();
  FF_TRY(error);
  auto request = make_pipe();
  FF_TRY(request);

  // By the number that the child knows each under.
  std::vector<Result<FileHandle>> given;
  const int taken = first_input_file + static_cast<int>(command.files.size());
  for (const auto* file : {&*input, &output->write, &error->write, &request->write})
    given.push_back(out_of_the_way(*file, taken));
  for (const auto& content : command.files) {
    const auto file = input_file(content);
    FF_TRY(file);
    given.push_back(out_of_the_way(*file, taken));
  }
  for (const auto& file : given)
    if (!file) return std::unexpected(file.error());

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int number = 0; number < taken; ++number)
    posix_spawn_file_actions_adddup2(&files, given[static_cast<std::size_t>(number)]->get(),
                                     number);

  // Signals as any program expects them, whatever this one does with them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  auto arguments = command.arguments;
  auto environment = environment_for(command);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, arguments.at(0).c_str(), &files, &attributes,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    return fail(Errc::invalid_input,
                fmt::format("cannot run {}: {}", arguments[0], std::strerror(failed)));
  children().add(pid);
  return ChildProcess(command, pid,
                      {std::move(output->read), std::move(error->read), std::move(request->read)});
}

void ChildProcess::stop(ChildEnd::How why) {
  if (kill_at_) return;
  end_.how = why;
  kill_at_ = Steady::now() + command_.grace;
  ::kill(-pid_, SIGTERM);
}

// Until it must be killed; -1: for ever.
int ChildProcess::milliseconds_left() const {
  if (!kill_at_) return -1;
  const auto left = std::chrono::ceil<Millis>(*kill_at_ - Steady::now());
  return static_cast<int>(std::max(left, Millis{0}).count());
}

// Reads what there is. A file that has ended is closed.
template <class Take>
void drain(FileHandle& file, Take take) {
  std::array<char, 64 * 1024> buffer;
  while (file.get() >= 0) {
    const auto size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      file = FileHandle();
      return;
    }
    take(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
  }
}

void ChildProcess::take_output() {
  drain(output_, [&](std::string_view bytes) {
    const auto room = command_.output_bytes_max - end_.output.size();
    end_.output.append(bytes.substr(0, room));
    if (command_.on_output) command_.on_output(bytes.substr(0, room));
    if (bytes.size() > room) stop(ChildEnd::How::printed_too_much);
  });
}

void ChildProcess::take_error() {
  drain(error_, [&](std::string_view bytes) {
    write_all(STDERR_FILENO, bytes);
    end_.error.append(bytes);
    if (end_.error.size() > command_.error_bytes_max)
      end_.error.erase(0, end_.error.size() - command_.error_bytes_max);
  });
}

void ChildProcess::take_request() {
  drain(request_, [&](std::string_view bytes) {
    end_.request.append(bytes.substr(0, command_.request_bytes_max - end_.request.size()));
  });
}

ChildEnd ChildProcess::run(std::stop_token stop_token) {
  const std::stop_callback wake(stop_token, [this] { ::eventfd_write(stop_wanted_.get(), 1); });
  while (true) {
    std::array<pollfd, 5> files{pollfd{exited_.get(), POLLIN, 0},
                                pollfd{kill_at_ ? -1 : stop_wanted_.get(), POLLIN, 0},
                                pollfd{output_.get(), POLLIN, 0}, pollfd{error_.get(), POLLIN, 0},
                                pollfd{request_.get(), POLLIN, 0}};
    const int ready = ::poll(files.data(), files.size(), milliseconds_left());
    if (ready < 0 && errno == EINTR) continue;
    FF_ASSERT(ready >= 0);
    take_output();
    take_error();
    take_request();
    if (files[0].revents != 0) break;
    if (files[1].revents != 0) stop(ChildEnd::How::stopped);
    if (kill_at_ && Steady::now() >= *kill_at_) ::kill(-pid_, SIGKILL);
  }
  // Processes left behind in its group are killed with it; until the child is waited for, its group's
  // number cannot be reused.
  ::kill(-pid_, SIGKILL);
  take_output();
  take_error();
  take_request();
  children().remove(pid_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  if (!kill_at_) end_.how = WIFEXITED(status) ? ChildEnd::How::exited : ChildEnd::How::killed;
  return std::move(end_);
}

}  // namespace

Result<ChildEnd> run_child(const ChildCommand& command, std::stop_token stop) {
  auto child = ChildProcess::start(command);
  FF_TRY(child);
  return child->run(std::move(stop));
}

void kill_children() { children().kill(); }

}  // namespace ff::cli
