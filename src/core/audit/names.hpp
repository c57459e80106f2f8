// Names of operations in the audit log.
#pragma once

#include <set>
#include <string>
#include <typeinfo>

namespace ff::core {

// The name of an operation: that of its struct.
std::string operation_name(const std::type_info& type);

// Those that the log keeps.
const std::set<std::string>& audited_operations();

}  // namespace ff::core
