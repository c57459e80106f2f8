#include "valkey/cluster/slot.hpp"

#include <span>

#include "base/text/hash.hpp"

namespace ff::valkey {
namespace {

std::string_view hash_tag(std::string_view key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  const auto tag = hash_tag(key);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(tag.data());
  return crc16(std::span(bytes, tag.size())) % slot_count;
}

}  // namespace ff::valkey
