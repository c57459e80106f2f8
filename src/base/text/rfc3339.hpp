// Points in time as people write them: 2027-01-31T08:30:00Z.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <string>
#include <string_view>

namespace ff {

// Date, time, at most milliseconds, and Z or an offset such as +02:00.
Result<TimePoint> parse_rfc3339(std::string_view text);

std::string to_rfc3339(TimePoint time);

}  // namespace ff
