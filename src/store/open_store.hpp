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

struct OpenStoreOptions {
  // Of an embedded store; Valkey has its own clock.
  std::shared_ptr<const Clock> clock;
  // Whether the engine on it looks after all executions, or only submits and works beside others.
  bool looks_after_all = true;
  // The first secret that signs waitpoint tokens, if the store has none yet. None: a random one.
  std::optional<WaitpointSecret> waitpoint_secret = {};
};

// embedded:DIR, or one of valkey/url.hpp. Anything else is invalid_input.
Result<std::unique_ptr<Store>> open_store(std::string_view url, OpenStoreOptions options);

}  // namespace ff::store
