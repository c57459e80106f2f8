// Opening a store by its URL.
#pragma once

#include <flowfabric/time.hpp>

#include <memory>
#include <string_view>

#include "store/store.hpp"

namespace ff::store {

// embedded:DIR. Anything else is invalid_input.
Result<std::unique_ptr<Store>> open_store(std::string_view url, std::shared_ptr<const Clock> clock);

}  // namespace ff::store
