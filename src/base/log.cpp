#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

#include <fmt/format.h>

namespace ff {
namespace {

void write_to_stderr(LogLevel level, std::string_view line) {
  constexpr const char* names[] = {"debug", "info", "warning", "error", "critical"};
  const auto text = fmt::format("flowfabric {}: {}\n", names[static_cast<int>(level)], line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Lines are rare: a lock to find their writer costs nothing, and their level is checked without one.
struct Current {
  std::mutex mutex;
  std::shared_ptr<const Logger> logger =
      std::make_shared<Logger>(Logger{.write = write_to_stderr, .level = LogLevel::warn});
  std::atomic<LogLevel> level = LogLevel::warn;
};

// Never destroyed: threads may log until the process has ended.
Current& current() {
  static auto* const the_only = new Current;
  return *the_only;
}

}  // namespace

void set_logger(Logger logger) {
  auto& now = current();
  const std::lock_guard lock(now.mutex);
  now.level = logger.level;
  now.logger = std::make_shared<const Logger>(std::move(logger));
}

namespace log {

void write(Level level, fmt::string_view format, fmt::format_args args) {
  auto& now = current();
  if (level < now.level) return;
  std::shared_ptr<const Logger> logger;
  {
    const std::lock_guard lock(now.mutex);
    logger = now.logger;
  }
  if (logger->write) logger->write(level, fmt::vformat(format, args));
}

}  // namespace log
}  // namespace ff
