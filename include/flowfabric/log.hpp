// The destination of the library's log lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace ff {

enum class LogLevel : std::uint8_t { debug, info, warn, error, critical };

struct Logger {
  // Called from any thread, also from several at once. Empty: the lines are dropped.
  std::function<void(LogLevel level, std::string_view line)> write;
  LogLevel level = LogLevel::info;  // less important lines are dropped
};

// Sets the logger of the whole process; may be called at any time. Until then, warnings and errors go to
// standard error. The library never writes to standard output.
void set_logger(Logger logger);

}  // namespace ff
