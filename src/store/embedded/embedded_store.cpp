#include "store/embedded/embedded_store.hpp"

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "store/embedded/format.hpp"
#include "store/embedded/keys.hpp"
#include "store/embedded/records.hpp"

namespace ff::embedded {

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(Options options) {
  FF_ASSERT(options.clock);
  FF_ASSERT(options.shards > 0);
  auto lock = DirectoryLock::acquire(options.directory);
  if (!lock) return std::unexpected(lock.error());
  auto database = Database::open(options.directory / "db");
  if (!database) return std::unexpected(database.error());
  const auto format = load_format(**database, options.clock->now());
  if (!format) return std::unexpected(format.error());

  std::unique_ptr<EmbeddedStore> store(new EmbeddedStore(
      std::move(options), std::move(*lock), std::move(*database), format->partition_count));
  if (auto restored = store->restore(); !restored) return std::unexpected(restored.error());
  return store;
}

EmbeddedStore::EmbeddedStore(Options options, DirectoryLock lock,
                             std::unique_ptr<Database> database, PartitionIndex partition_count)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      partition_count_(partition_count),
      database_(std::move(database)),
      committer_(*database_, fault_, sink_) {
  for (std::size_t i = 0; i < options_.shards; ++i)
    shards_.push_back(std::make_unique<Shard>(Shard::Parts{.database = *database_,
                                                           .committer = committer_,
                                                           .fault = fault_,
                                                           .clock = *options_.clock,
                                                           .sink = sink_}));
}

EmbeddedStore::~EmbeddedStore() = default;

Result<void> EmbeddedStore::restore() {
  auto restored = database_->for_each(
      keys::live_prefix, [this](std::string_view key, std::string_view value) -> Result<void> {
        const auto id = keys::execution_id(key);
        if (!id) return std::unexpected(id.error());
        const auto execution = decode(*id, value);
        if (!execution) return std::unexpected(execution.error());
        shard_of(*id).restore(*execution);
        return {};
      });
  if (!restored) return restored;
  for (auto& shard : shards_) shard->run();
  return {};
}

void EmbeddedStore::start(store::AnyCall any) {
  std::visit(Overloaded{
                 [this](store::Call<store::ReadyHeads>& call) { ask_all(std::move(call)); },
                 [this](store::Call<store::LeasesDue>& call) { ask_all(std::move(call)); },
                 [this](auto& call) { shard_of(call.operation.id).start(std::move(call)); },
             },
             any);
}

template <class Query>
void EmbeddedStore::ask_all(store::Call<Query> call) {
  using Reply = typename Query::Reply;
  struct Gather {
    std::mutex mutex;
    std::size_t missing;
    Result<Reply> joined;
    store::Call<Query> call;
  };
  auto gather = std::make_shared<Gather>();
  gather->missing = shards_.size();
  gather->call = std::move(call);
  const auto max = gather->call.operation.max;
  for (auto& shard : shards_)
    shard->start(store::Call<Query>{gather->call.operation, [gather, max](Result<Reply> reply) {
                                      const std::lock_guard lock(gather->mutex);
                                      if (!reply)
                                        gather->joined = std::unexpected(reply.error());
                                      else if (gather->joined)
                                        std::ranges::move(*reply,
                                                          std::back_inserter(*gather->joined));
                                      if (--gather->missing > 0) return;
                                      if (gather->joined)
                                        gather->joined = first(std::move(*gather->joined), max);
                                      gather->call.done(std::move(gather->joined));
                                    }});
}

Result<void> EmbeddedStore::health() const {
  if (const Error* fault = fault_.get()) return std::unexpected(*fault);
  return {};
}

}  // namespace ff::embedded
