#include <flowfabric/task.hpp>

#include <boost/json.hpp>

#include "base/utf8.hpp"
#include "sdk/blocking.hpp"
#include "sdk/task_context.hpp"

namespace ff {
namespace {

constexpr Millis progress_limit = std::chrono::seconds{5};

}  // namespace

void Task::Context::cancel(CancelReason reason) {
  auto before = reason_.load();
  do {
    if (before && before != CancelReason::worker_stopping) return;
  } while (!reason_.compare_exchange_weak(before, reason));
  stop_.request_stop();
}

const std::string& Task::text() const {
  if (!is_valid_utf8(payload()))
    throw TaskFailure({.reason = "the payload is not UTF-8 text", .retryable = false});
  return payload();
}

boost::json::value Task::json() const {
  boost::system::error_code malformed;
  auto value = boost::json::parse(payload(), malformed);
  if (malformed)
    throw TaskFailure(
        {.reason = "the payload is not JSON: " + malformed.message(), .retryable = false});
  return value;
}

Result<void> Task::progress(std::uint32_t percent, std::string message) {
  UpdateProgress update{.id = claimed_.id,
                        .fence = claimed_.fence,
                        .percent = percent,
                        .message = std::move(message)};
  auto& engine = context_->engine();
  auto told = run_within({.timeout = progress_limit}, engine, engine.run(std::move(update)));
  if (!told) return std::unexpected(std::move(told.error()));
  return {};
}

std::stop_token Task::cancellation() const { return context_->token(); }

std::optional<CancelReason> Task::cancelled() const { return context_->cancelled(); }

void Task::throw_if_cancelled() const {
  if (const auto reason = cancelled()) throw TaskCancelled(*reason);
}

}  // namespace ff
