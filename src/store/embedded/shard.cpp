#include "store/embedded/shard.hpp"

#include "base/assert.hpp"
#include "store/durability.hpp"
#include "store/embedded/keys.hpp"
#include "store/embedded/records.hpp"

namespace ff::embedded {

Shard::~Shard() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Shard::start(store::AnyCall call) {
  {
    const std::lock_guard lock(mutex_);
    mailbox_.push_back(std::move(call));
  }
  changed_.notify_one();
}

void Shard::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !mailbox_.empty(); });
    if (mailbox_.empty()) return;
    auto calls = std::exchange(mailbox_, {});
    lock.unlock();
    process(std::move(calls));
    lock.lock();
  }
}

void Shard::process(std::vector<store::AnyCall> calls) {
  Batch batch(parts_.database);
  for (auto& any : calls)
    std::visit(
        [&]<class Op>(store::Call<Op>& call) {
          // After a fault nothing is applied any more: memory may be ahead of the disk.
          if (const Error* fault = parts_.fault.get())
            return batch.announcements.add_reply<typename Op::Reply>(std::move(call.done),
                                                                     std::unexpected(*fault));
          auto reply = execute(std::move(call.operation), batch);
          batch.announcements.add_reply<typename Op::Reply>(std::move(call.done), std::move(reply));
        },
        any);

  if (!batch.changes.empty())
    if (auto written = parts_.database.write(batch.changes); !written)
      parts_.fault.set(written.error());
  if (const Error* fault = parts_.fault.get())
    return batch.announcements.release(parts_.sink, fault);

  // Even a reply that needs no sync of its own waits for the ones it may be based on.
  if (batch.must_sync || last_durable_ticket_ > parts_.committer.synced_through()) {
    const auto ticket = parts_.committer.enqueue(std::move(batch.announcements));
    if (batch.must_sync) last_durable_ticket_ = ticket;
  } else {
    batch.announcements.release(parts_.sink);
  }
}

Result<SubmitReply> Shard::execute(core::Create command, Batch& batch) {
  auto found = find(command.id, batch);
  if (!found) return std::unexpected(found.error());
  std::optional<core::Existing> existing;
  if (*found) {
    auto payload = batch.changes.get(keys::payload(command.id));
    if (!payload) return std::unexpected(payload.error());
    existing = {.execution = std::move(**found), .payload = std::move(*payload).value_or("")};
  }
  auto step = core::apply(existing, std::move(command), now());
  if (!step) return std::unexpected(step.error());
  carry_out<core::Create>(nullptr, step, batch);
  return std::move(step->reply);
}

Result<ClaimedExecution> Shard::execute(core::LeaseGrant command, Batch& batch) {
  auto payload = batch.changes.get(keys::payload(command.id));
  if (!payload) return std::unexpected(payload.error());
  auto claimed = change(std::move(command), batch);
  if (claimed) claimed->payload = std::move(*payload).value_or("");
  return claimed;
}

Result<ExecutionInfo> Shard::execute(const GetExecution& query, Batch& batch) {
  const auto execution = load(query.id, batch);
  if (!execution) return std::unexpected(execution.error());
  return core::info_of(*execution);
}

Result<ResultBytes> Shard::execute(const store::ReadResult& query, Batch& batch) {
  const auto execution = load(query.id, batch);
  if (!execution) return std::unexpected(execution.error());
  auto result = batch.changes.get(keys::result(query.id));
  if (!result) return std::unexpected(result.error());
  return core::read_result(*execution, std::move(*result).value_or(""));
}

Result<std::vector<store::Candidate>> Shard::execute(const store::ReadyHeads& query, Batch&) {
  return indexes_.ready_heads(query);
}

Result<std::vector<store::LeaseDue>> Shard::execute(const store::LeasesDue& query, Batch&) {
  return indexes_.leases_due(now(), query.max);
}

template <class Command>
Result<typename Command::Reply> Shard::change(Command command, Batch& batch) {
  const auto before = load(command.id, batch);
  if (!before) return std::unexpected(before.error());
  auto step = core::apply(*before, std::move(command), now());
  if (!step) return std::unexpected(step.error());
  carry_out<Command>(&*before, step, batch);
  return std::move(step->reply);
}

template <class Command>
void Shard::carry_out(const core::Execution* before, const core::Decision<Command>& step,
                      Batch& batch) {
  if (!step->next) return;
  const core::Execution& next = *step->next;
  const bool ended = std::holds_alternative<core::Ended>(core::placement(next));

  if (before) indexes_.remove(*before);
  indexes_.add(next);

  if (ended) batch.changes.erase(keys::live(next.id));
  batch.changes.put(ended ? keys::ended(next.id) : keys::live(next.id), encode(next));
  if (step->payload) batch.changes.put(keys::payload(next.id), *step->payload);
  if (step->result) batch.changes.put(keys::result(next.id), *step->result);

  if (step->event) batch.announcements.add_event(core::make_event(*step->event, next, last_now_));
  batch.must_sync |= ended || store::waits_for_disk<Command>;
}

Result<std::optional<core::Execution>> Shard::find(const ExecutionId& id, Batch& batch) {
  for (const auto& key : {keys::live(id), keys::ended(id)}) {
    const auto bytes = batch.changes.get(key);
    if (!bytes) return std::unexpected(bytes.error());
    if (*bytes) return decode(id, **bytes);
  }
  return std::nullopt;
}

Result<core::Execution> Shard::load(const ExecutionId& id, Batch& batch) {
  auto found = find(id, batch);
  if (!found) return std::unexpected(found.error());
  if (!*found) return core::not_found(id);
  return std::move(**found);
}

TimePoint Shard::now() {
  last_now_ = std::max(last_now_, parts_.clock.now());
  return last_now_;
}

}  // namespace ff::embedded
