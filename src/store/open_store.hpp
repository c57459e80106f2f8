// Opening a store by its URL.
#pragma once

#include <flowfabric/time.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

#include "store/durability.hpp"
#include "store/store.hpp"

namespace ff::store {

// embedded:DIR or embedded:DIR?durability=strict
struct EmbeddedUrl {
  std::filesystem::path directory;
  Durability durability = Durability::standard;
};
Result<EmbeddedUrl> parse_embedded(std::string_view url);

// embedded:DIR. Anything else is invalid_input.
Result<std::unique_ptr<Store>> open_store(std::string_view url, std::shared_ptr<const Clock> clock);

}  // namespace ff::store
