// The id of a suspension whose caller gives none.
#pragma once

#include <flowfabric/suspensions.hpp>

namespace ff::core {

// The same for the same call under the same lease, so that a repeated call is recognised.
SuspensionId suspension_id_of(const Suspend& command);

}  // namespace ff::core
