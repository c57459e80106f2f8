#include <flowfabric/testing.hpp>

#include <mutex>

#include <fmt/format.h>

#include "base/async/runtime.hpp"
#include "base/overloaded.hpp"
#include "base/random.hpp"
#include "sdk/worker/handlers.hpp"
#include "sdk/worker/task_context.hpp"

namespace ff {
namespace {

std::string with_detail(std::string_view what, std::string_view detail) {
  return detail.empty() ? std::string(what) : fmt::format("{}: {}", what, detail);
}

}  // namespace

std::string to_string(const Outcome& outcome) {
  return std::visit(
      Overloaded{
          [](const Outcome::Completed& completed) {
            return with_detail("completed", completed.result.value_or(""));
          },
          [](const Failure& failure) {
            auto text = with_detail("failed", failure.reason);
            if (!failure.category.empty()) text += fmt::format(" ({})", failure.category);
            return failure.retryable ? text : text + ", final";
          },
          [](const Outcome::DelayedFor& delayed) {
            return fmt::format("delayed for {} ms", delayed.pause.count());
          },
          [](const Outcome::DelayedUntil& delayed) {
            return fmt::format("delayed until {}", delayed.until.time_since_epoch().count());
          },
          [](const Outcome::HandedBack& back) { return with_detail("handed back", back.reason); },
          [](const Outcome::WaitingForChildren&) -> std::string { return "waiting for children"; },
          [](const Outcome::Cancelled& cancelled) {
            return with_detail("cancelled", cancelled.reason);
          },
      },
      outcome.how());
}

namespace testing {
namespace {

// Records what a task tells it.
class RecordingEngine final : public Engine {
 public:
  asio::any_io_executor executor() override { return runtime_.executor(); }

  asio::awaitable<void> perform(EngineCall& call) override {
    const std::lock_guard lock(mutex);
    if (failing)
      call.refuse({*failing, "a fault of the test"});
    else if (auto* const progress = call.get_if<UpdateProgress>())
      progress->reply.emplace(record(progress->operation));
    else if (auto* const usage = call.get_if<ReportUsage>())
      usage->reply.emplace(record(usage->operation));
    else
      call.refuse({Errc::internal, "a TestTask has no engine; use a MemoryEngine"});
    co_return;
  }

  std::mutex mutex;
  std::optional<Errc> failing;
  UsageReply usage_reply = {};
  std::vector<UpdateProgress> progresses;
  std::vector<ReportUsage> usages;

 private:
  Done record(const UpdateProgress& progress) {
    progresses.push_back(progress);
    return {};
  }
  UsageReply record(const ReportUsage& usage) {
    usages.push_back(usage);
    return usage_reply;
  }

  Runtime runtime_{1};
};

ClaimedExecution to_claimed(TaskParts parts) {
  constexpr TimePoint start{Millis{1'800'000'000'000}};
  SystemRandom random;
  ClaimedExecution claimed{.id = {0, make_uuid(start, random)},
                           .ns = must(Namespace::parse(std::move(parts.ns))),
                           .lane = must(LaneId::parse(std::move(parts.lane))),
                           .kind = must(Kind::parse(std::move(parts.kind))),
                           .payload = std::move(parts.payload),
                           .tags = std::move(parts.tags),
                           .attempt_index = parts.attempt_index,
                           .attempt_type = parts.attempt_type,
                           .resumed = parts.resumed,
                           .fence = {.lease_id = LeaseId{make_uuid(start, random)},
                                     .lease_epoch = LeaseEpoch{1},
                                     .attempt_id = AttemptId{make_uuid(start, random)}},
                           .lease_expires_at = start + std::chrono::seconds{30},
                           .attempt_deadline = parts.attempt_deadline,
                           .deadline = parts.deadline,
                           .budgets = std::move(parts.budgets)};
  if (!parts.content_type.empty())
    claimed.content_type = must(ContentType::parse(std::move(parts.content_type)));
  return claimed;
}

}  // namespace

class TestTask::Parts {
 public:
  explicit Parts(ClaimedExecution claimed)
      : context(std::make_shared<Task::Context>(engine, claimed.lease_expires_at)),
        task(TaskMaker::make(std::move(claimed), context)) {}

  RecordingEngine engine;
  std::shared_ptr<Task::Context> context;
  Task task;
};

TestTask::TestTask(TaskParts parts)
    : parts_(std::make_unique<Parts>(to_claimed(std::move(parts)))) {}
TestTask::~TestTask() = default;

Task& TestTask::task() { return parts_->task; }

Outcome TestTask::run(const Handler& handler) {
  return call_handler({{"", handler}}, "test", parts_->task);
}

void TestTask::cancel(CancelReason reason) { parts_->context->cancel(reason); }

std::vector<UpdateProgress> TestTask::progress() const {
  const std::lock_guard lock(parts_->engine.mutex);
  return parts_->engine.progresses;
}

std::vector<ReportUsage> TestTask::usage() const {
  const std::lock_guard lock(parts_->engine.mutex);
  return parts_->engine.usages;
}

void TestTask::fail_calls(std::optional<Errc> code) {
  const std::lock_guard lock(parts_->engine.mutex);
  parts_->engine.failing = code;
}

void TestTask::set_usage_reply(UsageReply reply) {
  const std::lock_guard lock(parts_->engine.mutex);
  parts_->engine.usage_reply = std::move(reply);
}

}  // namespace testing
}  // namespace ff
