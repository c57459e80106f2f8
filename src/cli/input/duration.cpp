#include "cli/input/duration.hpp"

#include <fmt/format.h>

#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"

namespace ff::cli {

Result<TimePoint> parse_time(std::string_view text, TimePoint now, Side side) {
  if (const auto duration = parse_duration(text))
    return side == Side::past ? now - *duration : now + *duration;
  if (const auto time = parse_rfc3339(text)) return *time;
  return fail(Errc::invalid_input,
              fmt::format("'{}' is not a time; write 2026-01-31T12:00:00Z or a duration such as "
                          "30s, 5m, 2h or 1d",
                          printable(text)));
}

}  // namespace ff::cli
