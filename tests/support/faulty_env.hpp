// A file system with faults for RocksDB, so that a test can see what a bad day leaves on the disk.
#pragma once

#include <cstdint>
#include <memory>

namespace rocksdb {
class Env;
}

namespace ff::test {

enum class DiskFault : std::uint8_t {
  full,        // what is appended does not fit; of the first, a part still does
  sync_fails,  // fsync reports an error
  power_cut,   // nothing changes any more
};

// Fate of unsynced bytes after a power cut.
enum class Unsynced : std::uint8_t { lost, half_kept, zeros, kept };

// Files are those of the real file system; only what happens to them is watched. Names of files are
// taken to be safe at once, contents are not. Thread-safe. Must outlive the store on it.
class FaultyEnv {
 public:
  FaultyEnv();
  ~FaultyEnv();

  rocksdb::Env* env();

  // How many calls changed something or synced, so far.
  std::size_t calls() const;

  // The fault is there from now on, or once `calls` more have gone well.
  void fail(DiskFault fault, std::size_t calls = 0);
  bool has_failed() const;

  // After a power cut, when the store is closed: leaves on disk only what was safe, and `unsynced`.
  void power_on(Unsynced unsynced);

 private:
  class FileSystem;
  std::shared_ptr<FileSystem> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace ff::test
