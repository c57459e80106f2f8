// The records that belong to an execution beside its own. They are written with it and go with it; writing,
// removal and `ff check` all work from this list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ff::core {

enum class Belonging : std::uint8_t {
  payload,
  result,
  attempt,  // one before the newest; many, by index
};

inline constexpr std::array belongings{Belonging::payload, Belonging::result, Belonging::attempt};

}  // namespace ff::core
