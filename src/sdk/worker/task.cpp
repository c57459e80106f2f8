#include <flowfabric/task.hpp>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "sdk/worker/reporting/lease_loss.hpp"
#include "sdk/worker/reporting/resend.hpp"
#include "sdk/worker/task_context.hpp"
#include "sdk/worker/task_run.hpp"

namespace ff {
namespace {

constexpr Millis progress_limit = std::chrono::seconds{5};

}  // namespace

void Task::Context::cancel(CancelReason reason) {
  auto before = reason_.load();
  do {
    const bool gives_way =
        before == CancelReason::worker_stopping ||
        (before == CancelReason::lease_lost && reason == CancelReason::budget_exceeded);
    if (before && !gives_way) return;
  } while (!reason_.compare_exchange_weak(before, reason));
  stop_.request_stop();
}

Task::Task(ClaimedExecution claimed, std::shared_ptr<Context> context)
    : claimed_(std::move(claimed)), context_(std::move(context)), run_(std::make_shared<Run>()) {}

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

TimePoint Task::lease_expires_at() const { return context_->lease_expires_at(); }

Result<void> Task::progress(std::uint32_t percent, std::string message) {
  UpdateProgress update{.id = claimed_.id,
                        .fence = claimed_.fence,
                        .percent = percent,
                        .message = std::move(message)};
  auto& engine = context_->engine();
  auto told = run_within({.timeout = progress_limit}, engine, std::move(update));
  FF_TRY(told);
  return {};
}

Result<UsageReply> Task::report_usage(Amounts amounts) {
  Result<UsageReply> worst = UsageReply{};
  for (const auto& budget : claimed_.budgets) {
    auto reply = report_usage(budget, amounts);
    if (cancelled() == CancelReason::budget_exceeded) return reply;
    // Any other failure would be that of the rest, too.
    const bool go_on = reply || reply.error().code == Errc::budget_not_found;
    const bool is_worse = worst && (!reply || reply->outcome > worst->outcome);
    if (is_worse) worst = std::move(reply);
    if (!go_on) break;
  }
  return worst;
}

Result<UsageReply> Task::report_usage(const BudgetId& budget, Amounts amounts) {
  // An attempt that goes on elsewhere counts its reports anew, but under another lease.
  const auto key =
      fmt::format("{}/{}/{}", claimed_.fence.attempt_id.str(),
                  std::to_underlying(claimed_.fence.lease_epoch), context_->next_report());
  auto reply = resend(context_->engine(), ReportUsage{.id = budget,
                                                      .amounts = std::move(amounts),
                                                      .dedup_key = must(DedupKey::parse(key)),
                                                      .execution = claimed_.id,
                                                      .fence = claimed_.fence});
  if (!reply) {
    if (const auto loss = lease_loss(reply.error())) context_->cancel(*loss);
    return reply;
  }
  if (reply->action && ends_attempt(*reply->action)) context_->cancel(CancelReason::budget_exceeded);
  return reply;
}

std::stop_token Task::cancellation() const { return context_->token(); }

std::optional<CancelReason> Task::cancelled() const { return context_->cancelled(); }

void Task::throw_if_cancelled() const {
  if (const auto reason = cancelled()) throw TaskCancelled(*reason);
}

}  // namespace ff
