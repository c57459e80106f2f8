#include "base/text/digest.hpp"

#include <xxhash.h>

#include "base/assert.hpp"

namespace ff {

void Digest::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Digest::Digest() : state_(XXH3_createState()) {
  FF_ASSERT(state_);
  XXH3_64bits_reset(state_.get());
}
Digest::~Digest() = default;

Digest& Digest::add(std::string_view bytes) {
  add(static_cast<std::int64_t>(bytes.size()));
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  return *this;
}

Digest& Digest::add(std::int64_t number) {
  unsigned char little_endian[8];
  for (std::size_t i = 0; i < 8; ++i)
    little_endian[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
  XXH3_64bits_update(state_.get(), little_endian, sizeof little_endian);
  return *this;
}

std::uint64_t Digest::value() const { return XXH3_64bits_digest(state_.get()); }

Uuid make_uuid(std::uint64_t first, std::uint64_t second) {
  Uuid::Bytes bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(first >> (8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(second >> (8 * i));
  }
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x80);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  return Uuid{bytes};
}

}  // namespace ff
