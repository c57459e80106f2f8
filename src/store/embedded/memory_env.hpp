// A file system in memory, as a store needs it.
#pragma once

#include <memory>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace ff::embedded {

// RocksDB's own, but for one thing: its files say that they cannot be synced while they are written
// to, although nothing stands against it.
class MemoryFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ff::embedded::MemoryFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    auto status = FileSystemWrapper::NewWritableFile(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result));
    return status;
  }

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
    bool IsSyncThreadSafe() const override { return true; }
  };
};

class MemoryEnv {
 public:
  rocksdb::Env* get() { return env_.get(); }

 private:
  std::unique_ptr<rocksdb::Env> memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<rocksdb::Env> env_ =
      rocksdb::NewCompositeEnv(std::make_shared<MemoryFileSystem>(memory_->GetFileSystem()));
};

}  // namespace ff::embedded
