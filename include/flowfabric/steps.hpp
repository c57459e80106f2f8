// Durable steps: results that a handler keeps with its execution, so that it does not repeat their work after
// a resume, a retry or a reclaim.
#pragma once

#include <flowfabric/work.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ff {

struct StepInfo {
  StepName name;
  TimePoint at;
  std::uint64_t bytes = 0;
  std::optional<ContentType> content_type = {};
  bool operator==(const StepInfo&) const = default;
};

struct PutStepReply {
  bool duplicate = false;  // a result was kept before; it stays
  bool operator==(const PutStepReply&) const = default;
};

// Keeps the result of a step under the lease. The first result of a name stays.
struct PutStep {
  using Reply = PutStepReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::put,
                                             "/v1/executions/{id}/steps/{name}",
                                             Role::work,
                                             "Keep the result of a step",
                                             {"kept", "exists"}}};
  ExecutionId id;
  StepName name;
  Fence fence;
  std::string result = {};  // bytes, untouched
  std::optional<ContentType> content_type = {};
};

// The kept result of a step; fails with step_not_found if there is none.
struct GetStep {
  using Reply = Bytes;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/steps/{name}",
                                             Role::read, "The kept result of a step"}};
  ExecutionId id;
  StepName name;
};

struct StepList {
  std::vector<StepInfo> steps;  // by name
};
struct ListSteps {
  using Reply = StepList;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/steps",
                                             Role::read, "The steps of an execution, by name"}};
  ExecutionId id;
};

}  // namespace ff
