// Ids that follow from a name.
#pragma once

#include <flowfabric/ids.hpp>

#include <string_view>

namespace ff {

// A UUID of version 5 (RFC 4122): the same for the same name in the same space.
Uuid named_uuid(const Uuid& space, std::string_view name);

}  // namespace ff
