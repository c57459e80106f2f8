// How long to pause before trying again.
#pragma once

#include <flowfabric/time.hpp>

namespace ff::valkey {

// Twice as long after each try, from `min` to `max`, and of that a random part of at least half, so that
// those who were thrown out together do not come back in step.
Millis pause_after(unsigned tries, Millis min, Millis max);

}  // namespace ff::valkey
