#include "store/embedded/disk/keys.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/try.hpp"

namespace ff::embedded::keys {
namespace {

constexpr std::size_t uuid_size = 16;
constexpr std::size_t execution_size = 2 + uuid_size;
constexpr std::size_t moment_size = 8 + execution_size;

// Grows a key part by part.
class Key {
 public:
  explicit Key(std::string_view prefix) {
    text_.reserve(64);
    text_ = prefix;
  }
  Key& add(const ExecutionId& id) { return number(id.partition()).add(id.uuid()); }
  template <class Tag>
  Key& add(const UuidId<Tag>& id) {
    return add(id.uuid());
  }
  Key& add(const Uuid& uuid) {
    text_.append(uuid.bytes().begin(), uuid.bytes().end());
    return *this;
  }
  Key& add(TimePoint time) {
    return number(static_cast<std::uint64_t>(time.time_since_epoch().count()));
  }
  Key& text(std::string_view text) {
    number(static_cast<std::uint16_t>(text.size()));
    return raw(text);
  }
  Key& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  template <class T>
  Key& number(T value) {
    for (std::size_t byte = sizeof value; byte-- > 0;)
      text_ += static_cast<char>(value >> (8 * byte) & 0xff);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

template <class T>
T big_endian(std::string_view bytes) {
  T value = 0;
  for (const char byte : bytes.substr(0, sizeof(T)))
    value = static_cast<T>(value << 8 | static_cast<std::uint8_t>(byte));
  return value;
}

Uuid uuid_of(std::string_view bytes) {
  Uuid::Bytes uuid;
  std::copy_n(bytes.begin(), uuid.size(), uuid.begin());
  return Uuid{uuid};
}

ExecutionId execution_of(std::string_view bytes) {
  return {big_endian<PartitionIndex>(bytes), uuid_of(bytes.substr(2))};
}

TimePoint time_of(std::string_view bytes) {
  return TimePoint{Millis{static_cast<Millis::rep>(big_endian<std::uint64_t>(bytes))}};
}

std::unexpected<Error> unknown_form() {
  return fail(Errc::store_damaged, "the database holds a key of an unknown form");
}

// Takes a text(…) off the front; empty if it is cut short.
std::string_view take_text(std::string_view& rest) {
  if (rest.size() < 2) return {};
  const auto size = big_endian<std::uint16_t>(rest);
  const auto text = rest.substr(2, size);
  rest.remove_prefix(std::min(rest.size(), std::size_t{2} + size));
  return text;
}

}  // namespace

std::string live(const ExecutionId& id) { return Key(live_prefix).add(id).take(); }
std::string live_of(PartitionIndex partition) { return Key(live_prefix).number(partition).take(); }
std::string ended(const ExecutionId& id) { return Key(ended_prefix).add(id).take(); }
std::string belonging(const ExecutionId& id, core::Belonging kind) {
  return Key(prefix_of(kind)).add(id).take();
}
std::string payload(const ExecutionId& id) { return Key(payload_prefix).add(id).take(); }
std::string result(const ExecutionId& id) { return Key(result_prefix).add(id).take(); }
std::string attempts_of(const ExecutionId& id) { return Key(attempt_prefix).add(id).take(); }
std::string attempt(const ExecutionId& id, std::uint32_t index) {
  return Key(attempt_prefix).add(id).number(index).take();
}
std::string signal(const ExecutionId& id, std::uint32_t index) {
  return Key(signal_prefix).add(id).number(index).take();
}
std::string signal_payload(const ExecutionId& id, std::uint32_t index) {
  return Key(signal_payload_prefix).add(id).number(index).take();
}
std::string signal_key(const ExecutionId& id, const SignalKey& key) {
  return Key(signal_key_prefix).add(id).raw(key.str()).take();
}
std::string signal_id(const ExecutionId& id, const SignalId& signal) {
  return Key(signal_id_prefix).add(id).add(signal).take();
}
std::string step(const ExecutionId& id, const StepName& name) {
  return Key(step_prefix).add(id).raw(name.str()).take();
}
std::string edge_in(const core::EdgeId& id) {
  return Key(edge_in_prefix).add(id.downstream).number(id.index).take();
}
std::string edge_out(const ExecutionId& upstream, const core::EdgeId& id) {
  return Key(edge_out_prefix).add(upstream).add(id.downstream.uuid()).number(id.index).take();
}
core::EdgeId parse_edge_out(const ExecutionId& upstream, std::string_view key) {
  const auto rest = text_in(key);
  FF_ASSERT(rest.size() == uuid_size + 4);
  return {.downstream = {upstream.partition(), uuid_of(rest)},
          .index = big_endian<std::uint32_t>(rest.substr(uuid_size))};
}
std::string document(const ExecutionId& id, std::uint32_t stream) {
  return Key(document_prefix).add(id).number(stream).take();
}
std::string frames_of(const ExecutionId& id, std::uint32_t stream) {
  return Key(frames_prefix).add(id).number(stream).take();
}
std::string frames(const ExecutionId& id, core::AppendPlace place) {
  return Key(frames_prefix).add(id).number(place.stream).number(place.end).take();
}
core::AppendPlace parse_frames(std::string_view key) {
  const auto rest = text_in(key);
  FF_ASSERT(rest.size() == 4 + 8);
  return {.stream = big_endian<std::uint32_t>(rest), .end = big_endian<std::uint64_t>(rest.substr(4))};
}
std::string flow(const ExecutionId& subject) { return Key(flow_prefix).add(subject).take(); }
std::string members_of(const ExecutionId& subject) {
  return Key(member_prefix).add(subject).take();
}
std::string member(const ExecutionId& subject, std::uint32_t index) {
  return Key(member_prefix).add(subject).number(index).take();
}
std::string flow_timer(TimePoint due, const ExecutionId& subject) {
  return Key(flow_timer_prefix).add(due).add(subject).take();
}
std::string flows_by_time_of(const Namespace& ns) {
  return Key(flow_by_time_prefix).text(ns.str()).take();
}
std::string flow_by_time(const Namespace& ns, TimePoint created_at, const ExecutionId& subject) {
  return Key(flow_by_time_prefix).text(ns.str()).add(created_at).add(subject).take();
}
std::uint32_t index_in(std::string_view key) { return big_endian<std::uint32_t>(text_in(key)); }
std::string_view text_in(std::string_view key) {
  return key.substr(std::min(key.size(), 1 + execution_size));
}
std::string idempotency(const Namespace& ns, const IdempotencyKey& key) {
  return Key(idempotency_prefix).text(ns.str()).raw(key.str()).take();
}

std::string by_time_of(const Namespace& ns) { return Key(by_time_prefix).text(ns.str()).take(); }
std::string by_time(const Namespace& ns, TimePoint created_at, const ExecutionId& id) {
  return Key(by_time_prefix).text(ns.str()).add(created_at).add(id).take();
}
std::string by_tag_of(const Namespace& ns, std::string_view tag, std::string_view value) {
  return Key(by_tag_prefix).text(ns.str()).text(tag).text(value).take();
}
std::string by_tag(const Namespace& ns, std::string_view tag, std::string_view value,
                   TimePoint created_at, const ExecutionId& id) {
  return Key(by_tag_of(ns, tag, value)).add(created_at).add(id).take();
}

std::string moment(const Moment& moment) { return Key("").add(moment.at).add(moment.id).take(); }

Result<Moment> parse_moment(std::string_view bytes) {
  if (bytes.size() < moment_size) return unknown_form();
  const auto tail = bytes.substr(bytes.size() - moment_size);
  return Moment{.at = time_of(tail), .id = execution_of(tail.substr(8))};
}

std::string retention(TimePoint until, const ExecutionId& id) {
  return Key(retention_prefix).add(until).add(id).take();
}

std::string ended_count(std::uint16_t shard, const Namespace& ns, const LaneId& lane) {
  return Key(ended_count_prefix).number(shard).text(ns.str()).text(lane.str()).take();
}

Result<EndedCountKey> parse_ended_count(std::string_view key) {
  if (key.size() < 3) return unknown_form();
  auto rest = key.substr(3);
  auto ns = Namespace::parse(std::string(take_text(rest)));
  auto lane = LaneId::parse(std::string(take_text(rest)));
  if (!ns || !lane || !rest.empty()) return unknown_form();
  return EndedCountKey{.shard = big_endian<std::uint16_t>(key.substr(1)),
                       .ns = std::move(*ns),
                       .lane = std::move(*lane)};
}

Result<ExecutionId> execution_id(std::string_view key) {
  const auto is = [&](std::string_view prefix) { return key.starts_with(prefix); };
  constexpr auto id_end = 1 + execution_size;
  const bool by_index = is(attempt_prefix) || is(signal_prefix) || is(signal_payload_prefix) ||
                        is(edge_in_prefix) || is(document_prefix);
  const bool by_text = is(signal_key_prefix) || is(step_prefix) || is(edge_out_prefix);
  const std::size_t rest = by_index                ? 4
                           : is(frames_prefix)     ? 4 + 8
                           : is(signal_id_prefix) ? uuid_size
                                                  : 0;
  const bool fits = by_text ? key.size() > id_end : key.size() == id_end + rest;
  if (!fits) return unknown_form();
  return execution_of(key.substr(1));
}

std::string budget(const BudgetId& id) { return Key(budget_prefix).add(id).take(); }
Result<BudgetId> parse_budget(std::string_view key) {
  if (key.size() != 1 + uuid_size) return unknown_form();
  return BudgetId{uuid_of(key.substr(1))};
}

std::string ledger_of(const BudgetId& budget) { return Key(ledger_prefix).add(budget).take(); }
std::string ledger(const BudgetId& budget, const ExecutionId& execution) {
  return Key(ledger_prefix).add(budget).add(execution).take();
}
Result<LedgerKey> parse_ledger(std::string_view key) {
  if (key.size() != 1 + uuid_size + execution_size) return unknown_form();
  return LedgerKey{.budget = BudgetId{uuid_of(key.substr(1))},
                   .execution = execution_of(key.substr(1 + uuid_size))};
}

namespace {

Result<DedupEntry> dedup_entry(std::string_view bytes) {
  if (bytes.size() < uuid_size) return unknown_form();
  auto key = DedupKey::parse(std::string(bytes.substr(uuid_size)));
  if (!key) return unknown_form();
  return DedupEntry{.budget = BudgetId{uuid_of(bytes)}, .key = std::move(*key)};
}

}  // namespace

std::string dedup_of(const BudgetId& budget) { return Key(dedup_prefix).add(budget).take(); }
std::string dedup(const DedupEntry& entry) {
  return Key(dedup_prefix).add(entry.budget).raw(entry.key.str()).take();
}
Result<DedupEntry> parse_dedup(std::string_view key) { return dedup_entry(key.substr(1)); }

std::string dedup_until(TimePoint until, const DedupEntry& entry) {
  return Key(dedup_until_prefix).add(until).add(entry.budget).raw(entry.key.str()).take();
}
Result<DedupUntil> parse_dedup_until(std::string_view key) {
  constexpr std::size_t entry_at = 1 + 8;
  if (key.size() < entry_at) return unknown_form();
  auto entry = dedup_entry(key.substr(entry_at));
  FF_TRY(entry);
  return DedupUntil{.until = time_of(key.substr(1)), .entry = std::move(*entry)};
}

std::string quota(const QuotaId& id) { return Key(quota_prefix).add(id).take(); }
Result<QuotaId> parse_quota(std::string_view key) {
  if (key.size() != 1 + uuid_size) return unknown_form();
  return QuotaId{uuid_of(key.substr(1))};
}

std::string place(const QuotaId& quota, const core::WindowEntry& place) {
  return Key(place_prefix).add(quota).add(place.at).add(place.token).take();
}
Result<PlaceKey> parse_place(std::string_view key) {
  if (key.size() != 1 + uuid_size + 8 + uuid_size) return unknown_form();
  const auto rest = key.substr(1 + uuid_size);
  return PlaceKey{.quota = QuotaId{uuid_of(key.substr(1))},
                  .place = {.at = time_of(rest), .token = QuotaTokenId{uuid_of(rest.substr(8))}}};
}

std::string effect(PartitionIndex partition, std::string_view text) {
  return Key(effect_prefix).number(partition).raw(text).take();
}
Result<EffectKey> parse_effect(std::string_view key) {
  const auto rest = key.substr(effect_prefix.size());
  if (rest.size() < sizeof(PartitionIndex)) return unknown_form();
  return EffectKey{.partition = big_endian<PartitionIndex>(rest),
                   .text = std::string(rest.substr(sizeof(PartitionIndex)))};
}

std::string lane_pause(const Namespace& ns, const LaneId& lane) {
  return Key(lane_pause_prefix).text(ns.str()).raw(lane.str()).take();
}
Result<LanePauseKey> parse_lane_pause(std::string_view key) {
  auto rest = key.substr(std::min<std::size_t>(key.size(), 1));
  auto ns = Namespace::parse(std::string(take_text(rest)));
  auto lane = LaneId::parse(std::string(rest));
  if (!ns || !lane) return unknown_form();
  return LanePauseKey{.ns = std::move(*ns), .lane = std::move(*lane)};
}

std::string audit(std::uint64_t number) { return Key(audit_prefix).number(number).take(); }
Result<std::uint64_t> parse_audit(std::string_view key) {
  if (key.size() != 1 + sizeof(std::uint64_t)) return unknown_form();
  return big_endian<std::uint64_t>(key.substr(1));
}

}  // namespace ff::embedded::keys
