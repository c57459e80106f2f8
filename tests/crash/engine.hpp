// The engine of both processes: embedded, with a real clock, and in a hurry.
#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"

namespace ff::crash {

using namespace std::chrono_literals;

inline Result<std::unique_ptr<LocalEngine>> open_engine(const std::filesystem::path& directory,
                                                        std::size_t shards) {
  auto store = embedded::open({.directory = directory,
                               .clock = std::make_shared<SystemClock>(),
                               .shards = shards,
                               .hot_bytes_max = 1 << 20});
  if (!store) return std::unexpected(store.error());
  return std::make_unique<LocalEngine>(std::move(*store),
                                       LocalEngineOptions{.intervals = {.lease_expiry = 20ms,
                                                                        .delayed_promoter = 20ms,
                                                                        .attempt_timeout = 20ms,
                                                                        .execution_deadline = 20ms,
                                                                        .grant_expiry = 20ms,
                                                                        .retention_trimmer = 30ms,
                                                                        .index_reconciler = 50ms}});
}

inline CapabilitySet all_capabilities() { return *CapabilitySet::parse({"gpu"}); }
inline std::vector<LaneId> all_lanes() {
  return {*LaneId::parse("red"), *LaneId::parse("green"), *LaneId::parse("blue")};
}

}  // namespace ff::crash
