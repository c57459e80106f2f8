// The store in this process, on RocksDB.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "store/embedded/committer.hpp"
#include "store/embedded/directory.hpp"
#include "store/embedded/shard.hpp"
#include "store/store.hpp"

namespace ff::embedded {

struct Options {
  std::filesystem::path directory;
  std::shared_ptr<const Clock> clock;
  std::size_t shards = 2;
};

class EmbeddedStore final : public store::Store {
 public:
  // Opens or makes the store. Fails with store_not_writable, store_locked, store_too_new,
  // store_damaged or store_unavailable; what was in the directory is then as it was.
  static Result<std::unique_ptr<EmbeddedStore>> open(Options options);
  ~EmbeddedStore() override;  // answers what was started, then closes

  void start(store::AnyCall call) override;
  void set_event_sink(store::EventSink sink) override { sink_ = std::move(sink); }
  PartitionIndex partition_count() const override { return partition_count_; }
  TimePoint now() const override { return options_.clock->now(); }
  Result<void> health() const override;

 private:
  EmbeddedStore(Options options, DirectoryLock lock, std::unique_ptr<Database> database,
                PartitionIndex partition_count);
  Result<void> restore();
  Shard& shard_of(const ExecutionId& id) { return *shards_[id.partition() % shards_.size()]; }

  // A query about all shards: asks each and joins what they answer.
  template <class Query>
  void ask_all(store::Call<Query> call);

  // In the order in which they may go: each uses those above it.
  Options options_;
  DirectoryLock lock_;
  PartitionIndex partition_count_;
  std::unique_ptr<Database> database_;
  Fault fault_;
  store::EventSink sink_;
  Committer committer_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace ff::embedded
