// Operations of the engine on the records of bulk jobs. All jobs of a store live in one partition.
#pragma once

#include "core/bulks/bulk.hpp"

namespace ff::core {

struct CreateBulkReply {
  Bulk bulk;               // as it is stored
  bool duplicate = false;  // a job with this id was there; nothing was changed
  bool operator==(const CreateBulkReply&) const = default;
};

// Fails with resource_exhausted if limits::bulks_running_max of the namespace run. The oldest ended job of the
// namespace gives way if limits::bulks_kept_max are there.
struct CreateBulk {
  using Reply = CreateBulkReply;
  static constexpr OperationRow row{.owner = Owner::bulk, .writes = Writes::durable};
  Bulk bulk;
};

// Fails with bulk_not_found.
struct ReadBulk {
  using Reply = Bulk;
  static constexpr OperationRow row{.owner = Owner::bulk};
  BulkId id;
};

// Stores a job whose `version` is still the one that it was read with. False: it was changed, or is gone.
struct SaveBulk {
  using Reply = bool;
  static constexpr OperationRow row{.owner = Owner::bulk, .writes = Writes::durable};
  Bulk bulk;
};

// Jobs by id after `after`: all of a namespace, or those of all namespaces that run.
struct FindBulks {
  using Reply = std::vector<Bulk>;
  static constexpr OperationRow row{.owner = Owner::bulk};
  std::optional<Namespace> ns = {};  // none: those that run
  std::optional<BulkId> after = {};
  std::size_t max = 100;
};

// Forgets jobs that ended before a time, at most `max`; replies how many.
struct ForgetBulks {
  using Reply = std::size_t;
  static constexpr OperationRow row{.owner = Owner::bulk, .writes = Writes::logged};
  TimePoint ended_before;
  std::size_t max = 100;
};

}  // namespace ff::core
