#include "store/embedded/disk/database.hpp"

#include <mutex>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_batch.h>

#include "base/assert.hpp"
#include "base/try.hpp"

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

// The first key behind all that start with `prefix`.
std::string end_of(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  FF_ASSERT(!prefix.empty());
  ++prefix.back();
  return prefix;
}

rocksdb::Options rocksdb_options(const DatabaseOptions& wanted) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // Indexes and filters are cached in small parts: as large blocks they would push each other out.
  constexpr int cache_shard_bits = 2;
  table.block_cache = rocksdb::NewLRUCache(wanted.cache_bytes, cache_shard_bits);
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;

  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.keep_log_file_num = 2;
  options.stats_dump_period_sec = 0;
  options.db_write_buffer_size = wanted.write_buffer_bytes;
  options.write_buffer_size = wanted.write_buffer_bytes / 2;
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.level0_file_num_compaction_trigger = 8;
  // Files that are mostly tombstones are compacted first: lists would have to read past them.
  constexpr std::size_t window = 10'000;
  constexpr std::size_t deleted_in_window = 5'000;
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(window, deleted_in_window));
  // Within a kind of key and a partition, new keys come in order: each is put right behind the last.
  constexpr std::size_t kind_and_partition = 3;
  options.memtable_insert_with_hint_prefix_extractor.reset(
      rocksdb::NewFixedPrefixTransform(kind_and_partition));
  options.allow_concurrent_memtable_write = false;
  // Payloads and results stay out of the tree, so that compaction does not copy them again and again.
  options.enable_blob_files = true;
  options.min_blob_size = 1024;
  options.enable_blob_garbage_collection = true;
  if (wanted.env) options.env = wanted.env;
  return options;
}

// Where CURRENT and the log are missing, as in a damaged backup, RocksDB makes a new database and
// deletes the data that it does not know.
Result<void> not_headless(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(directory, failed) || fs::exists(directory / "CURRENT", failed)) return {};
  for (const auto& file : fs::directory_iterator(directory, failed)) {
    const auto kind = file.path().extension();
    if (kind == ".sst" || kind == ".blob" || kind == ".log")
      return fail(Errc::store_damaged,
                  fmt::format("the database in {} has data but no file CURRENT; restore the data "
                              "directory from a backup",
                              directory.string()));
  }
  return {};
}

}  // namespace

Changes::Changes() : writes_(std::make_unique<rocksdb::WriteBatch>()) {}
Changes::Changes(Changes&&) noexcept = default;
Changes::~Changes() = default;

void Changes::put(std::string_view key, std::string_view value) {
  writes_->Put(slice(key), slice(value));
}
void Changes::erase(std::string_view key) { writes_->Delete(slice(key)); }
bool Changes::empty() const { return writes_->Count() == 0; }
void Changes::clear() { writes_->Clear(); }

Result<std::unique_ptr<Database>> Database::open(const DatabaseOptions& options) {
  FF_TRY(not_headless(options.directory));
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::Open(rocksdb_options(options), options.directory.string(), &db);
  if (!status.ok()) return std::unexpected(to_error("open", status));
  return std::unique_ptr<Database>(new Database(std::unique_ptr<rocksdb::DB>(db)));
}

Database::Database(std::unique_ptr<rocksdb::DB> db) : db_(std::move(db)) {}
Database::~Database() = default;

Result<std::optional<std::string>> Database::get(std::string_view key) const {
  std::string value;
  const auto status = db_->Get(rocksdb::ReadOptions{}, slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return std::unexpected(to_error("read", status));
  return value;
}

Result<void> Database::write(Changes& changes) {
#ifdef __SANITIZE_THREAD__
  // Writers hand their batches to each other inside RocksDB, whose packaged library is not built with
  // the sanitizer: it would take that for a race.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
#endif
  return check("write to", db_->Write(rocksdb::WriteOptions{}, changes.writes_.get()));
}

Result<void> Database::sync() { return check("sync", db_->SyncWAL()); }

Result<void> Database::for_each(const Range& range, const Visitor& visit) const {
  // Without bounds RocksDB goes on over tombstones of other ranges until it finds an entry.
  const auto end = end_of(range.prefix);
  const auto lower = slice(range.prefix);
  const auto upper = slice(end);
  rocksdb::ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> entry(db_->NewIterator(options));
  const bool forward = range.order == Order::forward;
  if (forward) {
    entry->Seek(slice(range.after.value_or(range.prefix)));
    if (range.after && entry->Valid() && view(entry->key()) == *range.after) entry->Next();
  } else {
    if (range.after)
      entry->SeekForPrev(slice(*range.after));
    else
      entry->SeekToLast();
    if (range.after && entry->Valid() && view(entry->key()) == *range.after) entry->Prev();
  }
  while (entry->Valid()) {
    const auto next = visit(view(entry->key()), view(entry->value()));
    FF_TRY(next);
    if (*next == Next::stop) return {};
    if (forward)
      entry->Next();
    else
      entry->Prev();
  }
  return check("read", entry->status());
}

Result<void> Database::checkpoint(const std::filesystem::path& directory) {
  rocksdb::Checkpoint* made = nullptr;
  auto status = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory.string());
  return check("back up", status);
}

}  // namespace ff::embedded
