// Detects the loss of a lease from an error of the engine.
#pragma once

#include <flowfabric/task.hpp>

namespace ff {

// Why the lease is gone for good, if it is after this answer.
std::optional<CancelReason> lease_loss(const Error& error);

}  // namespace ff
