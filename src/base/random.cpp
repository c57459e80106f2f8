#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/random.h>

#include "base/assert.hpp"

namespace ff {
namespace {

void fill_from_kernel(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0) {
      FF_ASSERT(errno == EINTR);
      continue;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

void SystemRandom::fill(std::span<std::uint8_t> bytes) {
  // One system call serves some hundred ids.
  struct Pool {
    std::array<std::uint8_t, 4096> bytes;
    std::size_t used = sizeof bytes;
  };
  thread_local Pool pool;
  FF_ASSERT(bytes.size() <= pool.bytes.size());
  if (pool.bytes.size() - pool.used < bytes.size()) {
    fill_from_kernel(pool.bytes);
    pool.used = 0;
  }
  std::copy_n(pool.bytes.begin() + static_cast<std::ptrdiff_t>(pool.used), bytes.size(),
              bytes.begin());
  pool.used += bytes.size();
}

Uuid make_uuid(TimePoint now, Random& random) {
  Uuid::Bytes bytes{};
  random.fill(std::span(bytes).subspan(6));
  const auto ms = static_cast<std::uint64_t>(now.time_since_epoch().count());
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0f));
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3f));
  return Uuid{bytes};
}

}  // namespace ff
