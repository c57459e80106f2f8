// Metrics of a store that several engines share.
#pragma once

#include <string>

#include "store/store.hpp"

namespace ff {

// As Prometheus reads it; "" if the store is not shared.
std::string sharing_metrics(const store::Store& store);

}  // namespace ff
