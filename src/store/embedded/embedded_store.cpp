#include "store/embedded/embedded_store.hpp"

#include <ranges>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "store/embedded/disk/format.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/flow_listing.hpp"
#include "store/embedded/listing.hpp"
#include "store/embedded/tools/backup.hpp"

namespace ff::embedded {
namespace {

// Of the times at which something happened to it.
TimePoint newest_time(const core::Execution& execution) {
  auto newest = execution.created_at;
  if (execution.attempt) newest = std::max(newest, execution.attempt->started_at);
  if (const auto* active = std::get_if<core::Active>(&execution.state))
    newest = std::max(newest, active->lease.acquired_at);
  return newest;
}

}  // namespace

Result<std::unique_ptr<store::Store>> open(Options options) {
  return EmbeddedStore::open(std::move(options));
}

Result<std::unique_ptr<store::Store>> EmbeddedStore::open(Options options) {
  FF_ASSERT(options.clock);
  FF_ASSERT(options.shards > 0);
  auto lock = options.lock ? DirectoryLock::acquire(options.directory)
                           : Result<DirectoryLock>(DirectoryLock::none());
  FF_TRY(lock);
  auto database =
      Database::open({.directory = database_directory(options.directory), .env = options.env});
  FF_TRY(database);
  const auto format = load_format(**database, options.clock->now());
  FF_TRY(format);

  std::unique_ptr<EmbeddedStore> store(new EmbeddedStore(
      std::move(options), std::move(*lock), std::move(*database), format->partition_count));
  FF_TRY(store->restore());
  return store;
}

EmbeddedStore::EmbeddedStore(Options options, DirectoryLock lock,
                             std::unique_ptr<Database> database, PartitionIndex partition_count)
    : options_(std::move(options)),
      clock_(options_.clock),
      lock_(std::move(lock)),
      partition_count_(partition_count),
      database_(std::move(database)),
      committer_(*database_, fault_, sinks_) {
  for (std::size_t i = 0; i < options_.shards; ++i)
    shards_.push_back(std::make_unique<Shard>(
        Shard::Parts{.number = static_cast<std::uint16_t>(i),
                     .partition_count = partition_count_,
                     .database = *database_,
                     .committer = committer_,
                     .fault = fault_,
                     .clock = clock_,
                     .sinks = sinks_,
                     .ready = ready_,
                     .retention_mark = retention_mark_,
                     .durability = options_.durability,
                     .hot_bytes_max = options_.hot_bytes_max / options_.shards,
                     .live_bytes_max = limits::live_bytes_of_store_max / options_.shards}));
  resources_ = std::make_unique<ResourceShard>(
      ResourceShard::Parts{.writing = {.database = *database_,
                                       .committer = committer_,
                                       .fault = fault_,
                                       .sinks = sinks_,
                                       .durability = options_.durability},
                           .clock = clock_,
                           .waitpoint_secret = options_.waitpoint_secret});
}

EmbeddedStore::~EmbeddedStore() {
  reader_.join();
  for (auto& shard : shards_) shard->stop();
  resources_->stop();
  if (!in_use_ || fault_.get()) return;
  if (const auto ended = end_use(*database_, now()); !ended) log::warn("{}", ended.error().message);
}

Result<void> EmbeddedStore::restore() {
  if (auto restored = resources_->restore(); !restored) return restored;
  if (auto restored = restore_live(); !restored) return restored;
  if (auto restored = restore_ended_counts(); !restored) return restored;
  if (auto restored = restore_effects(); !restored) return restored;
  if (auto restored = restore_flow_timers(); !restored) return restored;
  const auto past = begin_use(*database_);
  FF_TRY(past);
  in_use_ = true;
  if (auto begun = begin_time(past->closed_at); !begun) return begun;
  for (auto& shard : shards_) shard->set_crash_count(past->crash_count);
  skip_lost_epochs(past->crash_count);
  for (auto& shard : shards_) shard->run();
  resources_->run();
  return {};
}

Result<void> EmbeddedStore::restore_live() {
  return database_->for_each(
      {.prefix = std::string(keys::live_prefix)},
      [this](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto id = keys::execution_id(key);
        FF_TRY(id);
        const auto execution = decode(*id, value);
        FF_TRY(execution);
        newest_seen_ = std::max(newest_seen_, newest_time(*execution));
        shards_[shard_of(id->partition())]->indexes().add(*execution);
        resources_->hold(*execution);
        return Database::Next::go_on;
      });
}

Result<void> EmbeddedStore::begin_time(TimePoint closed_at) {
  constexpr Millis ahead_max = std::chrono::days{1};
  constexpr Millis worth_telling = std::chrono::seconds{1};
  const auto ahead = clock_.begin_at(std::max(newest_seen_, closed_at));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
  if (ahead > ahead_max)
    return fail(Errc::store_unavailable,
                fmt::format("the machine's clock is {} s behind the times in {}; set the clock, "
                            "then start again",
                            seconds, options_.directory.string()));
  if (ahead >= worth_telling)
    log::warn(
        "the machine's clock is {} s behind the times in {}: it was set back. Time goes on from "
        "the stored times: leases and delays last as long as they should, and all times are ahead "
        "of the clock by as much",
        seconds, options_.directory.string());
  return {};
}

// Leases are not synced before their workers hear of them, so a crash may have lost some. No execution gets
// as many leases as there are epochs between two floors.
void EmbeddedStore::skip_lost_epochs(std::uint64_t crash_count) {
  constexpr int epochs_per_crash_bits = 20;
  for (auto& shard : shards_)
    shard->set_epoch_floor(LeaseEpoch{crash_count << epochs_per_crash_bits}, now());
}

Result<void> EmbeddedStore::restore_ended_counts() {
  Changes moved;
  auto visited = database_->for_each(
      {.prefix = std::string(keys::ended_count_prefix)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto place = keys::parse_ended_count(key);
        FF_TRY(place);
        const auto counts = decode_ended(value);
        FF_TRY(counts);
        // There may have been more shards; the first one takes over from those that are gone.
        const bool gone = place->shard >= shards_.size();
        auto& indexes = shards_[gone ? 0 : place->shard]->indexes();
        const std::pair lane{place->ns, place->lane};
        indexes.add_ended(lane, *counts);
        if (gone) {
          moved.erase(key);
          moved.put(keys::ended_count(0, lane.first, lane.second),
                    encode_ended(indexes.counts_of(lane)));
        }
        return Database::Next::go_on;
      });
  if (!visited || moved.empty()) return visited;
  return database_->write(moved);
}

Result<void> EmbeddedStore::restore_effects() {
  return database_->for_each(
      {.prefix = std::string(keys::effect_prefix)},
      [this](std::string_view key, std::string_view) -> Result<Database::Next> {
        auto effect = keys::parse_effect(key);
        FF_TRY(effect);
        shards_[shard_of(effect->partition)]->effects().emplace(effect->partition,
                                                                std::move(effect->text));
        return Database::Next::go_on;
      });
}

Result<void> EmbeddedStore::restore_flow_timers() {
  return database_->for_each(
      {.prefix = std::string(keys::flow_timer_prefix)},
      [this](std::string_view key, std::string_view) -> Result<Database::Next> {
        const auto moment = keys::parse_moment(key);
        FF_TRY(moment);
        shards_[shard_of(moment->id.partition())]->indexes().add_timer(
            {.kind = core::TimerKind::flow_deadline, .due = moment->at}, moment->id);
        return Database::Next::go_on;
      });
}

void EmbeddedStore::start(std::vector<store::AnyCall> calls) {
  Mail mail{.shards = std::vector<std::vector<ShardCall>>(shards_.size())};
  for (auto& any : calls) any.visit([&](auto& call) { route(call, mail); });
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (!mail.shards[i].empty()) shards_[i]->start(std::move(mail.shards[i]));
  if (!mail.desk.empty()) resources_->start(std::move(mail.desk));
}

template <AtDesk Op>
void EmbeddedStore::route(store::Call<Op>& call, Mail& mail) {
  mail.desk.push_back(std::move(call));
}

std::string EmbeddedStore::list_cursor(TimePoint created_at, const ExecutionId& id) const {
  return embedded::list_cursor(created_at, id);
}

void EmbeddedStore::route(store::Call<store::PeekReady>& call, Mail&) {
  if (const Error* fault = fault_.get()) return call.done(std::unexpected(*fault));
  call.done(ready_.peek(call.operation));
}

template <class Op>
void EmbeddedStore::route(store::Call<Op>& call, Mail& mail) {
  mail.shards[shard_of(partition_of(call.operation.id))].push_back(std::move(call));
}

PartitionIndex EmbeddedStore::partition_of(const FlowId& id) const {
  return core::partition_of(id.uuid(), partition_count_);
}

void EmbeddedStore::route(store::Call<store::Reconcile>& call, Mail& mail) {
  mail.shards[shard_of(call.operation.partition)].push_back(std::move(call));
}

void EmbeddedStore::route(store::Call<store::SettleEffects>& call, Mail& mail) {
  mail.shards[shard_of(call.operation.partition)].push_back(std::move(call));
}

void EmbeddedStore::route(store::Call<store::FindEffects>& call, Mail& mail) {
  ask_all(call.operation, call, mail, [](std::vector<store::EffectPage> shares) {
    store::EffectPage all;
    for (auto& share : shares) {
      std::ranges::move(share.effects, std::back_inserter(all.effects));
      all.more |= share.more;
    }
    return all;
  });
}

void EmbeddedStore::route(store::Call<store::TakeReady>& call, Mail&) {
  if (const Error* fault = fault_.get()) return call.done(std::unexpected(*fault));
  call.done(ready_.take(call.operation));
}

void EmbeddedStore::route(store::Call<CountExecutions>& call, Mail& mail) {
  ask_all(CountShare{.ns = call.operation.ns, .lane = call.operation.lane}, call, mail, sum);
}

void EmbeddedStore::route(store::Call<store::CountAll>& call, Mail& mail) {
  ask_all(CountShare{}, call, mail, sum);
}

void EmbeddedStore::route(store::Call<store::Probe>& call, Mail&) {
  read_aside(call, [this](const store::Probe&) -> Result<Done> {
    Changes changes;
    changes.put(keys::probe, "");
    auto done = database_->write(changes);
    if (done) done = database_->sync();
    if (!done) fault_.set(done.error());  // what others wrote before may be lost, too
    FF_TRY(done);
    return Done{};
  });
}

void EmbeddedStore::route(store::Call<store::TimersDue>& call, Mail& mail) {
  ask_all(call.operation, call, mail, [](std::vector<store::DueReply> shares) {
    store::DueReply all;
    for (auto& share : shares) {
      std::ranges::move(share.due, std::back_inserter(all.due));
      if (share.next && (!all.next || *share.next < *all.next)) all.next = share.next;
    }
    return all;
  });
}

void EmbeddedStore::route(store::Call<store::CountWaiting>& call, Mail& mail) {
  ask_all(call.operation, call, mail, sum_waiting);
}

void EmbeddedStore::route(store::Call<store::FindHeld>& call, Mail& mail) {
  const auto max = call.operation.max;
  ask_all(call.operation, call, mail,
          [max](const std::vector<std::vector<store::HeldExecution>>& shares) {
            std::vector<store::HeldExecution> all;
            for (const auto& each : shares | std::views::join) all.push_back(each);
            if (all.size() > max) all.resize(max);
            return all;
          });
}

// No other scheduler shares this store, and the engine stores nothing as blocked.
void EmbeddedStore::route(store::Call<store::FindBlocked>& call, Mail&) {
  if (call.operation.reason != BlockingReason::waiting_for_children) return call.done({});
  read_aside(call, [this](const store::FindBlocked& query) {
    return find_waiting_nodes(*database_, query);
  });
}
void EmbeddedStore::route(store::Call<store::FindOwedCancels>& call, Mail&) { call.done({}); }
void EmbeddedStore::route(store::Call<core::CancelOwedMembers>& call, Mail&) { call.done({}); }
void EmbeddedStore::route(store::Call<core::CancelSiblings>& call, Mail&) { call.done({}); }
void EmbeddedStore::route(store::Call<store::CountBlocked>& call, Mail&) { call.done({}); }
void EmbeddedStore::route(store::Call<core::Unblock>& call, Mail&) { call.done({}); }

void EmbeddedStore::route(store::Call<ListExecutions>& call, Mail&) {
  read_aside(call, [this](const ListExecutions& query) { return list(*database_, query); });
}

void EmbeddedStore::route(store::Call<ListFlows>& call, Mail&) {
  read_aside(call, [this](const ListFlows& query) { return list_flows(*database_, query); });
}

void EmbeddedStore::route(store::Call<store::FindOpenFlows>& call, Mail&) {
  read_aside(call, [this](const store::FindOpenFlows& query) {
    return find_open_flows(*database_, query);
  });
}

void EmbeddedStore::route(store::Call<ListFlowNodes>& call, Mail&) {
  read_aside(call, [this](const ListFlowNodes& query) {
    return list_nodes(*database_, {partition_of(query.id), query.id.uuid()}, query);
  });
}

void EmbeddedStore::route(store::Call<GetInputs>& call, Mail&) {
  read_aside(call, [this](const GetInputs& query) { return read_inputs(*database_, query); });
}

void EmbeddedStore::route(store::Call<store::RetentionDue>& call, Mail&) {
  read_aside(call, [this](const store::RetentionDue& query) {
    return retention_due(*database_, retention_mark_, now(), query.max);
  });
}

void EmbeddedStore::route(store::Call<Backup>& call, Mail&) {
  read_aside(call, [this](const Backup& backup) {
    return back_up(*database_, options_.directory, backup.name);
  });
}

void EmbeddedStore::route(store::Call<ReadAudit>& call, Mail&) {
  read_aside(call, [this](const ReadAudit& query) { return read_audit(*database_, query); });
}

template <class Query, class Op, class Join>
void EmbeddedStore::ask_all(Query query, store::Call<Op>& call, Mail& mail, Join join) {
  using Share = typename Query::Reply;
  struct Gather {
    std::mutex mutex;
    std::size_t missing;
    std::vector<Share> shares = {};
    std::optional<Error> error = {};
    store::Call<Op> call;
  };
  auto gather = std::make_shared<Gather>();
  gather->missing = shards_.size();
  gather->call = std::move(call);
  for (auto& calls : mail.shards)
    calls.push_back(store::Call<Query>{query, [gather, join](Result<Share> share) {
                                         const std::lock_guard lock(gather->mutex);
                                         if (share)
                                           gather->shares.push_back(std::move(*share));
                                         else
                                           gather->error = std::move(share.error());
                                         if (--gather->missing > 0) return;
                                         if (gather->error)
                                           gather->call.done(std::unexpected(*gather->error));
                                         else
                                           gather->call.done(join(std::move(gather->shares)));
                                       }});
}

template <class Op, class Read>
void EmbeddedStore::read_aside(store::Call<Op>& call, Read read) {
  asio::post(reader_, [this, call = std::move(call), read]() mutable {
    const Error* fault = fault_.get();
    using Reply = Result<typename Op::Reply>;
    Reply reply = fault ? Reply(std::unexpected(*fault)) : read(call.operation);
    Announcements after_sync;
    after_sync.add_reply(std::move(call.done), std::move(reply));
    committer_.enqueue(std::move(after_sync));
  });
}

Result<void> EmbeddedStore::health() const {
  if (const Error* fault = fault_.get()) return std::unexpected(*fault);
  return {};
}

}  // namespace ff::embedded
