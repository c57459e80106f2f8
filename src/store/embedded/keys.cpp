#include "store/embedded/keys.hpp"

#include <algorithm>

namespace ff::embedded::keys {
namespace {

constexpr std::size_t execution_key_size = 1 + 2 + 16;

std::string key(char kind, const ExecutionId& id) {
  std::string text;
  text.reserve(execution_key_size);
  text += kind;
  text += static_cast<char>(id.partition() >> 8);
  text += static_cast<char>(id.partition() & 0xff);
  text.append(id.uuid().bytes().begin(), id.uuid().bytes().end());
  return text;
}

}  // namespace

std::string live(const ExecutionId& id) { return key('x', id); }
std::string ended(const ExecutionId& id) { return key('z', id); }
std::string payload(const ExecutionId& id) { return key('p', id); }
std::string result(const ExecutionId& id) { return key('r', id); }

Result<ExecutionId> execution_id(std::string_view key) {
  if (key.size() != execution_key_size)
    return fail(Errc::store_damaged, "the database holds a key of an unknown form");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(key[i]); };
  Uuid::Bytes uuid;
  std::copy(key.begin() + 3, key.end(), uuid.begin());
  return ExecutionId{static_cast<PartitionIndex>(byte(1) << 8 | byte(2)), Uuid{uuid}};
}

}  // namespace ff::embedded::keys
