// Quota operations of the engine, beside those that users have (CreateQuota, GetQuota, …).
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// A start that a quota let in. It must become a lease or a grant while it is valid; what it holds
// (a slot, a place in the window) is held until it is released.
struct QuotaToken {
  QuotaTokenId id;
  TimePoint valid_until;
  bool operator==(const QuotaToken&) const = default;
};

enum class QuotaRefusal : std::uint8_t { rate, concurrency };

struct AdmitReply {
  std::optional<QuotaToken> token = {};  // absent: refused
  QuotaRefusal refusal{};
  std::string detail = {};                 // of a refusal, for a person
  std::optional<TimePoint> retry_at = {};  // of a refusal by the rate
  bool operator==(const AdmitReply&) const = default;
};

// Human-readable reasons why a quota refuses a start.
std::string rate_detail(const QuotaId& quota, const QuotaSpec& spec);
std::string concurrency_detail(const QuotaId& quota, const QuotaSpec& spec);

// The quota that counts what runs of a fairness key in a lane.
QuotaId quota_of_key(const Namespace& ns, const LaneId& lane, const FairnessKey& key);

// Makes sure that a quota exists and that it lets so many run at once. A limit that is changed applies to the next starts.
struct KeepQuota {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::quota, .writes = Writes::durable};
  QuotaId id;
  Namespace ns;
  std::uint64_t max_concurrent = 0;
  bool is_known = false;  // it was there a moment ago: the quotas of the namespace are not counted
};

// Asks a quota to let one start in. Repeated with the same token id it answers as the first time.
// Fails with quota_not_found.
struct Admit {
  using Reply = AdmitReply;
  static constexpr OperationRow row{.owner = Owner::quota, .writes = Writes::logged};
  QuotaId quota;
  QuotaTokenId token;
  ExecutionId execution;
};

// Gives back what a token holds: after a start its slot, and if there was no start (`unused`) its
// place in the window, too. Only the first one changes anything.
struct ReleaseToken {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::quota, .writes = Writes::logged};
  QuotaId quota;
  QuotaTokenId token;
  bool unused = false;
  bool operator==(const ReleaseToken&) const = default;
};

struct HeldToken {
  QuotaTokenId token;
  ExecutionId execution;
  TimePoint admitted_at;
  bool operator==(const HeldToken&) const = default;
};

// The admissions that hold a slot and are older than a time, at most `max`, by id after `after`.
struct HeldTokens {
  using Reply = std::vector<HeldToken>;
  static constexpr OperationRow row{.owner = Owner::quota};
  QuotaId quota;
  TimePoint before;
  std::optional<QuotaTokenId> after = {};
  std::size_t max = 1'000;
};

// Forgets window entries that are past their time, and corrects wrong counts.
struct ReconcileQuotas {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::quota, .writes = Writes::durable};
};

// Every quota there is, of all namespaces, by id after `after`.
struct AllQuotas {
  using Reply = std::vector<QuotaId>;
  static constexpr OperationRow row{.owner = Owner::quota};
  std::optional<QuotaId> after = {};
  std::size_t max = 1'000;
};

}  // namespace ff::core
