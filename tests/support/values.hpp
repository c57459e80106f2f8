// Values that tests use when any value would do.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

namespace ff::test {

inline constexpr TimePoint t0{Millis{1'800'000'000'000}};

// The partition and the last byte are the number.
inline ExecutionId id_of(std::uint8_t number) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {number, Uuid{bytes}};
}

}  // namespace ff::test
