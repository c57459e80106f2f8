// UUIDs that follow from a name inside a space (RFC 4122, version 5): the same name makes the same UUID.
#pragma once

#include <flowfabric/ids.hpp>

#include <string_view>

namespace ff {

Uuid named_uuid(const Uuid& space, std::string_view name);

}  // namespace ff
