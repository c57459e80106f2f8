// Durations as people write and read them.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <string>
#include <string_view>

namespace ff {

// A whole number and a unit: 500ms, 30s, 5m, 2h, 1d. A bare number only if `bare_unit` says what it is,
// except 0. At most limits::duration_max.
Result<Millis> parse_duration(std::string_view text, Millis bare_unit = Millis{0});

// In the largest unit that says it exactly: 90s, 2h.
std::string format_duration(Millis duration);

}  // namespace ff
