// The limit on everything that a caller can grow.
#pragma once

#include <flowfabric/time.hpp>

#include <cstddef>
#include <cstdint>

namespace ff::limits {

inline constexpr std::size_t payload_bytes_max = 1024 * 1024;
inline constexpr std::size_t result_bytes_max = 1024 * 1024;
inline constexpr std::size_t reason_bytes_max = 4096;
inline constexpr std::size_t category_bytes_max = 64;

inline constexpr std::int32_t priority_max = 9000;
inline constexpr std::uint32_t claim_batch_max = 256;
inline constexpr std::size_t claim_lanes_max = 64;

// Of one execution or worker, each token counted once.
inline constexpr std::size_t capability_tokens_max = 256;
inline constexpr std::size_t capability_csv_bytes_max = 4096;

inline constexpr Millis lease_ttl_min{1};
inline constexpr Millis lease_ttl_max = std::chrono::hours{24};
inline constexpr Millis wait_max = std::chrono::seconds{60};  // of one long poll

// How often an execution whose worker vanished is run again before it fails.
inline constexpr std::uint32_t reclaim_count_max = 100;

}  // namespace ff::limits
