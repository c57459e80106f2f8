#include "store/embedded/database.hpp"

#include <mutex>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/write_batch_with_index.h>

namespace ff::embedded {
namespace {

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Error to_error(std::string_view doing, const rocksdb::Status& status) {
  const bool damaged = status.IsCorruption() || status.IsNotSupported();
  return {damaged ? Errc::store_damaged : Errc::store_unavailable,
          fmt::format("cannot {} the database: {}; {}", doing, status.ToString(),
                      damaged ? "restore the data directory from a backup"
                              : "see whether the disk is full or broken")};
}

Result<void> check(std::string_view doing, const rocksdb::Status& status) {
  if (status.ok()) return {};
  return std::unexpected(to_error(doing, status));
}

rocksdb::Options database_options() {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.keep_log_file_num = 2;
  return options;
}

}  // namespace

Transaction::Transaction(Database& database)
    : database_(database),
      writes_(std::make_unique<rocksdb::WriteBatchWithIndex>(rocksdb::BytewiseComparator(), 0,
                                                             /*overwrite_key=*/true)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

Result<std::optional<std::string>> Transaction::get(std::string_view key) {
  std::string value;
  const auto status =
      writes_->GetFromBatchAndDB(database_.db_.get(), rocksdb::ReadOptions{}, slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(to_error("read", status));
  return value;
}

void Transaction::put(std::string_view key, std::string_view value) {
  writes_->Put(slice(key), slice(value));
}

void Transaction::erase(std::string_view key) { writes_->Delete(slice(key)); }

bool Transaction::empty() const { return writes_->GetWriteBatch()->Count() == 0; }

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& directory) {
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::Open(database_options(), directory.string(), &db);
  if (!status.ok()) return std::unexpected(to_error("open", status));
  return std::unique_ptr<Database>(new Database(std::unique_ptr<rocksdb::DB>(db)));
}

Database::Database(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}
Database::~Database() = default;

Result<void> Database::write(Transaction& transaction) {
#ifdef __SANITIZE_THREAD__
  // Writers hand their batches to each other inside RocksDB, whose packaged library is not built with
  // the sanitizer: it would take that for a race.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
#endif
  return check("write to",
               db_->Write(rocksdb::WriteOptions{}, transaction.writes_->GetWriteBatch()));
}

Result<void> Database::sync() { return check("sync", db_->SyncWAL()); }

Result<void> Database::for_each(std::string_view prefix, const Visitor& visit) {
  const std::unique_ptr<rocksdb::Iterator> entry(db_->NewIterator(rocksdb::ReadOptions{}));
  for (entry->Seek(slice(prefix)); entry->Valid() && view(entry->key()).starts_with(prefix);
       entry->Next())
    if (auto visited = visit(view(entry->key()), view(entry->value())); !visited) return visited;
  return check("read", entry->status());
}

}  // namespace ff::embedded
