// A policy as the contract writes it: JSON beside the execution.
#pragma once

#include <flowfabric/policy.hpp>

#include <string>
#include <string_view>

namespace ff::valkey_store {

// Only what differs from the default; "" if nothing does.
std::string to_policy_json(const Policy& policy);

// Also of what other programs wrote: what it does not know, or cannot read, counts as not given.
Policy from_policy_json(std::string_view json);

}  // namespace ff::valkey_store
