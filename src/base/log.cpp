#include "base/log.hpp"

#include <spdlog/spdlog.h>

namespace ff::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warn: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::critical: return spdlog::level::critical;
  }
  return spdlog::level::off;
}

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args args) {
  auto* logger = spdlog::default_logger_raw();
  if (!logger || !logger->should_log(to_spdlog(level))) return;
  logger->log(to_spdlog(level), std::string_view(fmt::vformat(format, args)));
}

}  // namespace ff::log
