#include "cli/output/log.hpp"

#include <flowfabric/log.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include <fmt/chrono.h>

namespace ff::cli {
namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warning", "error",
                                                      "critical"};

// 2026-01-31T12:00:00.123Z info line
void write(LogLevel level, std::string_view line) {
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto text = fmt::format(
      "{:%Y-%m-%dT%H:%M:%S}.{:03}Z {} {}\n", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
      now.time_since_epoch().count() % 1000, level_names[static_cast<std::size_t>(level)], line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void log_to_stderr(std::string_view level) {
  if (level == "off") return set_logger({});
  if (level == "warn") level = "warning";
  const auto found = std::ranges::find(level_names, level);  // trace: everything
  const auto least = found == level_names.end() ? 0 : found - level_names.begin();
  set_logger({.write = write, .level = static_cast<LogLevel>(least)});
}

}  // namespace ff::cli
