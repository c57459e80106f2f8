#include "store/embedded/disk/directory.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ff::embedded {
namespace {

constexpr const char* lock_name = "ff.lock";

std::unexpected<Error> not_writable(const std::filesystem::path& directory, int reason) {
  return fail(
      Errc::store_not_writable,
      fmt::format("cannot write to the data directory {}: {}; give it to this user, or choose "
                  "another one",
                  directory.string(), std::strerror(reason)));
}

std::string holder(int file) {
  char text[32] = {};
  const auto size = ::pread(file, text, sizeof text - 1, 0);
  return size > 0
             ? fmt::format("process {}", std::string_view(text, static_cast<std::size_t>(size)))
             : "another process";
}

}  // namespace

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& directory) {
  std::error_code failed;
  // Payloads and results are for nobody else on the machine. A directory that was there stays as it is.
  if (std::filesystem::create_directories(directory, failed))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failed);
  if (failed) return not_writable(directory, failed.value());

  const auto path = directory / lock_name;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return not_writable(directory, errno);
  DirectoryLock lock(file);

  if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    return fail(
        Errc::store_locked,
        fmt::format("the data directory {} is in use by {}; stop it, talk to its server, or "
                    "choose another directory",
                    directory.string(), holder(file)));
  const auto pid = std::to_string(::getpid());
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return not_writable(directory, errno);
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace ff::embedded
