#include "base/named_uuid.hpp"

#include <algorithm>

#include "base/text/sha1.hpp"

namespace ff {

Uuid named_uuid(const Uuid& space, std::string_view name) {
  std::string text(space.bytes().begin(), space.bytes().end());
  text += name;
  const auto digest = sha1(text);
  Uuid::Bytes bytes{};
  std::ranges::copy_n(digest.begin(), 16, bytes.begin());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x50);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  return Uuid{bytes};
}

}  // namespace ff
