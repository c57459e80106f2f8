#include "store/embedded/records.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "records.pb.h"

namespace ff::embedded {
namespace {

std::int64_t to_ms(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint from_ms(std::int64_t ms) { return TimePoint{Millis{ms}}; }

template <class Id>
std::string id_bytes(const Id& id) {
  return {id.uuid().bytes().begin(), id.uuid().bytes().end()};
}

void write(const Fence& fence, proto::Fence& out) {
  out.set_lease_id(id_bytes(fence.lease_id));
  out.set_lease_epoch(std::to_underlying(fence.lease_epoch));
  out.set_attempt_id(id_bytes(fence.attempt_id));
}

void write(const core::Lease& lease, proto::Lease& out) {
  write(lease.fence, *out.mutable_fence());
  out.set_worker(lease.worker.str());
  out.set_expires_at_ms(to_ms(lease.expires_at));
}

// Reads one record; remembers that something did not hold, so that the whole is refused at the end.
class Reader {
 public:
  bool ok() const { return ok_; }

  template <class Text>
  Text text(const std::string& stored) {
    auto parsed = Text::parse(stored);
    if (!parsed) ok_ = false;
    return parsed ? *parsed : Text{};
  }

  Fence fence(const proto::Fence& stored) {
    return {.lease_id = LeaseId{uuid(stored.lease_id())},
            .lease_epoch = LeaseEpoch{stored.lease_epoch()},
            .attempt_id = AttemptId{uuid(stored.attempt_id())}};
  }

  core::Lease lease(const proto::Lease& stored) {
    return {.fence = fence(stored.fence()),
            .worker = text<WorkerId>(stored.worker()),
            .expires_at = from_ms(stored.expires_at_ms())};
  }

  core::State state(const proto::Execution& stored) {
    using Stored = proto::Execution;
    switch (stored.state_case()) {
      case Stored::kWaiting: return core::Waiting{};
      case Stored::kActive: return core::Active{lease(stored.active().lease())};
      case Stored::kInterrupted: return core::Interrupted{};
      case Stored::kCompleted:
        return core::Completed{.at = from_ms(stored.completed().at_ms()),
                               .by = fence(stored.completed().by())};
      case Stored::kFailed: return failed(stored.failed());
      case Stored::STATE_NOT_SET: break;
    }
    ok_ = false;
    return core::Waiting{};
  }

 private:
  Uuid uuid(const std::string& stored) {
    Uuid::Bytes bytes{};
    if (stored.size() != bytes.size()) {
      ok_ = false;
      return {};
    }
    std::copy(stored.begin(), stored.end(), bytes.begin());
    return Uuid{bytes};
  }

  core::Failed failed(const proto::Execution::Failed& stored) {
    core::Failed failed{.at = from_ms(stored.at_ms()),
                        .by = std::nullopt,
                        .reason = stored.reason(),
                        .category = stored.category()};
    if (stored.has_by()) failed.by = fence(stored.by());
    return failed;
  }

  bool ok_ = true;
};

}  // namespace

std::string encode(const core::Execution& execution) {
  proto::Execution out;
  out.set_namespace_(execution.ns.str());
  out.set_lane(execution.lane.str());
  out.set_kind(execution.kind.str());
  out.set_priority(execution.priority);
  out.set_created_at_ms(to_ms(execution.created_at));
  if (execution.started_at) out.set_started_at_ms(to_ms(*execution.started_at));
  out.set_last_epoch(std::to_underlying(execution.last_epoch));
  out.set_attempt_count(execution.attempt_count);
  out.set_reclaim_count(execution.reclaim_count);
  std::visit(Overloaded{
                 [&](const core::Waiting&) { out.mutable_waiting(); },
                 [&](const core::Active& active) {
                   write(active.lease, *out.mutable_active()->mutable_lease());
                 },
                 [&](const core::Interrupted&) { out.mutable_interrupted(); },
                 [&](const core::Completed& completed) {
                   out.mutable_completed()->set_at_ms(to_ms(completed.at));
                   write(completed.by, *out.mutable_completed()->mutable_by());
                 },
                 [&](const core::Failed& failed) {
                   out.mutable_failed()->set_at_ms(to_ms(failed.at));
                   if (failed.by) write(*failed.by, *out.mutable_failed()->mutable_by());
                   out.mutable_failed()->set_reason(failed.reason);
                   out.mutable_failed()->set_category(failed.category);
                 },
             },
             execution.state);
  return out.SerializeAsString();
}

Result<core::Execution> decode(const ExecutionId& id, std::string_view bytes) {
  proto::Execution stored;
  Reader read;
  const bool parsed = stored.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  core::Execution execution{.id = id,
                            .ns = read.text<Namespace>(stored.namespace_()),
                            .lane = read.text<LaneId>(stored.lane()),
                            .kind = read.text<Kind>(stored.kind()),
                            .priority = stored.priority(),
                            .created_at = from_ms(stored.created_at_ms()),
                            .last_epoch = LeaseEpoch{stored.last_epoch()},
                            .attempt_count = stored.attempt_count(),
                            .reclaim_count = stored.reclaim_count(),
                            .state = read.state(stored)};
  if (stored.has_started_at_ms()) execution.started_at = from_ms(stored.started_at_ms());
  if (!parsed || !read.ok())
    return fail(
        Errc::store_damaged,
        fmt::format("the record of execution {} is damaged; restore the data directory from "
                    "a backup",
                    id.str()));
  return execution;
}

}  // namespace ff::embedded
