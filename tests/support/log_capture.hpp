// The log lines of a test.
#pragma once

#include <flowfabric/log.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace ff::test {

// Collects the lines that are logged from its making on, as "level line\n".
class LogCapture {
 public:
  explicit LogCapture(LogLevel level = LogLevel::debug) {
    set_logger(
        {.write =
             [lines = lines_](LogLevel at, std::string_view line) {
               constexpr const char* names[] = {"debug", "info", "warning", "error", "critical"};
               const std::lock_guard lock(lines->mutex);
               lines->text += names[static_cast<int>(at)];
               lines->text.append(" ").append(line).append("\n");
             },
         .level = level});
  }
  ~LogCapture() { set_logger({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string text() const {
    const std::lock_guard lock(lines_->mutex);
    return lines_->text;
  }

 private:
  struct Lines {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

}  // namespace ff::test
