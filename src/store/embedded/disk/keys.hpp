// Keys in the database.
//
//   key       := 's'                                     the store's own record
//              | 'x' execution                           an execution that can still change
//              | 'z' execution                           one that has ended
//              | 'p' execution                           its payload
//              | 'r' execution                           its result
//              | 'a' execution index:be32                an attempt before the newest
//              | 'y' execution                           its waitpoints and its newest suspension
//              | 'Y' execution                           the parts of these that signals do not change
//              | 'g' execution index:be32                a signal
//              | 'h' execution index:be32                its payload
//              | 'j' execution idempotency_key           a signal that is known by it
//              | 'm' execution signal:16                 the key of a signal, by its id
//              | 'v' execution name                      the kept result of a step
//              | 'E' execution index:be32                an edge into a node of a flow
//              | 'O' execution uuid:16 index:be32        an edge out of a node: the node after it, its index there
//              | 'S' execution                           how far its streams are
//              | 'R' execution stream:be32 end:be64      the frames of one append, up to the number `end`
//              | 'D' execution stream:be32               the document of a summary stream
//              | 'F' flow                                a flow
//              | 'M' flow index:be32                     the execution that is this node of a flow (its UUID)
//              | 'L' text(ns) created_at:be64 flow       to list flows, by time
//              | 'T' due:be64 flow                       a flow that something happens to at a time
//              | 'i' text(ns) idempotency_key            who was submitted with it
//              | 'n' text(ns) created_at:be64 execution                    to list, by time
//              | 't' text(ns) text(tag) text(value) created_at:be64 execution   likewise, by tag
//              | 'e' retained_until:be64 execution       to forget, by time
//              | 'c' shard:be16 text(ns) text(lane)      how many have ended, by state
//              | 'b' budget                              a budget
//              | 'l' budget execution                    what an execution spent of it
//              | 'd' budget dedup_key                    a report that is known
//              | 'f' until:be64 budget dedup_key         to forget that, by time
//              | 'q' quota                               a quota
//              | 'u' quota at:be64 token                 a start that counts in its window
//              | 'o' partition:be16 effect               an effect that is to be carried out
//              | 'P' text(ns) lane                       the pause of a lane
//              | 'A' number:be64                         an entry of the audit log; numbers have no gaps
//              | 'k'                                     the secrets that sign waitpoint tokens
//   execution := partition:be16 uuid:16
//   flow      := partition:be16 uuid:16
//   budget, quota, token := uuid:16
//   text(t)   := length:be16 bytes                       so that no two keys can look alike
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <string>
#include <string_view>

#include "core/execution/belonging.hpp"
#include "core/flows/flow.hpp"
#include "core/quotas/quota.hpp"
#include "core/streams/stream.hpp"

namespace ff::embedded::keys {

inline constexpr std::string_view store = "s";
inline constexpr std::string_view key_ring = "k";
inline constexpr std::string_view probe = "w";  // nothing but proof that writing works
inline constexpr std::string_view live_prefix = "x";
inline constexpr std::string_view ended_prefix = "z";
inline constexpr std::string_view payload_prefix = "p";
inline constexpr std::string_view result_prefix = "r";
inline constexpr std::string_view attempt_prefix = "a";
inline constexpr std::string_view waits_prefix = "y";
inline constexpr std::string_view wait_details_prefix = "Y";
inline constexpr std::string_view signal_prefix = "g";
inline constexpr std::string_view signal_payload_prefix = "h";
inline constexpr std::string_view signal_key_prefix = "j";
inline constexpr std::string_view signal_id_prefix = "m";
inline constexpr std::string_view step_prefix = "v";
inline constexpr std::string_view idempotency_prefix = "i";
inline constexpr std::string_view by_time_prefix = "n";
inline constexpr std::string_view by_tag_prefix = "t";
inline constexpr std::string_view retention_prefix = "e";
inline constexpr std::string_view ended_count_prefix = "c";
inline constexpr std::string_view budget_prefix = "b";
inline constexpr std::string_view ledger_prefix = "l";
inline constexpr std::string_view dedup_prefix = "d";
inline constexpr std::string_view dedup_until_prefix = "f";
inline constexpr std::string_view quota_prefix = "q";
inline constexpr std::string_view place_prefix = "u";
inline constexpr std::string_view effect_prefix = "o";
inline constexpr std::string_view lane_pause_prefix = "P";
inline constexpr std::string_view audit_prefix = "A";
inline constexpr std::string_view edge_in_prefix = "E";
inline constexpr std::string_view edge_out_prefix = "O";
inline constexpr std::string_view streams_prefix = "S";
inline constexpr std::string_view frames_prefix = "R";
inline constexpr std::string_view document_prefix = "D";
inline constexpr std::string_view flow_prefix = "F";
inline constexpr std::string_view member_prefix = "M";
inline constexpr std::string_view flow_by_time_prefix = "L";
inline constexpr std::string_view flow_timer_prefix = "T";

constexpr std::string_view prefix_of(core::Belonging kind) {
  switch (kind) {
    case core::Belonging::payload: return payload_prefix;
    case core::Belonging::result: return result_prefix;
    case core::Belonging::attempt: return attempt_prefix;
    case core::Belonging::waits: return waits_prefix;
    case core::Belonging::wait_details: return wait_details_prefix;
    case core::Belonging::signal: return signal_prefix;
    case core::Belonging::signal_payload: return signal_payload_prefix;
    case core::Belonging::signal_key: return signal_key_prefix;
    case core::Belonging::signal_id: return signal_id_prefix;
    case core::Belonging::step: return step_prefix;
    case core::Belonging::edge_in: return edge_in_prefix;
    case core::Belonging::edge_out: return edge_out_prefix;
    case core::Belonging::streams: return streams_prefix;
    case core::Belonging::frames: return frames_prefix;
    case core::Belonging::document: return document_prefix;
  }
  return {};
}

std::string live(const ExecutionId& id);
std::string live_of(PartitionIndex partition);  // the prefix of a partition's
std::string ended(const ExecutionId& id);
// The key of the only one of a kind, or the prefix of many.
std::string belonging(const ExecutionId& id, core::Belonging kind);
std::string payload(const ExecutionId& id);
std::string result(const ExecutionId& id);
std::string attempts_of(const ExecutionId& id);
std::string attempt(const ExecutionId& id, std::uint32_t index);
std::string signal(const ExecutionId& id, std::uint32_t index);
std::string signal_payload(const ExecutionId& id, std::uint32_t index);
std::string signal_key(const ExecutionId& id, const SignalKey& key);
std::string signal_id(const ExecutionId& id, const SignalId& signal);
std::string step(const ExecutionId& id, const StepName& name);
std::string edge_in(const core::EdgeId& id);
std::string edge_out(const ExecutionId& upstream, const core::EdgeId& id);
// Those of one stream, and those of one append to it.
std::string frames_of(const ExecutionId& id, std::uint32_t stream);
std::string document(const ExecutionId& id, std::uint32_t stream);
std::string frames(const ExecutionId& id, core::AppendPlace place);
core::AppendPlace parse_frames(std::string_view key);
core::EdgeId parse_edge_out(const ExecutionId& upstream, std::string_view key);

// A flow is addressed by its subject: its partition and its UUID.
std::string flow(const ExecutionId& subject);
std::string members_of(const ExecutionId& subject);
std::string member(const ExecutionId& subject, std::uint32_t index);
std::string flow_timer(TimePoint due, const ExecutionId& subject);
std::string flows_by_time_of(const Namespace& ns);
std::string flow_by_time(const Namespace& ns, TimePoint created_at, const ExecutionId& subject);

// The part of such a key behind the execution's id.
std::uint32_t index_in(std::string_view key);
std::string_view text_in(std::string_view key);
std::string idempotency(const Namespace& ns, const IdempotencyKey& key);

std::string by_time_of(const Namespace& ns);
std::string by_time(const Namespace& ns, TimePoint created_at, const ExecutionId& id);
std::string by_tag_of(const Namespace& ns, std::string_view tag, std::string_view value);
std::string by_tag(const Namespace& ns, std::string_view tag, std::string_view value,
                   TimePoint created_at, const ExecutionId& id);
// Suffix of both kinds of keys: time of creation, and id of the execution.
struct Moment {
  TimePoint at;
  ExecutionId id;
};
std::string moment(const Moment& moment);
Result<Moment> parse_moment(std::string_view bytes);  // the last 26 bytes count

std::string retention(TimePoint until, const ExecutionId& id);

std::string ended_count(std::uint16_t shard, const Namespace& ns, const LaneId& lane);
struct EndedCountKey {
  std::uint16_t shard;
  Namespace ns;
  LaneId lane;
};
Result<EndedCountKey> parse_ended_count(std::string_view key);

std::string effect(PartitionIndex partition, std::string_view text);
struct EffectKey {
  PartitionIndex partition;
  std::string text;
};
Result<EffectKey> parse_effect(std::string_view key);

// The execution that a key of the kinds x, z, or of a belonging, is about.
Result<ExecutionId> execution_id(std::string_view key);

std::string budget(const BudgetId& id);
Result<BudgetId> parse_budget(std::string_view key);

std::string ledger_of(const BudgetId& budget);  // the prefix of a budget's
std::string ledger(const BudgetId& budget, const ExecutionId& execution);
struct LedgerKey {
  BudgetId budget;
  ExecutionId execution;
};
Result<LedgerKey> parse_ledger(std::string_view key);

struct DedupEntry {
  BudgetId budget;
  DedupKey key;
};
std::string dedup_of(const BudgetId& budget);
std::string dedup(const DedupEntry& entry);
Result<DedupEntry> parse_dedup(std::string_view key);

std::string dedup_until(TimePoint until, const DedupEntry& entry);
struct DedupUntil {
  TimePoint until;
  DedupEntry entry;
};
Result<DedupUntil> parse_dedup_until(std::string_view key);

std::string quota(const QuotaId& id);
Result<QuotaId> parse_quota(std::string_view key);

std::string place(const QuotaId& quota, const core::WindowEntry& place);
struct PlaceKey {
  QuotaId quota;
  core::WindowEntry place;
};
Result<PlaceKey> parse_place(std::string_view key);

std::string lane_pause(const Namespace& ns, const LaneId& lane);
struct LanePauseKey {
  Namespace ns;
  LaneId lane;
};
Result<LanePauseKey> parse_lane_pause(std::string_view key);

std::string audit(std::uint64_t number);
Result<std::uint64_t> parse_audit(std::string_view key);

}  // namespace ff::embedded::keys
