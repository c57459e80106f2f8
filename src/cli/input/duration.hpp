// Durations and times as people write and read them.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <string>
#include <string_view>

#include "base/text/duration.hpp"

namespace ff::cli {

using ff::format_duration;
using ff::parse_duration;

// RFC 3339 (2026-01-31T12:00:00Z), or a duration: so long ago, or from now.
enum class Side { past, future };
Result<TimePoint> parse_time(std::string_view text, TimePoint now, Side side);

}  // namespace ff::cli
