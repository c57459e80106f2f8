#include <flowfabric/testing.hpp>

#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "base/async/runtime.hpp"
#include "base/overloaded.hpp"
#include "base/random.hpp"
#include "base/text/digest.hpp"
#include "core/suspensions/condition.hpp"
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
          [](const SuspendOptions& options) {
            return "suspended: " + core::describe_progress(options.condition, {});
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
    else if (auto* const get = call.get_if<GetSignals>())
      get->reply.emplace(SignalPage{.signals = received()});
    else if (auto* const list = call.get_if<ListSteps>())
      list->reply.emplace(list_steps());
    else if (auto* const step = call.get_if<GetStep>())
      step->reply.emplace(Bytes{.bytes = steps.at(step->operation.name.str())});
    else if (auto* const put = call.get_if<PutStep>())
      put->reply.emplace(PutStepReply{
          .duplicate =
              !steps.try_emplace(put->operation.name.str(), put->operation.result).second});
    else if (auto* const create = call.get_if<CreateWaitpoint>())
      create->reply.emplace(record(create->operation.waitpoint));
    else if (auto* const fetch = call.get_if<GetInputs>())
      fetch->reply.emplace(NodeInputs{.inputs = inputs_named(fetch->operation.name)});
    else if (auto* const suspension = call.get_if<GetSuspension>())
      suspension->reply.emplace(last_suspension());
    else
      call.refuse({Errc::internal, "a TestTask has no engine; use a MemoryEngine"});
    co_return;
  }

  std::mutex mutex;
  std::optional<Errc> failing;
  UsageReply usage_reply = {};
  std::vector<UpdateProgress> progresses;
  std::vector<ReportUsage> usages;
  std::vector<TestSignal> signals;
  std::map<std::string, std::string> steps;
  std::vector<NewWaitpoint> waitpoints;
  std::string suspension_state;
  std::vector<NodeInput> inputs;

 private:
  // The same for the same key, also before the waitpoint is opened: a test may send to it then.
  static WaitpointId waitpoint_id(std::string_view key) {
    Uuid::Bytes bytes{};
    const auto digest = Digest().add(key).value();
    std::memcpy(bytes.data(), &digest, sizeof digest);
    return WaitpointId{Uuid{bytes}};
  }
  std::vector<ReceivedSignal> received() const {
    std::vector<ReceivedSignal> all;
    for (const auto& each : signals) {
      auto& signal = all.emplace_back();
      signal.index = static_cast<std::uint32_t>(all.size() - 1);
      signal.name = must(SignalName::parse(each.name));
      signal.payload = each.payload;
      signal.source.identity = each.source;
      if (!each.waitpoint.empty()) signal.waitpoint = waitpoint_id(each.waitpoint);
    }
    return all;
  }
  std::vector<NodeInput> inputs_named(const std::optional<NodeName>& name) const {
    auto all = inputs;
    if (name) std::erase_if(all, [&](const NodeInput& each) { return each.name != *name; });
    return all;
  }
  StepList list_steps() const {
    StepList list;
    for (const auto& [name, result] : steps)
      list.steps.push_back({.name = must(StepName::parse(name)), .at = {}, .bytes = result.size()});
    return list;
  }
  CreateWaitpointReply record(const NewWaitpoint& waitpoint) {
    waitpoints.push_back(waitpoint);
    CreateWaitpointReply reply{.waitpoint = {.info = info_of(waitpoint)}};
    auto& tokens = reply.waitpoint.tokens;
    const auto approvers = waitpoint.question.value_or(Question{}).approvers;
    for (const auto& approver : approvers) tokens.push_back({approver, "token of " + approver});
    if (approvers.empty()) tokens.push_back({.token = "token"});
    return reply;
  }
  static WaitpointInfo info_of(const NewWaitpoint& waitpoint) {
    return {.id = waitpoint_id(waitpoint.key.str()), .key = waitpoint.key, .created_at = {}};
  }
  SuspensionReply last_suspension() const {
    SuspensionReply reply;
    reply.suspension.emplace().state = suspension_state;
    for (const auto& each : waitpoints) reply.waitpoints.push_back(info_of(each));
    return reply;
  }
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
                           .resumed = parts.resumed || parts.wake.has_value(),
                           .wake = std::move(parts.wake),
                           .fence = {.lease_id = LeaseId{make_uuid(start, random)},
                                     .lease_epoch = LeaseEpoch{1},
                                     .attempt_id = AttemptId{make_uuid(start, random)}},
                           .lease_expires_at = start + std::chrono::seconds{30},
                           .attempt_deadline = parts.attempt_deadline,
                           .deadline = parts.deadline,
                           .budgets = std::move(parts.budgets)};
  if (!parts.content_type.empty())
    claimed.content_type = must(ContentType::parse(std::move(parts.content_type)));
  if (!parts.node.empty()) claimed.node = must(NodeName::parse(std::move(parts.node)));
  if (claimed.node || !parts.inputs.empty()) claimed.flow = FlowId{make_uuid(start, random)};
  return claimed;
}

NodeInput to_input(const TestInput& input) {
  NodeInput made{.name = must(NodeName::parse(input.name)),
                 .node = must(NodeName::parse(input.node.empty() ? input.name : input.node)),
                 .state = input.state,
                 .result = input.result};
  if (!input.content_type.empty()) made.content_type = must(ContentType::parse(input.content_type));
  return made;
}

}  // namespace

class TestTask::Parts {
 public:
  explicit Parts(TaskParts parts) {
    engine.signals = std::move(parts.signals);
    engine.steps = std::move(parts.steps);
    engine.suspension_state = std::move(parts.suspension_state);
    for (const auto& input : parts.inputs) engine.inputs.push_back(to_input(input));
    // Steps are of an earlier run.
    parts.resumed = parts.resumed || !engine.steps.empty();
    claimed = to_claimed(std::move(parts));
    context = std::make_shared<Task::Context>(engine, claimed.lease_expires_at);
    task.emplace(TaskMaker::make(claimed, context));
  }

  Outcome run(const Handler& handler) {
    if (has_run) task.emplace(TaskMaker::make(claimed, context));
    has_run = true;
    auto outcome = call_handler({{"", handler}}, "test", *task);
    if (const auto* suspended = std::get_if<SuspendOptions>(&outcome.how())) {
      const std::lock_guard lock(engine.mutex);
      engine.suspension_state = suspended->state;
      claimed.resumed = true;
      claimed.wake.emplace().suspension_id = suspended->id.value_or(SuspensionId{});
    }
    return outcome;
  }

  RecordingEngine engine;
  ClaimedExecution claimed;
  std::shared_ptr<Task::Context> context;
  std::optional<Task> task;
  bool has_run = false;
};

TestTask::TestTask(TaskParts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {}
TestTask::~TestTask() = default;

Task& TestTask::task() { return *parts_->task; }

Outcome TestTask::run(const Handler& handler) { return parts_->run(handler); }

void TestTask::signal(TestSignal signal) {
  const std::lock_guard lock(parts_->engine.mutex);
  parts_->engine.signals.push_back(std::move(signal));
}

void TestTask::wake(WakeCause cause) {
  auto& claimed = parts_->claimed;
  claimed.resumed = true;
  if (!claimed.wake) claimed.wake.emplace();
  claimed.wake->cause = cause;
}

std::vector<NewWaitpoint> TestTask::waitpoints() const {
  const std::lock_guard lock(parts_->engine.mutex);
  return parts_->engine.waitpoints;
}

std::map<std::string, std::string> TestTask::steps() const {
  const std::lock_guard lock(parts_->engine.mutex);
  return parts_->engine.steps;
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
