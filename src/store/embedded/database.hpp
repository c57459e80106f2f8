// RocksDB, as the embedded store uses it: transactions that read their own writes, and a separate step
// that makes them durable.
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
class WriteBatchWithIndex;
}  // namespace rocksdb

namespace ff::embedded {

class Database;

// Changes that are written together or not at all. Used by one thread.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(Transaction&&) noexcept;
  ~Transaction();

  Result<std::optional<std::string>> get(std::string_view key);
  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  bool empty() const;

 private:
  friend class Database;
  Database& database_;
  std::unique_ptr<rocksdb::WriteBatchWithIndex> writes_;
};

// All methods may be called from any thread.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& directory);
  ~Database();

  // Visible to all readers when it returns, but not yet safe from a power cut: that is sync().
  Result<void> write(Transaction& transaction);
  Result<void> sync();

  // Every entry whose key starts with `prefix`, in key order, until `visit` fails.
  using Visitor = std::function<Result<void>(std::string_view key, std::string_view value)>;
  Result<void> for_each(std::string_view prefix, const Visitor& visit);

 private:
  friend class Transaction;
  explicit Database(std::unique_ptr<rocksdb::DB> db);
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace ff::embedded
