// A bulk job as bytes, the same in every store.
#pragma once

#include <string>
#include <string_view>

#include "core/bulks/bulk.hpp"

namespace ff::store {

std::string encode(const core::Bulk& bulk);

// Fails with store_damaged.
Result<core::Bulk> decode_bulk(std::string_view bytes);

}  // namespace ff::store
