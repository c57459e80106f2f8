// Values as texts in the arguments of functions.
#pragma once

#include <flowfabric/operations.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ff::valkey_store {

inline std::string text_of(TimePoint time) {
  return std::to_string(time.time_since_epoch().count());
}
inline std::string text_of(Millis duration) { return std::to_string(duration.count()); }
inline std::string text_of(LeaseEpoch epoch) { return std::to_string(std::to_underlying(epoch)); }

// Eight bytes: of every waiting execution there is one.
inline std::string raw_bytes(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

template <class T>
std::string text_or_none(const std::optional<T>& value) {
  if (!value) return {};
  if constexpr (requires { value->str(); })
    return value->str();
  else
    return text_of(*value);
}

template <class... More>
std::vector<std::string> with_fence(const Fence& fence, More... more) {
  return {fence.lease_id.str(), text_of(fence.lease_epoch), fence.attempt_id.str(),
          std::move(more)...};
}

}  // namespace ff::valkey_store
