// Identifiers. Each is a type of its own, made only from text in its canonical spelling, so that a
// wrong one is refused where it comes in and two arguments cannot change places unseen.
#pragma once

#include <flowfabric/error.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ff {

class Uuid {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  constexpr Uuid() = default;  // the nil UUID
  constexpr explicit Uuid(Bytes bytes) : bytes_(bytes) {}

  // Lower-case, hyphenated, 36 characters; nothing else.
  static Result<Uuid> parse(std::string_view text);
  std::string str() const;
  constexpr const Bytes& bytes() const { return bytes_; }

  auto operator<=>(const Uuid&) const = default;

 private:
  Bytes bytes_{};
};

// An id that is a UUID: `using LeaseId = UuidId<LeaseTag>`.
template <class Tag>
class UuidId {
 public:
  constexpr UuidId() = default;
  constexpr explicit UuidId(Uuid uuid) : uuid_(uuid) {}

  static Result<UuidId> parse(std::string_view text) {
    auto uuid = Uuid::parse(text);
    if (!uuid) return std::unexpected(uuid.error());
    return UuidId{*uuid};
  }
  std::string str() const { return uuid_.str(); }
  constexpr const Uuid& uuid() const { return uuid_; }

  auto operator<=>(const UuidId&) const = default;

 private:
  Uuid uuid_;
};

using LeaseId = UuidId<struct LeaseTag>;
using AttemptId = UuidId<struct AttemptTag>;
using RequestId = UuidId<struct RequestTag>;
using IncarnationId = UuidId<struct IncarnationTag>;  // one run of a worker, from start to stop
using BudgetId = UuidId<struct BudgetTag>;
using QuotaId = UuidId<struct QuotaTag>;
using QuotaTokenId = UuidId<struct QuotaTokenTag>;  // one start that a quota let in
using SuspensionId = UuidId<struct SuspensionTag>;
using WaitpointId = UuidId<struct WaitpointTag>;
using SignalId = UuidId<struct SignalTag>;
using FlowId = UuidId<struct FlowTag>;
using BulkId = UuidId<struct BulkTag>;  // a bulk job

// Which characters a text id may hold.
enum class TextAlphabet : std::uint8_t {
  printable_ascii,  // 0x20 to 0x7E
  name,             // letters, digits, '.', '_', '-': safe inside any key
  visible_text,     // UTF-8 without blanks and control characters
};

struct TextRule {
  std::string_view what;  // how messages call it
  std::size_t bytes_max;
  TextAlphabet alphabet;
};

namespace detail {
Result<void> check_text(std::string_view text, const TextRule& rule);
}

// An id that is text under a rule: `using LaneId = TextId<lane_rule>`. Without a text it is empty,
// which every operation refuses.
template <const TextRule& rule>
class TextId {
 public:
  TextId() = default;

  static Result<TextId> parse(std::string text) {
    if (auto checked = detail::check_text(text, rule); !checked)
      return std::unexpected(checked.error());
    return TextId{std::move(text)};
  }
  const std::string& str() const { return text_; }

  auto operator<=>(const TextId&) const = default;

 private:
  explicit TextId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

inline constexpr TextRule namespace_rule{"namespace", 64, TextAlphabet::name};
inline constexpr TextRule lane_rule{"lane", 64, TextAlphabet::printable_ascii};
inline constexpr TextRule kind_rule{"kind", 128, TextAlphabet::printable_ascii};
inline constexpr TextRule worker_rule{"worker", 256, TextAlphabet::visible_text};
inline constexpr TextRule idempotency_rule{"idempotency_key", 256, TextAlphabet::visible_text};
inline constexpr TextRule dedup_rule{"dedup_key", 256, TextAlphabet::visible_text};
inline constexpr TextRule content_type_rule{"content_type", 128, TextAlphabet::printable_ascii};
inline constexpr TextRule signal_rule{"signal", 128, TextAlphabet::visible_text};
inline constexpr TextRule waitpoint_key_rule{"waitpoint", 128, TextAlphabet::visible_text};
inline constexpr TextRule signal_key_rule{"idempotency_key", 256, TextAlphabet::visible_text};
inline constexpr TextRule step_rule{"step", 128, TextAlphabet::visible_text};
inline constexpr TextRule key_id_rule{"kid", 64, TextAlphabet::name};
inline constexpr TextRule node_rule{"node", 128, TextAlphabet::name};
inline constexpr TextRule stream_rule{"stream", 64, TextAlphabet::name};
inline constexpr TextRule frame_type_rule{"type", 64, TextAlphabet::visible_text};
inline constexpr TextRule backup_rule{"name", 64, TextAlphabet::name};

using Namespace = TextId<namespace_rule>;  // a tenant: workers see only their own
using LaneId = TextId<lane_rule>;          // a queue inside a namespace
using Kind = TextId<kind_rule>;            // the type of an execution; selects its handler
using WorkerId = TextId<worker_rule>;
using IdempotencyKey = TextId<idempotency_rule>;  // of a submit, inside a namespace
using DedupKey = TextId<dedup_rule>;              // of a usage report, inside its budget
using ContentType = TextId<content_type_rule>;    // of a payload or a result, such as image/png
using SignalName = TextId<signal_rule>;
using WaitpointKey = TextId<waitpoint_key_rule>;  // of a waitpoint, inside its execution
using SignalKey = TextId<signal_key_rule>;        // makes a signal safe to send again
using StepName = TextId<step_rule>;               // of a durable step, inside its execution
using KeyId = TextId<key_id_rule>;                // of a secret that signs waitpoint tokens
using NodeName = TextId<node_rule>;               // of a node, inside its flow
using StreamName = TextId<stream_rule>;            // of a stream, inside its execution
using FrameType = TextId<frame_type_rule>;
using BackupName = TextId<backup_rule>;

// W3C trace context: which trace, and which span of it, something was submitted from.
class TraceParent {
 public:
  TraceParent() = default;

  // 00-<32 hex digits>-<16>-<2>, lower case, neither id all zeros. Of a later version, the same part.
  static Result<TraceParent> parse(std::string text);
  const std::string& str() const { return text_; }

  auto operator<=>(const TraceParent&) const = default;

 private:
  explicit TraceParent(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

Namespace default_namespace();  // "default"
LaneId default_lane();          // "default"
Kind default_flow_kind();       // "flow"
StreamName default_stream();    // "output"
FrameType default_frame_type();  // "data"

using PartitionIndex = std::uint16_t;

// `{fp:<partition>}:<uuid>`, read also as `<partition>-<uuid>`. The partition says where it lives, for ever.
class ExecutionId {
 public:
  constexpr ExecutionId() = default;
  constexpr ExecutionId(PartitionIndex partition, Uuid uuid) : partition_(partition), uuid_(uuid) {}

  static Result<ExecutionId> parse(std::string_view text);
  std::string str() const;
  constexpr PartitionIndex partition() const { return partition_; }
  constexpr const Uuid& uuid() const { return uuid_; }

  auto operator<=>(const ExecutionId&) const = default;

 private:
  PartitionIndex partition_ = 0;
  Uuid uuid_;
};

// Counts the leases of an execution: the first is 1, and it only grows.
enum class LeaseEpoch : std::uint64_t {};

// Proof of holding a lease. Every change that a worker makes to an execution carries it, and a worker
// that lost its lease is refused by it.
struct Fence {
  LeaseId lease_id;
  LeaseEpoch lease_epoch{};
  AttemptId attempt_id;
  bool operator==(const Fence&) const = default;
};

}  // namespace ff

template <>
struct std::hash<ff::ExecutionId> {
  std::size_t operator()(const ff::ExecutionId& id) const noexcept {
    // The tail of a UUID is its random part.
    std::uint64_t tail = 0;
    for (std::size_t i = 8; i < 16; ++i) tail = tail << 8 | id.uuid().bytes()[i];
    return static_cast<std::size_t>(tail);
  }
};
