// Randomness, injected like the clock so that a test can repeat a run.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <random>
#include <span>

namespace ff {

// A source of random bytes. fill() may be called from any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

// The operating system's generator, fit for secrets.
class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override;
};

// A UUIDv7: sorts by `now`, the rest is random.
Uuid make_uuid(TimePoint now, Random& random);

}  // namespace ff
