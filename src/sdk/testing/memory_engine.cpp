#include <flowfabric/testing.hpp>

#include <mutex>
#include <random>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/worker/handlers.hpp"
#include "sdk/worker/reporting/reports.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"

namespace ff::testing {
namespace {

// The same in every run of a test: ids, and the jitter that is derived from them.
class RepeatableRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    const std::lock_guard lock(mutex_);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator_());
  }

 private:
  std::mutex mutex_;
  std::mt19937 generator_;
};

const WorkerId& worker_id() {
  static const auto id = must(WorkerId::parse("test"));
  return id;
}

Claim to_claim(const MemoryEngine::WorkOptions& options) {
  Claim claim{.worker = worker_id(),
              .ns = must(Namespace::parse(options.ns)),
              .lanes = {},
              .capabilities = must(CapabilitySet::parse(options.capabilities))};
  for (const auto& lane : options.lanes) claim.lanes.push_back(must(LaneId::parse(lane)));
  return claim;
}

}  // namespace

class MemoryEngine::State {
 public:
  State() {
    auto store = must(embedded::open(
        {.directory = "/in-memory", .clock = clock, .shards = 1, .env = env.get(), .lock = false}));
    engine.emplace(
        std::move(store),
        LocalEngineOptions{.scan = false, .random = std::make_shared<RepeatableRandom>()});
  }

  struct Planned {
    int count = 0;
    Errc code{};
    Fault fault{};
  };
  std::optional<Planned> next_fault(EngineCall& call) {
    const std::lock_guard lock(mutex);
    if (down) return Planned{.code = Errc::store_unavailable, .fault = Fault::before};
    auto& planned = faults[call.index()];
    if (planned.count == 0) return std::nullopt;
    --planned.count;
    return planned;
  }

  // Tells the handler that runs this execution, if work() does.
  void tell(const ExecutionId& id, CancelReason reason) {
    const std::lock_guard lock(mutex);
    if (running && running_id == id) running->cancel(reason);
  }

  embedded::MemoryEnv env;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::optional<LocalEngine> engine;

  std::mutex mutex;
  bool down = false;
  std::map<std::size_t, Planned> faults;
  ExecutionId running_id;
  std::shared_ptr<Task::Context> running;
};

MemoryEngine::MemoryEngine() : state_(std::make_unique<State>()) {}
MemoryEngine::~MemoryEngine() = default;

asio::any_io_executor MemoryEngine::executor() { return state_->engine->executor(); }

asio::awaitable<void> MemoryEngine::perform(EngineCall& call) {
  const auto fault = state_->next_fault(call);
  if (!fault || fault->fault == Fault::reply_lost) co_await state_->engine->perform(call);
  if (fault) call.refuse({fault->code, "a fault of the test"});
}

TimePoint MemoryEngine::now() const { return state_->clock->now(); }

void MemoryEngine::advance(Millis time) {
  state_->clock->advance(time);
  must(run_blocking(*this, state_->engine->scanners().run_once()));
}

void MemoryEngine::lose_lease(const ExecutionId& id) {
  must(run_blocking(*state_->engine, RevokeLease{.id = id}));
  state_->tell(id, CancelReason::lease_lost);
}

void MemoryEngine::cancel(const ExecutionId& id) {
  must(run_blocking(*state_->engine, Cancel{.id = id}));
  state_->tell(id, CancelReason::execution_cancelled);
}

void MemoryEngine::set_down(bool down) {
  const std::lock_guard lock(state_->mutex);
  state_->down = down;
}

void MemoryEngine::fail_next(std::size_t operation, int count, Errc code, Fault fault) {
  const std::lock_guard lock(state_->mutex);
  state_->faults[operation] = {count, code, fault};
}

std::vector<Attempt> MemoryEngine::work(const std::map<std::string, Handler>& handlers) {
  return work(handlers, {});
}

std::vector<Attempt> MemoryEngine::work(const std::map<std::string, Handler>& handlers,
                                        WorkOptions options) {
  const auto claim = to_claim(options);
  const auto strand = asio::make_strand(executor());
  SystemRandom random;
  CoroutineGroup coroutines;
  Reports reports(*this, random, worker_id(), strand, coroutines);
  std::vector<Attempt> attempts;

  const auto run_one = [&](const ClaimedExecution& claimed) {
    if (attempts.size() == options.attempts_max)
      throw std::runtime_error(
          fmt::format("there were {} attempts, and executions have not ended", attempts.size()));
    auto context = std::make_shared<Task::Context>(*this, claimed.lease_expires_at);
    {
      const std::lock_guard lock(state_->mutex);
      state_->running_id = claimed.id;
      state_->running = context;
    }
    const auto held = std::make_shared<Held>(claimed, claim.lease_ttl, context, strand);
    const auto started_at = now();
    auto task = TaskMaker::make(claimed, context);
    auto outcome = call_handler(handlers, worker_id().str(), task);
    attempts.push_back({.id = task.id(),
                        .kind = task.kind().str(),
                        .index = task.attempt_index(),
                        .at = started_at,
                        .outcome = to_string(outcome)});
    if (context->cancelled() == CancelReason::budget_exceeded) held->lost = true;
    auto wake =
        asio::co_spawn(strand, reports.report(held, std::move(outcome)), asio::use_future).get();
    const std::lock_guard lock(state_->mutex);
    state_->running.reset();
    return wake;
  };
  // As often as signals that have arrived before satisfy its suspensions.
  const auto run_until_reported = [&](ClaimedExecution claimed) {
    while (auto wake = run_one(claimed)) {
      claimed.resumed = true;
      claimed.wake = std::move(wake);
    }
  };

  // The time at which the next delayed execution is ready.
  const auto next_delayed = [&] {
    std::optional<TimePoint> next;
    ListExecutions list{.ns = claim.ns, .state = ExecutionState::delayed};
    do {
      const auto page = must(run_blocking(*state_->engine, list));
      for (const auto& execution : page.executions)
        if (execution.delay_until)
          next = std::min(*execution.delay_until, next.value_or(*execution.delay_until));
      list.cursor = page.next;
    } while (list.cursor);
    return next;
  };

  while (true) {
    auto claimed = must(run_blocking(*state_->engine, claim)).executions;
    if (!claimed.empty()) {
      run_until_reported(std::move(claimed.front()));
      continue;
    }
    const auto next = next_delayed();
    if (!next) break;
    advance(std::max(*next - now(), Millis{1}));
  }
  coroutines.wait();
  return attempts;
}

}  // namespace ff::testing
