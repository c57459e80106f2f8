// The part of a shard that reads and writes waitpoints, suspensions, signals and steps.
#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/suspension_records.hpp"
#include "store/embedded/shard/shard.hpp"

namespace ff::embedded {

Result<void> Shard::write_changes_of(const ExecutionId& id) {
  FF_ASSERT(batch_);
  const auto* record = hot_.find(id);
  if (!record || record->changed_in != batch_->number) return {};
  return write(*batch_);
}

void Shard::put_waits(const ExecutionId& id, core::Waits waits, Batch& batch) {
  auto* record = hot_.find(id);
  FF_ASSERT(record);
  if (record->waits && *record->waits == waits) return;
  batch.changes.put(keys::belonging(id, core::Belonging::waits), encode(waits));
  record->waits = std::make_unique<core::Waits>(std::move(waits));
}

// Most executions have none of most kinds; those are not looked for.
void Shard::erase_belongings(const core::Execution& of, core::Belonging kind, Batch& batch) {
  auto& changes = batch.changes;
  const auto& id = of.id;
  switch (kind) {
    case core::Belonging::payload:
    case core::Belonging::result: return changes.erase(keys::belonging(id, kind));
    case core::Belonging::attempt:
      for (std::uint32_t index = 0; index + 1 < of.attempt_count; ++index)
        changes.erase(keys::attempt(id, index));
      return;
    case core::Belonging::waits:
      if (!of.has_waits) return;
      if (auto* record = hot_.find(id)) record->waits.reset();
      return changes.erase(keys::belonging(id, kind));
    case core::Belonging::wait_details:
      if (of.has_waits) changes.erase(keys::belonging(id, kind));
      return;
    case core::Belonging::signal:
      for (std::uint32_t index = 0; index < of.signal_count; ++index)
        changes.erase(keys::signal(id, index));
      return;
    case core::Belonging::signal_payload:
    case core::Belonging::signal_key:
    case core::Belonging::signal_id:
      if (of.signal_count > 0) erase_found(id, kind, batch);
      return;
    case core::Belonging::step:
      if (of.step_count > 0) erase_found(id, kind, batch);
      return;
    case core::Belonging::edge_in:
      for (std::uint32_t index = 0; of.flow && index < of.flow->edges_in; ++index)
        changes.erase(keys::edge_in({id, index}));
      return;
    case core::Belonging::edge_out:
      if (of.flow && of.flow->edges_out > 0) erase_found(id, kind, batch);
      return;
    case core::Belonging::streams:
      if (!of.has_streams) return;
      live_streams_.erase(id);
      if (auto* record = hot_.find(id)) record->streams.reset();
      return changes.erase(keys::belonging(id, kind));
    case core::Belonging::frames:
    case core::Belonging::document:
      if (of.has_streams) erase_found(id, kind, batch);
      return;
  }
}

// If reading fails, so does the next write, and the store stops.
void Shard::erase_found(const ExecutionId& id, core::Belonging kind, Batch& batch) {
  static_cast<void>(parts_.database.for_each(
      {.prefix = keys::belonging(id, kind)},
      [&](std::string_view key, std::string_view) -> Result<Database::Next> {
        batch.changes.erase(key);
        return Database::Next::go_on;
      }));
}

// ---- As core sees them ---------------------------------------------------------------------------

Result<core::Waits> Shard::find_waits(const core::Execution& execution) {
  if (!execution.has_waits) return core::Waits{};
  auto* record = hot_.find(execution.id);
  FF_ASSERT(record);
  if (!record->waits) {
    const auto bytes = parts_.database.get(keys::belonging(execution.id, core::Belonging::waits));
    FF_TRY(bytes);
    if (!*bytes) return damaged_suspension(execution.id);
    auto waits = decode_waits(execution.id, **bytes);
    FF_TRY(waits);
    const bool suspended = std::holds_alternative<core::Suspended>(execution.state);
    if (suspended && !waits->suspension) return damaged_suspension(execution.id);
    record->waits = std::make_unique<core::Waits>(std::move(*waits));
    hot_.resized(execution.id);
  }
  return *record->waits;
}

Result<core::WaitDetails> Shard::find_details(const core::Execution& execution,
                                              const core::Waits& waits) {
  if (!waits.has_details) return core::WaitDetails{};
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  const auto bytes = parts_.database.get(keys::belonging(id, core::Belonging::wait_details));
  FF_TRY(bytes);
  return *bytes ? decode_details(id, **bytes) : damaged_suspension(id);
}

Result<std::vector<core::StoredSignal>> Shard::find_signals(
    const core::Execution& execution, std::span<const std::uint32_t> indexes) {
  const auto id = execution.id;
  std::vector<core::StoredSignal> signals;
  if (!indexes.empty()) FF_TRY(write_changes_of(id));
  for (const auto index : indexes) {
    const auto bytes = parts_.database.get(keys::signal(id, index));
    FF_TRY(bytes);
    auto signal = decode_signal(id, index, bytes->value_or(""));
    FF_TRY(signal);
    signals.push_back(std::move(*signal));
  }
  return signals;
}

Result<std::vector<core::StoredSignal>> Shard::find_signals(const core::Execution& execution,
                                                            std::uint32_t from) {
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  std::vector<core::StoredSignal> signals;
  Range range{.prefix = keys::belonging(id, core::Belonging::signal)};
  if (from > 0) range.after = keys::signal(id, from - 1);
  const auto visited = parts_.database.for_each(
      range, [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        auto signal = decode_signal(id, keys::index_in(key), value);
        FF_TRY(signal);
        signals.push_back(std::move(*signal));
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  return signals;
}

Result<std::optional<core::KnownSignal>> Shard::find_signal(const core::Execution& execution,
                                                            const SignalKey& key) {
  if (execution.signal_count == 0) return std::nullopt;
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  const auto bytes = parts_.database.get(keys::signal_key(id, key));
  FF_TRY(bytes);
  if (!*bytes) return std::nullopt;
  auto known = decode_known_signal(id, key, **bytes);
  FF_TRY(known);
  return std::move(*known);
}

Result<std::optional<core::StoredSignal>> Shard::find_signal(const core::Execution& execution,
                                                             const SignalId& signal) {
  if (execution.signal_count == 0) return std::nullopt;
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  const auto key = parts_.database.get(keys::signal_id(id, signal));
  FF_TRY(key);
  if (!*key) return std::nullopt;
  const auto bytes = parts_.database.get(**key);
  FF_TRY(bytes);
  auto stored = decode_signal(id, keys::index_in(**key), bytes->value_or(""));
  FF_TRY(stored);
  return std::move(*stored);
}

Result<bool> Shard::has_step(const core::Execution& execution, const StepName& name) {
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  const auto bytes = parts_.database.get(keys::step(id, name));
  FF_TRY(bytes);
  return bytes->has_value();
}

// ---- Reads ---------------------------------------------------------------------------------------

Result<SuspensionReply> Shard::execute(const GetSuspension& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto waits = find_waits((*record)->execution);
  FF_TRY(waits);
  const auto details = find_details((*record)->execution, *waits);
  FF_TRY(details);
  return core::info_of(*waits, *details, core::has_ended((*record)->execution));
}

Result<SignalPage> Shard::execute(const GetSignals& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto count = (*record)->execution.signal_count;
  SignalPage page;
  if (query.from >= count) return page;
  FF_TRY(write_changes_of(query.id));
  std::size_t bytes = 0;
  for (auto index = query.from; index < count; ++index) {
    if (page.signals.size() == query.limit || bytes >= limits::signals_page_bytes_max) {
      page.next = index;
      break;
    }
    const auto stored = parts_.database.get(keys::signal(query.id, index));
    FF_TRY(stored);
    auto signal = decode_signal(query.id, index, stored->value_or(""));
    FF_TRY(signal);
    auto payload = parts_.database.get(keys::signal_payload(query.id, index));
    FF_TRY(payload);
    page.signals.push_back(core::info_of(std::move(*signal), std::move(*payload).value_or("")));
    bytes += page.signals.back().payload.size() + sizeof(ReceivedSignal);
  }
  return page;
}

Result<std::optional<core::FoundSignal>> Shard::execute(const core::FindSignal& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto& execution = (*record)->execution;
  const auto known = find_signal(execution, query.key);
  FF_TRY(known);
  if (!*known) return std::nullopt;
  const auto signal = find_signal(execution, (*known)->id);
  FF_TRY(signal);
  if (!*signal) return std::nullopt;
  return core::FoundSignal{.name = (*signal)->name, .effect = (*known)->effect};
}

Result<Bytes> Shard::execute(const GetStep& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  FF_TRY(write_changes_of(query.id));
  const auto bytes = parts_.database.get(keys::step(query.id, query.name));
  FF_TRY(bytes);
  if (!*bytes) return core::refusals::step_not_found(query.id, query.name);
  auto step = decode_step(query.id, query.name.str(), **bytes);
  FF_TRY(step);
  return Bytes{.bytes = std::move(step->result), .content_type = std::move(step->content_type)};
}

Result<StepList> Shard::execute(const ListSteps& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  FF_TRY(write_changes_of(query.id));
  StepList list;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::belonging(query.id, core::Belonging::step)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        auto step = decode_step(query.id, keys::text_in(key), value);
        FF_TRY(step);
        list.steps.push_back({.name = std::move(step->name),
                              .at = step->at,
                              .bytes = step->result.size(),
                              .content_type = std::move(step->content_type)});
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  return list;
}

}  // namespace ff::embedded
