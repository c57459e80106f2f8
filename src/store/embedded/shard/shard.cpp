#include "store/embedded/shard/shard.hpp"

#include <ranges>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/overloaded.hpp"
#include "base/try.hpp"
#include "core/flows/draft.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/stream_records.hpp"
#include "store/embedded/disk/suspension_records.hpp"

namespace ff::embedded {
namespace {

// A quota's slots are rebuilt from the executions when the store is opened, so a crash releases a token by
// itself; the effect is kept in memory alone.
bool is_recorded(const core::Effect& effect) {
  return !std::holds_alternative<core::ReleaseToken>(effect);
}

// The execution of a change that looks in the database for what it erases.
std::optional<ExecutionId> erases_many(const core::Change& change) {
  if (const auto* remove = std::get_if<core::RemoveExecution>(&change)) return remove->last.id;
  const auto* erase = std::get_if<core::EraseBelonging>(&change);
  return erase && core::is_many(erase->kind) ? std::optional(erase->id) : std::nullopt;
}

}  // namespace

Shard::Shard(Parts parts)
    : parts_(parts),
      writer_({.database = parts.database,
               .committer = parts.committer,
               .fault = parts.fault,
               .sinks = parts.sinks,
               .durability = parts.durability}),
      indexes_(parts.ready),
      hot_(parts.hot_bytes_max),
      live_streams_(parts.live_bytes_max) {}

void Shard::process(std::vector<ShardCall> calls) {
  auto batch = writer_.begin();
  batch_ = &batch;
  for (auto& any : calls) any.visit([&](auto& call) { process(call, batch); });
  batch_ = nullptr;
  finish(std::move(batch));
}

template <class Op>
void Shard::process(store::Call<Op>& call, Batch& batch) {
  using Reply = typename Op::Reply;
  // After a fault nothing is applied any more: memory may be ahead of the disk.
  if (const Error* fault = parts_.fault.get())
    return batch.at_once.add_reply<Reply>(std::move(call.done), std::unexpected(*fault));
  based_on_unsynced_ = false;
  auto reply = execute(std::move(call.operation), batch);
  auto& when = based_on_unsynced_ ? batch.after_sync : batch.at_once;
  when.add_reply<Reply>(std::move(call.done), std::move(reply));
}

// Writes what the batch holds so far; it may go on.
Result<void> Shard::write(Batch& batch) {
  for (const auto& lane : ended_changed_) {
    const auto key = keys::ended_count(parts_.number, lane.first, lane.second);
    const auto counts = encode_ended(indexes_.counts_of(lane));
    if (counts == encode_ended({}))
      batch.changes.erase(key);
    else
      batch.changes.put(key, counts);
  }
  ended_changed_.clear();
  auto written = writer_.write(batch);
  if (const auto first = std::exchange(first_retained_, std::nullopt))
    parts_.retention_mark.lower(*first);
  new_keys_.clear();
  removed_.clear();
  removed_flows_.clear();
  unwritten_members_of_.clear();
  unwritten_edges_of_.clear();
  unwritten_edges_.clear();
  return written;
}

void Shard::finish(Batch batch) {
  static_cast<void>(write(batch));  // if that fails, the writer tells everybody
  const auto number = batch.number;
  writer_.finish(std::move(batch));
  forget_live_streams();
  hot_.shrink(number, writer_.synced_through());
  shrink_flows(number);
}

// ---- Commands ------------------------------------------------------------------------------------

Result<ClaimedExecution> Shard::execute(core::LeaseGrant command, Batch& batch) {
  const auto id = command.id;
  const bool is_ready_claim = command.source == core::LeaseSource::ready;
  skip_lost_epochs(id);
  auto claimed = start_execution(std::move(command), batch);
  if (!claimed) {
    // The failed claim returns the execution to the ready queue; if it is free, other claims can take it.
    if (is_ready_claim) static_cast<void>(execute(store::PutBack{id}, batch));
    return claimed;
  }
  auto* record = hot_.find(id);
  FF_ASSERT(record);
  auto payload = payload_of(*record, batch);
  FF_TRY(payload);
  claimed->payload = std::move(*payload);
  return claimed;
}

// The nodes of a flow end all the time; a lease on another one does not wait until these ends are on disk.
Result<ClaimedExecution> Shard::start_execution(core::LeaseGrant command, Batch& batch) {
  starts_execution_ = true;
  auto claimed = change(std::move(command), batch);
  starts_execution_ = false;
  return claimed;
}

// A power cut may have lost leases that workers have heard of: their epochs are not given again.
void Shard::skip_lost_epochs(const ExecutionId& id) {
  if (epoch_floor_ == LeaseEpoch{}) return;
  const auto record = find_record(id);
  if (!record || !*record) return;
  auto& execution = (*record)->execution;
  if (execution.created_at > epoch_floor_until_) return;
  if (std::holds_alternative<core::Active>(execution.state)) return;  // it gets no other lease now
  execution.last_epoch = std::max(execution.last_epoch, epoch_floor_);
}

template <class Command>
Result<typename Command::Reply> Shard::change(Command command, Batch& batch) {
  auto plan = core::decide(*this, std::move(command), now());
  FF_TRY(plan);
  FF_TRY(core::add_consequences(*this, *plan, now()));
  if (!plan->changes.empty()) {
    const bool waits =
        writer_.waits<Command>(plan->waits_for_disk || core::ends_execution(plan->changes));
    carry_out({std::move(plan->changes), std::move(plan->effects), waits}, batch);
  }
  return std::move(plan->reply);
}

void Shard::carry_out(Decided decided, Batch& batch) {
  // Before the first change of the plan: it is written as a whole.
  for (const auto& change : decided.changes)
    if (const auto id = erases_many(change)) static_cast<void>(write_changes_of(*id));
  auto& announcements = decided.waits || based_on_unsynced_ ? batch.after_sync : batch.at_once;
  batch.must_sync |= decided.waits;
  based_on_unsynced_ |= decided.waits;
  const auto durable_in = depends_on(batch);
  // Not if the change frees a slot: the work may need that, and it is free only once the effect is carried out.
  const bool offers_early = decided.waits && decided.effects.empty();
  std::optional<std::string> payload;  // of the execution that is put next
  // The first event carries the effects.
  const auto announce = [&](const std::optional<EventType>& event, PartitionIndex partition,
                            auto make_change) {
    keep_effects(partition, decided.effects, batch);
    if (!event) return;
    core::ExecutionChange change = make_change(*event);
    change.effects = std::exchange(decided.effects, {});
    if (offers_early && change.claimable) {
      auto& offer = batch.offers.emplace_back(change);
      offer.timer.reset();
      change.claimable = false;
    }
    announcements.add_event(std::move(change));
  };
  const auto announce_execution = [&](const std::optional<EventType>& event,
                                      const core::Execution& of) {
    announce(event, of.id.partition(),
             [&](EventType type) { return core::make_change(type, of, last_now_); });
  };
  for (auto& change : decided.changes)
    std::visit(Overloaded{
                   [&](core::PutExecution& put) {
                     announce_execution(put.event, put.next);
                     put_execution(std::move(put.next), std::exchange(payload, std::nullopt),
                                   durable_in, batch);
                   },
                   [&](const core::RemoveExecution& remove) {
                     announce_execution(remove.event, remove.last);
                     remove_execution(remove.last, batch);
                   },
                   [&](core::PutBelonging& put) {
                     if (put.kind == core::Belonging::frames) announcements.add_frames(put.id);
                     payload = put_belonging(put, durable_in, batch);
                   },
                   [&](const core::EraseBelonging& erase) {
                     const auto* record = hot_.find(erase.id);
                     FF_ASSERT(record);
                     erase_belongings(record->execution, erase.kind, batch);
                   },
                   [&](core::PutFlow& put) {
                     announce(put.event, put.next.partition, [&](EventType type) {
                       return core::make_change(type, put.next, last_now_);
                     });
                     put_flow(std::move(put.next), durable_in, batch);
                   },
                   [&](const core::RemoveFlow& remove) { remove_flow(remove.last, batch); },
                   [&](const core::AddMember& add) { add_member(add, batch); },
                   [&](const core::AddEdge& add) { add_edge(add.edge, batch); },
                   [&](const core::PutEdge& put) { put_edge(put.edge, batch); },
                   [&](const core::EraseAppend& erase) { erase_append(erase, batch); },
               },
               change);
}

// The batch that must be synced before anybody hears of what the current call changes; 0: none. A change that
// does not wait itself may be based on one that does.
BatchNumber Shard::depends_on(const Batch& batch) const {
  if (!based_on_unsynced_) return 0;
  return batch.must_sync ? batch.number : writer_.last_durable();
}

void Shard::keep_effects(PartitionIndex partition, std::span<const core::Effect> effects,
                         Batch& batch) {
  for (const auto& effect : effects) {
    auto text = core::to_text(effect);
    if (is_recorded(effect)) batch.changes.put(keys::effect(partition, text), "");
    effects_.emplace(partition, std::move(text));
  }
}

void Shard::put_execution(core::Execution&& next, std::optional<std::string> payload,
                          BatchNumber durable_in, Batch& batch) {
  const auto id = next.id;
  if (next.has_streams && core::has_ended(next)) live_streams_.end(id, last_now_);
  auto* before = hot_.find(id);
  if (before) indexes_.remove(before->execution);
  indexes_.add(next);
  write_indexes(before ? &before->execution : nullptr, next, batch);
  batch.changes.put(core::has_ended(next) ? keys::ended(id) : keys::live(id), encode(next));
  if (!before) {
    hot_.put({.execution = std::move(next),
              .payload = std::move(payload),
              .created_in = batch.number,
              .changed_in = batch.number,
              .durable_in = durable_in});
  } else {
    before->execution = std::move(next);
    if (payload) before->payload = std::move(payload);
    before->changed_in = batch.number;
    before->durable_in = std::max(before->durable_in, durable_in);
    hot_.resized(id);
  }
}

// Returns a payload, which memory keeps for the first claim.
std::optional<std::string> Shard::put_belonging(core::PutBelonging& put, BatchNumber durable_in,
                                                Batch& batch) {
  auto& changes = batch.changes;
  const auto& id = put.id;
  std::optional<std::string> payload;
  std::visit(Overloaded{
                 [&](std::string& bytes) {
                   changes.put(keys::belonging(id, put.kind), bytes);
                   if (put.kind == core::Belonging::payload) payload = std::move(bytes);
                 },
                 [&](const core::Attempt& attempt) {
                   changes.put(keys::attempt(id, attempt.index), encode(attempt));
                 },
                 [&](core::Waits& waits) { put_waits(id, std::move(waits), batch); },
                 [&](const core::WaitDetails& details) {
                   changes.put(keys::belonging(id, put.kind), encode(details));
                 },
                 [&](const core::StoredSignal& signal) {
                   changes.put(keys::signal(id, signal.index), encode(signal));
                 },
                 [&](const core::SignalPayload& signal) {
                   changes.put(keys::signal_payload(id, signal.index), signal.bytes);
                 },
                 [&](const core::KnownSignal& known) {
                   changes.put(keys::signal_key(id, known.key), encode(known));
                 },
                 [&](const core::SignalIndex& signal) {
                   changes.put(keys::signal_id(id, signal.id), keys::signal(id, signal.index));
                 },
                 [&](const core::StoredStep& step) {
                   changes.put(keys::step(id, step.name), encode(step));
                 },
                 [&](core::Streams& streams) {
                   put_streams(id, std::move(streams), durable_in, batch);
                 },
                 [&](core::Append& append) { put_append(id, std::move(append), batch); },
                 [&](const core::StreamDocument& document) {
                   changes.put(keys::document(id, document.stream), document.text);
                 },
             },
             put.value);
  return payload;
}

// The indexes on disk: what ended and when, by time, by tag, by idempotency key.
void Shard::write_indexes(const core::Execution* before, const core::Execution& next,
                          Batch& batch) {
  auto& changes = batch.changes;
  const bool had_ended = before && core::has_ended(*before);
  const bool ended = core::has_ended(next);
  if (had_ended && !next.flow)
    changes.erase(keys::retention(core::retained_until(*before), next.id));
  if (ended && !next.flow) {  // a node is kept as long as its flow
    const auto until = core::retained_until(next);
    changes.put(keys::retention(until, next.id), "");
    first_retained_ = std::min(first_retained_.value_or(until), until);
  }
  if (had_ended != ended) {
    if (before) changes.erase(ended ? keys::live(next.id) : keys::ended(next.id));
    ended_changed_.insert({next.ns, next.lane});
  }
  if (!before) {
    changes.put(keys::by_time(next.ns, next.created_at, next.id), "");
    if (next.idempotency_key) {
      auto key = keys::idempotency(next.ns, *next.idempotency_key);
      const IdempotencyEntry entry{.id = next.id, .until = core::idempotency_until(next)};
      changes.put(key, encode(entry));
      new_keys_.insert_or_assign(std::move(key), entry);
    }
  }
  if (before && before->tags == next.tags) return;
  if (before)
    for (const auto& [tag, value] : before->tags)
      changes.erase(keys::by_tag(next.ns, tag, value, next.created_at, next.id));
  for (const auto& [tag, value] : next.tags)
    changes.put(keys::by_tag(next.ns, tag, value, next.created_at, next.id), "");
}

void Shard::remove_execution(const core::Execution& last, Batch& batch) {
  auto& changes = batch.changes;
  const auto& id = last.id;
  indexes_.remove(last);
  removed_.insert(id);
  changes.erase(keys::ended(id));
  for (const auto kind : core::belongings) erase_belongings(last, kind, batch);
  if (last.flow)
    changes.erase(keys::member(subject_of(last.flow->flow), last.flow->index));
  else
    changes.erase(keys::retention(core::retained_until(last), id));
  changes.erase(keys::by_time(last.ns, last.created_at, id));
  for (const auto& [tag, value] : last.tags)
    changes.erase(keys::by_tag(last.ns, tag, value, last.created_at, id));
  ended_changed_.insert({last.ns, last.lane});
  hot_.erase(id);
  if (last.flow) hot_edges_.erase(id);

  if (!last.idempotency_key) return;
  // A later execution may have the key by now.
  auto key = keys::idempotency(last.ns, *last.idempotency_key);
  const auto held = new_keys_.contains(key) ? Result<std::optional<std::string>>{std::nullopt}
                                            : parts_.database.get(key);
  if (!held || !*held) return;
  if (const auto entry = decode_idempotency(**held); entry && entry->id == id) changes.erase(key);
}

// ---- Reads ---------------------------------------------------------------------------------------

Result<ExecutionInfo> Shard::execute(const GetExecution& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  return core::info_of((*record)->execution);
}

Result<Bytes> Shard::execute(const GetPayload& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto& type = (*record)->execution.content_type;
  if ((*record)->payload) return Bytes{.bytes = *(*record)->payload, .content_type = type};
  auto payload = stored_payload(query.id);
  FF_TRY(payload);
  return Bytes{.bytes = std::move(*payload), .content_type = type};
}

Result<Bytes> Shard::execute(const store::ReadResult& query, Batch& batch) {
  const auto record = load(query.id);
  FF_TRY(record);
  std::optional<std::string> result;
  if (core::has_ended((*record)->execution)) {
    if ((*record)->changed_in == batch.number) FF_TRY(write(batch));
    auto stored = parts_.database.get(keys::result(query.id));
    FF_TRY(stored);
    result = std::move(*stored);
  }
  return core::read_result((*record)->execution, std::move(result));
}

Result<Attempts> Shard::execute(const GetAttempts& query, Batch& batch) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto attempts = attempts_of(**record, batch);
  FF_TRY(attempts);
  const bool running = std::holds_alternative<core::Active>((*record)->execution.state);
  Attempts reply;
  for (const auto& attempt : *attempts)
    reply.attempts.push_back(core::info_of(attempt, running && &attempt == &attempts->back()));
  return reply;
}

Result<LeaseHistory> Shard::execute(const GetLeaseHistory& query, Batch& batch) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto attempts = attempts_of(**record, batch);
  FF_TRY(attempts);
  return core::lease_history((*record)->execution, *attempts);
}

Result<std::vector<LaneCount>> Shard::execute(const CountShare& share, Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  return indexes_.counts(share.ns, share.lane);
}

Result<Done> Shard::execute(const store::PutBack& query, Batch&) {
  const auto execution = find(query.id);
  FF_TRY(execution);
  if (*execution && is_ready(**execution)) parts_.ready.add(ready_of(**execution));
  return Done{};
}

Result<Done> Shard::execute(const core::CheckLease& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  return core::check_lease((*record)->execution, query.fence, now());
}

Result<bool> Shard::execute(const core::HoldsToken& query, Batch&) {
  const auto execution = find(query.id);
  FF_TRY(execution);
  return *execution && core::held_token(**execution) == query.token;
}

Result<store::DueReply> Shard::execute(const store::TimersDue& query, Batch&) {
  return indexes_.due(query, now());
}

Result<std::vector<store::WaitingCount>> Shard::execute(const store::CountWaiting& query,
                                                        Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  return indexes_.waiting(query.ns);
}

Result<std::vector<store::HeldExecution>> Shard::execute(const store::FindHeld& query,
                                                         Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  return indexes_.held(query);
}

Result<store::EffectPage> Shard::execute(const store::FindEffects& query, Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  store::EffectPage page;
  for (const auto& [partition, text] : effects_) {
    auto effect = core::effect_from(text);
    if (!effect) continue;  // of a newer version
    page.more = page.effects.size() == query.max;
    if (page.more) break;
    page.effects.push_back({partition, std::move(*effect)});
  }
  return page;
}

Result<Done> Shard::execute(const store::SettleEffects& command, Batch& batch) {
  for (const auto& effect : command.effects) {
    // The flow may have begun another walk since.
    if (const auto* advance = std::get_if<core::AdvanceFlow>(&effect)) {
      const auto flow = find_flow(advance->id);
      FF_TRY(flow);
      if (*flow && (*flow)->walk) continue;
    }
    auto text = core::to_text(effect);
    if (is_recorded(effect)) batch.changes.erase(keys::effect(command.partition, text));
    effects_.erase({command.partition, std::move(text)});
  }
  return Done{};
}

bool Shard::all_synced(const Batch& batch) const {
  return !batch.must_sync && writer_.is_synced(writer_.last_durable());
}

Result<store::ReconcileReply> Shard::execute(const store::Reconcile& query, Batch& batch) {
  FF_TRY(write(batch));
  std::vector<core::Execution> executions;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::live_of(query.partition)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto id = keys::execution_id(key);
        FF_TRY(id);
        auto execution = decode(*id, value);
        FF_TRY(execution);
        executions.push_back(std::move(*execution));
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  const auto repaired = indexes_.mend(query.partition, executions);
  if (repaired > 0) log::error("partition={} index entries mended={}", query.partition, repaired);
  return store::ReconcileReply{.checked = executions.size(), .repaired = repaired};
}

// ---- Records -------------------------------------------------------------------------------------

Result<HotRecord*> Shard::find_record(const ExecutionId& id) {
  if (auto* hot = hot_.find(id)) {
    based_on_unsynced_ |= !writer_.is_synced(hot->durable_in);
    return hot;
  }
  if (removed_.contains(id)) return nullptr;
  for (const auto& key : {keys::live(id), keys::ended(id)}) {
    const auto bytes = parts_.database.get(key);
    FF_TRY(bytes);
    if (!*bytes) continue;
    auto execution = decode(id, **bytes);
    FF_TRY(execution);
    return &hot_.put({.execution = std::move(*execution)});
  }
  return nullptr;
}

Result<HotRecord*> Shard::load(const ExecutionId& id) {
  auto found = find_record(id);
  if (found && !*found) return core::refusals::not_found(id);
  return found;
}

Result<const core::Execution*> Shard::find(const ExecutionId& id) {
  const auto record = find_record(id);
  FF_TRY(record);
  return *record ? &(*record)->execution : nullptr;
}

Result<const core::Execution*> Shard::find(const Namespace& ns, const IdempotencyKey& text) {
  const auto key = keys::idempotency(ns, text);
  if (const auto fresh = new_keys_.find(key); fresh != new_keys_.end())
    return find(fresh->second.id);
  const auto bytes = parts_.database.get(key);
  FF_TRY(bytes);
  if (!*bytes) return nullptr;
  const auto entry = decode_idempotency(**bytes);
  FF_TRY(entry);
  if (entry->until <= now()) return nullptr;
  return find(entry->id);
}

// For its worker: who has it will hardly be asked for it again, so memory lets go of it.
Result<std::string> Shard::payload_of(HotRecord& record, const Batch& batch) {
  const auto& id = record.execution.id;
  if (!record.payload) return stored_payload(id);
  if (record.created_in == batch.number) return *record.payload;
  auto payload = std::exchange(record.payload, std::nullopt);
  hot_.resized(id);
  return std::move(*payload);
}

Result<std::string> Shard::stored_payload(const ExecutionId& id) {
  auto stored = parts_.database.get(keys::payload(id));
  FF_TRY(stored);
  if (!*stored)
    return fail(Errc::store_damaged,
                fmt::format("the payload of execution {} is missing; restore the data directory "
                            "from a backup",
                            id.str()));
  return std::move(**stored);
}

// All of them, the oldest first.
Result<std::vector<core::Attempt>> Shard::attempts_of(const HotRecord& record, Batch& batch) {
  const auto& execution = record.execution;
  if (record.changed_in == batch.number) FF_TRY(write(batch));
  std::vector<core::Attempt> attempts;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::attempts_of(execution.id)},
      [&](std::string_view, std::string_view value) -> Result<Database::Next> {
        auto attempt = decode_attempt(execution.id, value);
        FF_TRY(attempt);
        attempts.push_back(std::move(*attempt));
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  if (execution.attempt) attempts.push_back(*execution.attempt);
  return attempts;
}

TimePoint Shard::now() {
  last_now_ = std::max(last_now_, parts_.clock.now());
  return last_now_;
}

}  // namespace ff::embedded
