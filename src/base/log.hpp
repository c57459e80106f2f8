// Lines for the log. A line is formatted and written in one compiled function, not in each file that logs.
#pragma once

#include <flowfabric/log.hpp>

#include <utility>

#include <fmt/core.h>

namespace ff::log {

using Level = LogLevel;

// To the logger of the process (set_logger), if it takes lines of this level.
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
