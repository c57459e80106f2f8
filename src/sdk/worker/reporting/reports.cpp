#include "sdk/worker/reporting/reports.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/overloaded.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "core/validation/validate.hpp"
#include "sdk/worker/reporting/lease_loss.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

using Report = std::variant<Complete, Fail, Delay, HandBack, WaitForChildren, Cancel, Suspend>;

constexpr Millis report_pause_min{50};
constexpr Millis report_pause_max{2000};

// The policy decides by the category alone, and these are not retried unless it names them.
bool is_final(std::string_view category) {
  return category == "permanent" || category == "cancelled";
}

Fail to_fail(const Held& held, Failure failure) {
  if (!failure.retryable && !is_final(failure.category)) {
    if (!failure.category.empty()) failure.reason = failure.category + ": " + failure.reason;
    failure.category = "permanent";
  }
  if (failure.reason.empty()) failure.reason = "the handler failed without a message";
  return {.id = held.id,
          .fence = held.fence,
          .reason = to_valid_utf8(failure.reason, limits::reason_bytes_max),
          .category = to_valid_utf8(failure.category, limits::category_bytes_max)};
}

Report to_report(const Held& held, Outcome::Completed completed) {
  Complete complete{.id = held.id, .fence = held.fence, .result = std::move(completed.result)};
  if (!completed.content_type.empty()) {
    auto type = ContentType::parse(std::move(completed.content_type));
    if (!type) return to_fail(held, {.reason = type.error().message});
    complete.content_type = std::move(*type);
  }
  complete.spawn = std::move(completed.spawn);
  if (auto valid = core::validate(complete, core::any_partition); !valid)
    return to_fail(held, {.reason = valid.error().message});
  return complete;
}

// Its id is minted here, so that a repeated report is no second suspension.
Report to_report(const Held& held, const SuspendOptions& options, Random& random) {
  const auto id = options.id.value_or(SuspensionId{make_uuid(held.engine_time(), random)});
  return Suspend{.id = held.id,
                 .fence = held.fence,
                 .suspension_id = id,
                 .condition = options.condition,
                 .waitpoints = options.waitpoints,
                 .reason = options.reason,
                 .timeout = options.timeout,
                 .on_timeout = options.on_timeout,
                 .resume_delay = options.resume_delay,
                 .state = options.state};
}

Report to_report(const Held& held, const Outcome::How& how, Random& random) {
  return std::visit(
      Overloaded{
          [&](const Outcome::Completed& completed) { return to_report(held, completed); },
          [&](const Failure& failure) -> Report { return to_fail(held, failure); },
          [&](const Outcome::DelayedFor& delayed) -> Report {
            const auto pause = std::clamp(delayed.pause, Millis{0}, limits::duration_max);
            return Delay{held.id, held.fence, held.engine_time() + pause};
          },
          [&](const Outcome::DelayedUntil& delayed) -> Report {
            return Delay{held.id, held.fence, delayed.until};
          },
          [&](const Outcome::HandedBack& back) -> Report {
            return HandBack{held.id, held.fence,
                            to_valid_utf8(back.reason, limits::reason_bytes_max)};
          },
          [&](const Outcome::WaitingForChildren& waiting) -> Report {
            return WaitForChildren{held.id, held.fence, waiting.children};
          },
          [&](const Outcome::Cancelled& cancelled) -> Report {
            return Cancel{held.id, to_valid_utf8(cancelled.reason, limits::reason_bytes_max),
                          held.fence};
          },
          [&](const SuspendOptions& options) { return to_report(held, options, random); },
      },
      how);
}

// It is what was reported that the engine does not take, not the moment or the way there.
bool is_refused(const Error& error) {
  const int status = info(error.code).http_status;
  return !error.retryable() && (status == 400 || status == 404 || status == 410 || status == 413 ||
                                error.code == Errc::waitpoint_limit_exceeded);
}

}  // namespace

Reports::Reports(Engine& engine, Random& random, const WorkerId& worker,
                 asio::any_io_executor strand, CoroutineGroup& coroutines)
    : engine_(engine),
      random_(random),
      worker_(worker.str()),
      strand_(strand),
      completions_(engine, strand, coroutines),
      outage_(fmt::format("worker {} cannot report what came of its executions", worker_)) {}

asio::awaitable<std::optional<Wake>> Reports::report(std::shared_ptr<Held> held, Outcome outcome) {
  auto report = to_report(*held, outcome.how(), random_);
  RetryPause pause(random_, report_pause_min, report_pause_max);
  Wakeup sleep(strand_);
  while (!held->lost && !held->done) {
    auto sent = std::visit([this](const auto& operation) { return send(operation); }, report);
    auto reply = co_await std::move(sent);
    if (reply) {
      outage_.over();
      auto& wake = *reply;
      if (wake) wake->at = held->engine_time();
      co_return wake;
    }
    const auto* error = &reply.error();
    if (const auto loss = lease_loss(*error)) {
      held->lose(*loss);
    } else if (const auto* cancel = std::get_if<Cancel>(&report); cancel && is_denied(*error)) {
      report = to_fail(*held, {.reason = cancel->reason, .category = "cancelled"});
    } else if (!is_refused(*error)) {
      outage_.failed(*error);
      co_await sleep.wait_until(Held::Steady::now() + pause.next());
    } else if (!std::holds_alternative<Fail>(report)) {
      // Another attempt would wait for the same.
      const bool retryable = !std::holds_alternative<Suspend>(report);
      report = to_fail(*held, {.reason = error->message, .retryable = retryable});
    } else {
      log::error("worker {} cannot report the failure of {}: {}", worker_, held->id.str(),
                 error->message);
      co_return std::nullopt;
    }
  }
  const bool cancelled = held->context->cancelled() == CancelReason::execution_cancelled;
  log::at(cancelled ? log::Level::info : log::Level::warn,
          "worker {} no longer has {}; what its handler returned is dropped", worker_,
          held->id.str());
  co_return std::nullopt;
}

Reports::Sent Reports::send(Complete completion) {
  if (!completion.spawn.empty()) {
    const auto grown = co_await engine_.run(std::move(completion));
    FF_CO_TRY(grown);
    co_return std::nullopt;
  }
  const auto reply = co_await completions_.complete(std::move(completion));
  FF_CO_TRY(reply);
  co_return std::nullopt;
}

Reports::Sent Reports::send(Suspend suspend) {
  const auto reply = co_await engine_.run(std::move(suspend));
  FF_CO_TRY(reply);
  if (!reply->satisfied) co_return std::nullopt;
  co_return Wake{.suspension_id = reply->suspension_id, .cause = WakeCause::signals, .at = {}};
}

template <class Op>
Reports::Sent Reports::send(Op operation) {
  const auto reply = co_await engine_.run(std::move(operation));
  FF_CO_TRY(reply);
  co_return std::nullopt;
}

}  // namespace ff
