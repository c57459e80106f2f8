#include "store/embedded/shard/hot_records.hpp"

#include "base/assert.hpp"

namespace ff::embedded {
namespace {

std::size_t size_of(const core::Waits& waits) {
  constexpr std::size_t condition = 512;  // of a usual one
  std::size_t bytes = waits.waitpoints.size() * sizeof(WaitpointInfo);
  if (!waits.suspension) return bytes;
  bytes += condition;
  for (const auto& part : waits.suspension->tally.parts) bytes += part.size() * 64;
  return bytes;
}

std::size_t size_of(const HotRecord& record) {
  constexpr std::size_t overhead = 256;  // of the map, the list and short strings
  std::size_t bytes = sizeof(HotRecord) + overhead;
  if (record.payload) bytes += record.payload->capacity();
  for (const auto& [key, value] : record.execution.tags) bytes += key.size() + value.size() + 128;
  if (record.execution.attempt)
    bytes += record.execution.attempt->past_leases.size() * sizeof(core::PastLease);
  if (record.waits) bytes += size_of(*record.waits);
  if (record.streams) bytes += record.streams->all.size() * sizeof(core::Stream);
  return bytes;
}

}  // namespace

HotRecord* HotRecords::find(const ExecutionId& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second.use);
  return &found->second.record;
}

HotRecord& HotRecords::put(HotRecord record) {
  const auto id = record.execution.id;
  auto [entry, added] = entries_.try_emplace(id);
  if (added) entry->second.use = uses_.insert(uses_.begin(), id);
  entry->second.record = std::move(record);
  resized(id);
  return entry->second.record;
}

void HotRecords::erase(const ExecutionId& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  bytes_ -= found->second.bytes;
  uses_.erase(found->second.use);
  entries_.erase(found);
}

void HotRecords::resized(const ExecutionId& id) {
  const auto found = entries_.find(id);
  FF_ASSERT(found != entries_.end());
  auto& entry = found->second;
  const auto bytes = size_of(entry.record);
  bytes_ += bytes - entry.bytes;
  entry.bytes = bytes;
}

void HotRecords::shrink(BatchNumber written, BatchNumber synced) {
  auto use = uses_.end();
  while (bytes_ > bytes_max_ && use != uses_.begin()) {
    --use;
    const auto& record = entries_.find(*use)->second.record;
    if (record.changed_in > written || record.durable_in > synced) continue;
    const auto id = *use++;
    erase(id);
  }
}

}  // namespace ff::embedded
