// Walks over what was created in a namespace, executions or flows, the newest first, over all partitions.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/valkey/calls/functions.hpp"

namespace ff::valkey_store {

// When an execution was created, or a flow (its subject): where it stands in a list.
struct Moment {
  TimePoint at;
  ExecutionId id;
  auto operator<=>(const Moment&) const = default;
};

std::string to_cursor(const Moment& moment);

struct NewestFirst {
  std::string function;  // answers as ff_list
  Namespace ns;
  std::size_t limit;                       // of those that match
  std::optional<TimePoint> newest = {};    // inclusive
  std::optional<TimePoint> oldest = {};    // inclusive
  std::optional<std::string> cursor = {};  // of the page before
};

// Reads those of these moments that are still there, and answers how many match, of all so far.
using ReadMoments = std::function<Async<std::size_t>(const std::vector<Moment>&)>;

// Gives them to `read` until enough match, or too many were looked at. Returns the cursor with which to go on, if
// there may be more.
Async<std::optional<std::string>> visit_newest(Functions& functions, NewestFirst order,
                                               ReadMoments read);

}  // namespace ff::valkey_store
