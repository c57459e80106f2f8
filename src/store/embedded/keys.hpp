// Keys in the database.
//
//   key       := 's'                         the store's own record
//              | 'x' execution               an execution that can still change
//              | 'z' execution               one that has ended
//              | 'p' execution               its payload
//              | 'r' execution               its result
//   execution := partition:be16 uuid:16
#pragma once

#include <flowfabric/ids.hpp>

#include <string>
#include <string_view>

namespace ff::embedded::keys {

inline constexpr std::string_view store = "s";
inline constexpr std::string_view live_prefix = "x";

std::string live(const ExecutionId& id);
std::string ended(const ExecutionId& id);
std::string payload(const ExecutionId& id);
std::string result(const ExecutionId& id);

// The execution that any of the four is about.
Result<ExecutionId> execution_id(std::string_view key);

}  // namespace ff::embedded::keys
