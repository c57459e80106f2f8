// Quotas: how many executions may start in a window of time, and how many may run at once.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace ff {

struct QuotaSpec {
  Millis window = std::chrono::seconds{60};
  std::optional<std::uint64_t> max_per_window = {};  // starts in any window, sliding
  std::optional<std::uint64_t> max_concurrent = {};  // running at the same time
  Millis jitter{0};  // spreads the time at which those that were refused are let in
  bool operator==(const QuotaSpec&) const = default;
};

struct QuotaInfo {
  QuotaId id;
  Namespace ns;
  QuotaSpec spec;
  std::uint64_t in_window = 0;
  std::uint64_t running = 0;
  std::optional<TimePoint> next_start_at = {};  // if the window is full: when it has room
  TimePoint created_at;
  bool operator==(const QuotaInfo&) const = default;
};

struct CreateQuotaReply {
  QuotaId id;
  bool duplicate = false;
  bool operator==(const CreateQuotaReply&) const = default;
};
struct CreateQuota {
  using Reply = CreateQuotaReply;
  static constexpr OperationRow row{
      .owner = Owner::quota,
      .writes = Writes::durable,
      .is_stored = true,
      .is_audited = true,
      .http = {
          HttpMethod::post, "/v1/quotas", Role::admin, "Create a quota", {"created", "duplicate"}}};
  std::optional<QuotaId> id = {};
  Namespace ns = default_namespace();
  QuotaSpec spec;
};

struct GetQuota {
  using Reply = QuotaInfo;
  static constexpr OperationRow row{
      .owner = Owner::quota,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/quotas/{id}", Role::read, "Show a quota and how full it is"}};
  QuotaId id;
};

struct QuotaList {
  std::vector<QuotaInfo> quotas;
  std::optional<QuotaId> next = {};
};
struct ListQuotas {
  using Reply = QuotaList;
  static constexpr OperationRow row{
      .owner = Owner::quota,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/quotas", Role::read, "List the quotas of a namespace"}};
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<QuotaId> after = {};
};

// As DeleteBudget.
struct DeleteQuota {
  using Reply = Done;
  static constexpr OperationRow row{
      .owner = Owner::quota,
      .writes = Writes::durable,
      .is_stored = true,
      .is_audited = true,
      .http = {HttpMethod::delete_, "/v1/quotas/{id}", Role::admin, "Delete a quota", {"deleted"}}};
  QuotaId id;
};

}  // namespace ff
