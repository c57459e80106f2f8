// RocksDB, as the embedded store uses it: groups of changes, and a separate step that makes them
// durable.
#pragma once

#include <flowfabric/error.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rocksdb {
class DB;
class Env;
class WriteBatch;
}  // namespace rocksdb

namespace ff::embedded {

// Changes that are written together or not at all. Used by one thread.
class Changes {
 public:
  Changes();
  Changes(Changes&&) noexcept;
  ~Changes();

  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  bool empty() const;
  void clear();

 private:
  friend class Database;
  std::unique_ptr<rocksdb::WriteBatch> writes_;
};

enum class Order : std::uint8_t { forward, backward };

// A range of keys: those that start with `prefix`, beginning behind `after` if there is one.
struct Range {
  std::string prefix;
  std::optional<std::string> after = {};
  Order order = Order::forward;
};

struct DatabaseOptions {
  std::filesystem::path directory;
  std::size_t cache_bytes = 64 << 20;          // of blocks read from disk
  std::size_t write_buffer_bytes = 128 << 20;  // of changes that are not in table files yet
  rocksdb::Env* env = nullptr;                 // for tests: a file system with faults
};

// All methods may be called from any thread.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const DatabaseOptions& options);
  ~Database();

  Result<std::optional<std::string>> get(std::string_view key) const;

  // Visible to all readers when it returns, but not yet safe from a power cut: that is sync().
  Result<void> write(Changes& changes);
  Result<void> sync();

  // Entries in key order until `visit` says stop. What it sees is of one moment.
  enum class Next : std::uint8_t { go_on, stop };
  using Visitor = std::function<Result<Next>(std::string_view key, std::string_view value)>;
  Result<void> for_each(const Range& range, const Visitor& visit) const;

  // A consistent copy in a new directory, sharing files with this one where it can.
  Result<void> checkpoint(const std::filesystem::path& directory);

 private:
  explicit Database(std::unique_ptr<rocksdb::DB> db);
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace ff::embedded
