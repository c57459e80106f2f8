#include "tests/support/faulty_env.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace ff::test {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

struct File {
  std::uint64_t written = 0;
  std::uint64_t synced = 0;
  bool ever_synced = false;
};

enum class CallKind : std::uint8_t { append, sync, other };

// State shared by all files of a disk.
class Disk {
 public:
  // Counts a call, and returns its status.
  IOStatus admit(CallKind kind) {
    const std::lock_guard lock(mutex_);
    const bool fails = calls_++ >= fail_from_;
    if (!fails) return IOStatus::OK();
    failed_ = true;
    switch (fault_) {
      case DiskFault::full:
        return kind == CallKind::append ? IOStatus::NoSpace("the disk is full (on purpose)")
                                        : IOStatus::OK();
      case DiskFault::sync_fails:
        return kind == CallKind::sync ? IOStatus::IOError("fsync failed (on purpose)")
                                      : IOStatus::OK();
      case DiskFault::power_cut: return IOStatus::IOError("the power is off (on purpose)");
    }
    return IOStatus::OK();
  }

  // Whether a part of what does not fit is still written, as a real disk does.
  bool takes_a_part() {
    const std::lock_guard lock(mutex_);
    return fault_ == DiskFault::full && !std::exchange(part_taken_, true);
  }

  void fail(DiskFault fault, std::size_t calls) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    fail_from_ = calls_ + calls;
    part_taken_ = false;
  }
  std::size_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }

  std::shared_ptr<File> make(const std::string& path, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    auto file =
        std::make_shared<File>(File{.written = size, .synced = size, .ever_synced = size > 0});
    files_[path] = file;
    return file;
  }
  void rename(const std::string& from, const std::string& to) {
    link(from, to);
    forget(from);
  }
  void link(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(from); found != files_.end()) files_[to] = found->second;
  }
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    files_.erase(path);
  }

  void wrote(File& file, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    file.written += bytes;
  }
  std::uint64_t written(const File& file) const {
    const std::lock_guard lock(mutex_);
    return file.written;
  }
  void synced(File& file, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    file.synced = std::max(file.synced, bytes);
    file.ever_synced = true;
  }

  void lose(Unsynced unsynced) {
    const std::lock_guard lock(mutex_);
    for (const auto& [path, file] : files_) lose(path, *file, unsynced);
    files_.clear();
    fail_from_ = std::numeric_limits<std::size_t>::max();
    failed_ = false;
  }

 private:
  static void lose(const std::string& path, const File& file, Unsynced unsynced) {
    std::error_code gone;
    if (!std::filesystem::exists(path, gone)) return;
    const auto rest = file.written - file.synced;
    switch (unsynced) {
      case Unsynced::lost:
        if (file.ever_synced)
          std::filesystem::resize_file(path, file.synced);
        else
          std::filesystem::remove(path);
        break;
      case Unsynced::half_kept: std::filesystem::resize_file(path, file.synced + rest / 2); break;
      case Unsynced::zeros:
        std::filesystem::resize_file(path, file.synced);
        std::filesystem::resize_file(path, file.written);
        break;
      case Unsynced::kept: std::filesystem::resize_file(path, file.written); break;
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::size_t calls_ = 0;
  std::size_t fail_from_ = std::numeric_limits<std::size_t>::max();
  DiskFault fault_ = DiskFault::full;
  bool part_taken_ = false;
  bool failed_ = false;
};

class WatchedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<File> state,
              std::shared_ptr<Disk> disk)
      : FSWritableFileOwnerWrapper(std::move(file)),
        state_(std::move(state)),
        disk_(std::move(disk)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    auto admitted = disk_->admit(CallKind::append);
    const auto part = admitted.ok()                            ? data
                      : admitted.IsNoSpace() && takes_a_part() ? Slice(data.data(), data.size() / 2)
                                                               : Slice();
    if (part.empty()) return admitted;
    const auto appended = target()->Append(part, options, debug);
    if (appended.ok()) disk_->wrote(*state_, part.size());
    return admitted.ok() ? appended : admitted;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Fsync(options, debug); });
  }

 private:
  bool takes_a_part() { return disk_->takes_a_part(); }

  IOStatus sync(const auto& real) {
    if (auto admitted = disk_->admit(CallKind::sync); !admitted.ok()) return admitted;
    const auto written = disk_->written(*state_);
    auto done = real();
    if (done.ok()) disk_->synced(*state_, written);
    return done;
  }

  std::shared_ptr<File> state_;
  std::shared_ptr<Disk> disk_;
};

class WatchedDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  WatchedDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, std::shared_ptr<Disk> disk)
      : FSDirectoryWrapper(std::move(directory)), disk_(std::move(disk)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::sync); !admitted.ok()) return admitted;
    return FSDirectoryWrapper::Fsync(options, debug);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& how) override {
    if (auto admitted = disk_->admit(CallKind::sync); !admitted.ok()) return admitted;
    return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how);
  }

 private:
  std::shared_ptr<Disk> disk_;
};

}  // namespace

class FaultyEnv::FileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyEnv"; }

  Disk& disk() { return *disk_; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    auto made = target()->NewWritableFile(path, options, file, debug);
    if (made.ok()) watch(path, 0, file);
    return made;
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    auto opened = target()->ReopenWritableFile(path, options, file, debug);
    if (opened.ok()) watch(path, none ? 0 : size, file);
    return opened;
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    auto made = target()->ReuseWritableFile(path, old_path, options, file, debug);
    disk_->forget(old_path);
    if (made.ok()) watch(path, 0, file);
    return made;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext* debug) override {
    auto opened = target()->NewDirectory(path, options, directory, debug);
    if (opened.ok()) *directory = std::make_unique<WatchedDirectory>(std::move(*directory), disk_);
    return opened;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    disk_->forget(path);
    return target()->DeleteFile(path, options, debug);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    auto renamed = target()->RenameFile(from, to, options, debug);
    if (renamed.ok()) disk_->rename(from, to);
    return renamed;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    if (auto admitted = disk_->admit(CallKind::other); !admitted.ok()) return admitted;
    auto linked = target()->LinkFile(from, to, options, debug);
    if (linked.ok()) disk_->link(from, to);
    return linked;
  }

 private:
  void watch(const std::string& path, std::uint64_t size,
             std::unique_ptr<rocksdb::FSWritableFile>* file) {
    *file = std::make_unique<WatchedFile>(std::move(*file), disk_->make(path, size), disk_);
  }

  std::shared_ptr<Disk> disk_ = std::make_shared<Disk>();
};

FaultyEnv::FaultyEnv()
    : files_(std::make_shared<FileSystem>()), env_(rocksdb::NewCompositeEnv(files_)) {}
FaultyEnv::~FaultyEnv() = default;

rocksdb::Env* FaultyEnv::env() { return env_.get(); }
std::size_t FaultyEnv::calls() const { return files_->disk().calls(); }
void FaultyEnv::fail(DiskFault fault, std::size_t calls) { files_->disk().fail(fault, calls); }
bool FaultyEnv::has_failed() const { return files_->disk().has_failed(); }
void FaultyEnv::power_on(Unsynced unsynced) { files_->disk().lose(unsynced); }

}  // namespace ff::test
