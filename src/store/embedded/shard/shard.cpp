#include "store/embedded/shard/shard.hpp"

#include <ranges>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"

namespace ff::embedded {

Shard::Shard(Parts parts)
    : parts_(parts),
      writer_({.database = parts.database,
               .committer = parts.committer,
               .fault = parts.fault,
               .sink = parts.sink,
               .durability = parts.durability}),
      indexes_(parts.ready),
      hot_(parts.hot_bytes_max) {}

void Shard::process(std::vector<ShardCall> calls) {
  auto batch = writer_.begin();
  for (auto& any : calls) any.visit([&](auto& call) { process(call, batch); });
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
  for (const auto& lane : ended_changed_)
    batch.changes.put(keys::ended_count(parts_.number, lane.first, lane.second),
                      encode_ended(indexes_.counts_of(lane)));
  ended_changed_.clear();
  auto written = writer_.write(batch);
  new_keys_.clear();
  removed_.clear();
  return written;
}

void Shard::finish(Batch batch) {
  static_cast<void>(write(batch));  // if that fails, the writer tells everybody
  const auto number = batch.number;
  writer_.finish(std::move(batch));
  hot_.shrink(number, writer_.synced_through());
}

// ---- Commands ------------------------------------------------------------------------------------

Result<SubmitReply> Shard::execute(core::Create command, Batch& batch) {
  Result<HotRecord*> existing = nullptr;
  if (command.submit.idempotency_key)
    existing = find_by_key(command.submit);
  else if (!command.minted)
    existing = find(command.id);
  if (!existing) return std::unexpected(existing.error());
  const auto* execution = *existing ? &(*existing)->execution : nullptr;
  auto step = core::apply(execution, std::move(command), now());
  if (!step) return std::unexpected(step.error());
  carry_out<core::Create>(nullptr, *step, batch);
  return std::move(step->reply);
}

Result<ClaimedExecution> Shard::execute(core::LeaseGrant command, Batch& batch) {
  const auto id = command.id;
  const bool is_ready_claim = command.source == core::LeaseSource::ready;
  auto claimed = change(std::move(command), batch);
  if (!claimed) {
    // Whoever took it from the ready queue does not get it; if it is free, others may.
    if (is_ready_claim) static_cast<void>(execute(store::PutBack{id}, batch));
    return claimed;
  }
  auto* record = hot_.find(id);
  FF_ASSERT(record);
  auto payload = payload_of(*record, batch);
  if (!payload) return std::unexpected(payload.error());
  claimed->payload = std::move(*payload);
  return claimed;
}

template <class Command>
Result<typename Command::Reply> Shard::change(Command command, Batch& batch) {
  const auto before = load(command.id);
  if (!before) return std::unexpected(before.error());
  auto step = core::apply((*before)->execution, std::move(command), now());
  if (!step) return std::unexpected(step.error());
  carry_out<Command>(*before, *step, batch);
  return std::move(step->reply);
}

template <class Command>
void Shard::carry_out(HotRecord* before, core::Step<typename Command::Reply>& step, Batch& batch) {
  if (!step.next) return;
  auto& next = *step.next;
  const bool ended = core::has_ended(next);
  const bool waits = writer_.waits<Command>(ended && !step.remove);
  const auto& id = next.id;
  if (before) indexes_.remove(before->execution);

  auto& announcements = waits || based_on_unsynced_ ? batch.after_sync : batch.at_once;
  if (step.event)
    announcements.add_event(
        core::make_happening(*step.event, before ? &before->execution : nullptr, next, last_now_));
  batch.must_sync |= waits;
  based_on_unsynced_ |= waits;

  if (step.remove) {
    removed_.insert(id);
    forget(next, batch);
    return hot_.erase(next.id);
  }
  indexes_.add(next);
  write_indexes(before ? &before->execution : nullptr, next, batch);
  batch.changes.put(ended ? keys::ended(id) : keys::live(id), encode(next));
  if (step.archive)
    batch.changes.put(keys::attempt(id, step.archive->index), encode(*step.archive));
  if (step.payload) batch.changes.put(keys::payload(id), *step.payload);
  if (step.drop_result) batch.changes.erase(keys::result(id));
  if (step.result) batch.changes.put(keys::result(id), *step.result);

  if (!before) {
    hot_.put({.execution = std::move(next),
              .payload = std::move(step.payload),
              .created_in = batch.number,
              .changed_in = batch.number,
              .durable_in = waits ? batch.number : 0});
  } else {
    before->execution = std::move(next);
    before->changed_in = batch.number;
    if (waits) before->durable_in = batch.number;
  }
}

// The indexes on disk: what ended and when, by time, by tag, by idempotency key.
void Shard::write_indexes(const core::Execution* before, const core::Execution& next,
                          Batch& batch) {
  auto& changes = batch.changes;
  const bool had_ended = before && core::has_ended(*before);
  const bool ended = core::has_ended(next);
  if (had_ended) changes.erase(keys::retention(core::retained_until(*before), next.id));
  if (ended) changes.put(keys::retention(core::retained_until(next), next.id), "");
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

void Shard::forget(const core::Execution& execution, Batch& batch) {
  auto& changes = batch.changes;
  const auto& id = execution.id;
  changes.erase(keys::ended(id));
  changes.erase(keys::payload(id));
  changes.erase(keys::result(id));
  for (std::uint32_t index = 0; index + 1 < execution.attempt_count; ++index)
    changes.erase(keys::attempt(id, index));
  changes.erase(keys::retention(core::retained_until(execution), id));
  changes.erase(keys::by_time(execution.ns, execution.created_at, id));
  for (const auto& [tag, value] : execution.tags)
    changes.erase(keys::by_tag(execution.ns, tag, value, execution.created_at, id));
  ended_changed_.insert({execution.ns, execution.lane});

  if (!execution.idempotency_key) return;
  // A later execution may have the key by now.
  auto key = keys::idempotency(execution.ns, *execution.idempotency_key);
  const auto held = new_keys_.contains(key) ? Result<std::optional<std::string>>{std::nullopt}
                                            : parts_.database.get(key);
  if (!held || !*held) return;
  if (const auto entry = decode_idempotency(**held); entry && entry->id == id) changes.erase(key);
}

// ---- Reads ---------------------------------------------------------------------------------------

Result<ExecutionInfo> Shard::execute(const GetExecution& query, Batch&) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  return core::info_of((*record)->execution);
}

Result<Bytes> Shard::execute(const GetPayload& query, Batch&) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  const auto& type = (*record)->execution.content_type;
  if ((*record)->payload) return Bytes{.bytes = *(*record)->payload, .content_type = type};
  auto payload = stored_payload(query.id);
  if (!payload) return std::unexpected(payload.error());
  return Bytes{.bytes = std::move(*payload), .content_type = type};
}

Result<Bytes> Shard::execute(const store::ReadResult& query, Batch& batch) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  std::optional<std::string> result;
  if (core::has_ended((*record)->execution)) {
    if ((*record)->changed_in == batch.number)
      if (auto written = write(batch); !written) return std::unexpected(written.error());
    auto stored = parts_.database.get(keys::result(query.id));
    if (!stored) return std::unexpected(stored.error());
    result = std::move(*stored);
  }
  return core::read_result((*record)->execution, std::move(result));
}

Result<Attempts> Shard::execute(const GetAttempts& query, Batch& batch) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  const auto attempts = attempts_of(**record, batch);
  if (!attempts) return std::unexpected(attempts.error());
  const bool running = std::holds_alternative<core::Active>((*record)->execution.state);
  Attempts reply;
  for (const auto& attempt : *attempts)
    reply.attempts.push_back(core::info_of(attempt, running && &attempt == &attempts->back()));
  return reply;
}

Result<LeaseHistory> Shard::execute(const GetLeaseHistory& query, Batch& batch) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  const auto attempts = attempts_of(**record, batch);
  if (!attempts) return std::unexpected(attempts.error());
  return core::lease_history((*record)->execution, *attempts);
}

Result<std::vector<LaneCount>> Shard::execute(const CountShare& share, Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  return indexes_.counts(share.ns, share.lane);
}

Result<Done> Shard::execute(const store::PutBack& query, Batch&) {
  const auto record = find(query.id);
  if (!record) return std::unexpected(record.error());
  if (*record && is_ready((*record)->execution)) parts_.ready.add(ready_of((*record)->execution));
  return Done{};
}

Result<Done> Shard::execute(const core::CheckLease& query, Batch&) {
  const auto record = load(query.id);
  if (!record) return std::unexpected(record.error());
  return core::check_lease((*record)->execution, query.fence, now());
}

Result<bool> Shard::execute(const core::HoldsAdmission& query, Batch&) {
  const auto record = find(query.id);
  if (!record) return std::unexpected(record.error());
  return *record && core::held_admission((*record)->execution) == query.admission;
}

Result<store::DueReply> Shard::execute(const store::TimersDue& query, Batch&) {
  return indexes_.due(query, now());
}

Result<std::vector<store::WaitingCount>> Shard::execute(const store::CountWaiting& query,
                                                        Batch& batch) {
  based_on_unsynced_ = !all_synced(batch);
  return indexes_.waiting(query.ns);
}

bool Shard::all_synced(const Batch& batch) const {
  return !batch.must_sync && writer_.is_synced(writer_.last_durable());
}

Result<store::ReconcileReply> Shard::execute(const store::Reconcile& query, Batch& batch) {
  if (auto written = write(batch); !written) return std::unexpected(written.error());
  std::vector<core::Execution> executions;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::live_of(query.partition)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto id = keys::execution_id(key);
        if (!id) return std::unexpected(id.error());
        auto execution = decode(*id, value);
        if (!execution) return std::unexpected(execution.error());
        executions.push_back(std::move(*execution));
        return Database::Next::go_on;
      });
  if (!visited) return std::unexpected(visited.error());
  const auto repaired = indexes_.mend(query.partition, executions);
  if (repaired > 0) log::error("partition={} index entries mended={}", query.partition, repaired);
  return store::ReconcileReply{.checked = executions.size(), .repaired = repaired};
}

// ---- Records -------------------------------------------------------------------------------------

Result<HotRecord*> Shard::find(const ExecutionId& id) {
  if (auto* hot = hot_.find(id)) {
    based_on_unsynced_ |= !writer_.is_synced(hot->durable_in);
    return hot;
  }
  if (removed_.contains(id)) return nullptr;
  for (const auto& key : {keys::live(id), keys::ended(id)}) {
    const auto bytes = parts_.database.get(key);
    if (!bytes) return std::unexpected(bytes.error());
    if (!*bytes) continue;
    auto execution = decode(id, **bytes);
    if (!execution) return std::unexpected(execution.error());
    return &hot_.put({.execution = std::move(*execution)});
  }
  return nullptr;
}

Result<HotRecord*> Shard::load(const ExecutionId& id) {
  auto found = find(id);
  if (found && !*found) return core::refusals::not_found(id);
  return found;
}

Result<HotRecord*> Shard::find_by_key(const Submit& submit) {
  const auto key = keys::idempotency(submit.ns, *submit.idempotency_key);
  if (const auto fresh = new_keys_.find(key); fresh != new_keys_.end())
    return find(fresh->second.id);
  const auto bytes = parts_.database.get(key);
  if (!bytes) return std::unexpected(bytes.error());
  if (!*bytes) return nullptr;
  const auto entry = decode_idempotency(**bytes);
  if (!entry) return std::unexpected(entry.error());
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
  if (!stored) return std::unexpected(stored.error());
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
  if (record.changed_in == batch.number)
    if (auto written = write(batch); !written) return std::unexpected(written.error());
  std::vector<core::Attempt> attempts;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::attempts_of(execution.id)},
      [&](std::string_view, std::string_view value) -> Result<Database::Next> {
        auto attempt = decode_attempt(execution.id, value);
        if (!attempt) return std::unexpected(attempt.error());
        attempts.push_back(std::move(*attempt));
        return Database::Next::go_on;
      });
  if (!visited) return std::unexpected(visited.error());
  if (execution.attempt) attempts.push_back(*execution.attempt);
  return attempts;
}

TimePoint Shard::now() {
  last_now_ = std::max(last_now_, parts_.clock.now());
  return last_now_;
}

}  // namespace ff::embedded
