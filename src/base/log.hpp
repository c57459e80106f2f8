// Lines for the log. A line is formatted and written in one compiled function: spdlog's own templates
// compile the formatting of every kind of number again in each file that logs.
#pragma once

#include <cstdint>
#include <utility>

#include <fmt/core.h>

namespace ff::log {

enum class Level : std::uint8_t { debug, info, warn, error, critical };

// To the program's default logger of spdlog, if it takes lines of this level.
void write(Level level, fmt::string_view format, fmt::format_args args);

template <class... Args>
void at(Level level, fmt::format_string<Args...> format, Args&&... args) {
  write(level, format, fmt::make_format_args(args...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, format, fmt::make_format_args(args...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, format, fmt::make_format_args(args...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warn, format, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, format, fmt::make_format_args(args...));
}
template <class... Args>
void critical(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::critical, format, fmt::make_format_args(args...));
}

}  // namespace ff::log
