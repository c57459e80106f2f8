// Operators' actions on executions.
#pragma once

#include <flowfabric/work.hpp>

#include <optional>
#include <string>

namespace ff {

// Ends an execution that has not ended, whatever it is doing. With a fence: only if that lease holds.
// Cancelling what is cancelled already succeeds.
struct Cancel {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/cancel",
                                             Role::submit,
                                             "End it, whatever it is doing",
                                             {"cancelled"}}};
  ExecutionId id;
  std::string reason = {};
  std::optional<Fence> fence = {};
};

enum class RevokeStatus : std::uint8_t { revoked, already_revoked, already_expired };
FF_NAMES(RevokeStatus, "revoked", "already_revoked", "already_expired");

struct RevokeReply {
  RevokeStatus status{};
  LeaseEpoch lease_epoch{};
  bool operator==(const RevokeReply&) const = default;
};

// Takes the lease away from its worker; the execution is ready for another one.
struct RevokeLease {
  using Reply = RevokeReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post, "/v1/executions/{id}/revoke-lease",
                                             Role::admin, "Take the lease away from its worker"}};
  ExecutionId id;
  std::optional<LeaseId> lease_id = {};  // only if it is this one
  std::string reason = {};
};

struct PriorityReply {
  std::int32_t before = 0;
  std::int32_t after = 0;
  bool operator==(const PriorityReply&) const = default;
};

// Of any execution that has not ended; it counts from the next claim on.
struct ChangePriority {
  using Reply = PriorityReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::put,
                                             "/v1/executions/{id}/priority",
                                             Role::submit,
                                             "Change its priority",
                                             {"changed"}}};
  ExecutionId id;
  std::int32_t priority = 0;
};

struct TagsReply {
  Tags tags;  // all, after the change
  bool operator==(const TagsReply&) const = default;
};

// Keys look like "app.key": lower case up to the first dot.
struct SetTags {
  using Reply = TagsReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/tags",
                                             Role::submit,
                                             "Set and remove tags",
                                             {"changed"}}};
  ExecutionId id;
  Tags set = {};
  std::vector<std::string> remove = {};
};

// Runs an execution that has ended once more, from the start.
struct Replay {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/replay",
                                             Role::submit,
                                             "Run it once more from the start",
                                             {"replayed"}}};
  ExecutionId id;
  std::string reason = {};
  std::string requested_by = {};
};

}  // namespace ff
