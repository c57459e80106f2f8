// The data directory, held by one process at a time.
#pragma once

#include <flowfabric/error.hpp>

#include <filesystem>

namespace ff::embedded {

// Holds the directory until it is destroyed; the kernel lets go of it when the process dies.
class DirectoryLock {
 public:
  // Makes the directory if it is missing. Fails with store_not_writable or, if another process
  // (which is named) has it, store_locked.
  static Result<DirectoryLock> acquire(const std::filesystem::path& directory);

  static DirectoryLock none() { return DirectoryLock(-1); }

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int file) : file_(file) {}
  int file_;
};

}  // namespace ff::embedded
