#include <flowfabric/worker.hpp>

#include <flowfabric/engine.hpp>
#include <flowfabric/limits.hpp>

#include <algorithm>
#include <atomic>
#include <map>

#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "base/assert.hpp"
#include "base/coroutine_group.hpp"
#include "base/utf8.hpp"
#include "base/wakeup.hpp"
#include "core/partitions.hpp"
#include "core/validate.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis claim_wait = std::chrono::seconds{20};
constexpr Millis pause_after_error_min{100};
constexpr Millis pause_after_error_max = std::chrono::seconds{5};

std::string default_worker_id() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return fmt::format("worker-{}", ::getpid());
  return fmt::format("{}-{}", host, ::getpid());
}

// After these answers the lease is gone for good.
bool lease_is_gone(const Error& error) {
  switch (error.code) {
    case Errc::stale_lease:
    case Errc::lease_expired:
    case Errc::lease_revoked:
    case Errc::execution_not_active:
    case Errc::execution_not_found: return true;
    default: return false;
  }
}

Result<Claim> claim_template(const WorkerOptions& options) {
  auto worker = WorkerId::parse(options.id.empty() ? default_worker_id() : options.id);
  if (!worker) return std::unexpected(worker.error());
  auto ns = Namespace::parse(options.ns);
  if (!ns) return std::unexpected(ns.error());
  Claim claim{.worker = std::move(*worker),
              .ns = std::move(*ns),
              .lanes = {},
              .lease_ttl = options.lease_ttl,
              .wait = claim_wait};
  for (const auto& name : options.lanes) {
    auto lane = LaneId::parse(name);
    if (!lane) return std::unexpected(lane.error());
    claim.lanes.push_back(std::move(*lane));
  }
  if (auto valid = core::validate(claim, core::partition_count_default); !valid)
    return std::unexpected(valid.error());
  return claim;
}

}  // namespace

struct Task::Shared {
  explicit Shared(const asio::any_io_executor& executor) : ended(executor) {}
  std::atomic<bool> lease_lost = false;
  Wakeup ended;  // tells the renewal to stop
};

bool Task::lease_lost() const { return shared_->lease_lost; }

// A started worker. Everything but the handlers runs on one strand.
class Worker::Running {
 public:
  Running(Engine& engine, Claim claim, std::size_t concurrency,
          std::map<std::string, Handler> handlers)
      : engine_(engine),
        claim_(std::move(claim)),
        handlers_(std::move(handlers)),
        strand_(asio::make_strand(engine.executor())),
        free_slots_(concurrency),
        progress_(strand_),
        pool_(concurrency) {
    coroutines_.spawn(
        strand_, [this] { return poll(); }, stop_claiming_.slot());
  }

  ~Running() {
    coroutines_.spawn(strand_, [this]() -> asio::awaitable<void> {
      stopping_ = true;
      progress_.wake();
      stop_claiming_.emit(asio::cancellation_type::terminal);
      co_return;
    });
    coroutines_.wait();
    pool_.join();
  }

 private:
  asio::awaitable<void> poll() {
    co_await asio::this_coro::throw_if_cancelled(false);
    Millis pause = pause_after_error_min;
    while (!stopping_) {
      if (free_slots_ == 0) {
        co_await progress_.wait_until(Steady::time_point::max());
        continue;
      }
      auto reply = co_await claim();
      if (reply) {
        pause = pause_after_error_min;
        for (auto& claimed : reply->executions) start(std::move(claimed));
        continue;
      }
      if (stopping_) break;
      spdlog::warn("worker {} cannot claim, next try in {} ms: {}", claim_.worker.str(),
                   pause.count(), reply.error().message);
      co_await progress_.wait_until(Steady::now() + pause);
      pause = std::min(pause * 2, pause_after_error_max);
    }
  }

  Async<ClaimReply> claim() {
    Claim claim = claim_;
    claim.max =
        static_cast<std::uint32_t>(std::min<std::size_t>(free_slots_, limits::claim_batch_max));
    return engine_.run(std::move(claim));
  }

  void start(ClaimedExecution claimed) {
    FF_ASSERT(free_slots_ > 0);
    --free_slots_;
    auto shared = std::make_shared<Task::Shared>(strand_);
    coroutines_.spawn(strand_, [this, id = claimed.id, fence = claimed.fence, shared] {
      return keep_lease(id, fence, shared);
    });
    coroutines_.spawn(strand_, [this, claimed = std::move(claimed), shared]() mutable {
      return work(std::move(claimed), shared);
    });
  }

  asio::awaitable<void> work(ClaimedExecution claimed, std::shared_ptr<Task::Shared> shared) {
    const auto id = claimed.id;
    const auto fence = claimed.fence;
    Task task(std::move(claimed), shared);
    auto on_the_pool = [&]() -> asio::awaitable<Result<std::string>> { co_return call(task); };
    auto outcome = co_await asio::co_spawn(pool_, on_the_pool(), asio::use_awaitable);

    co_await report(id, fence, std::move(outcome), *shared);
    shared->ended.wake();
    ++free_slots_;
    progress_.wake();
  }

  Result<std::string> call(Task& task) const {
    const auto handler = handlers_.find(task.kind().str());
    if (handler == handlers_.end())
      return fail(Errc::internal, fmt::format("worker {} has no handler for kind '{}'",
                                              claim_.worker.str(), task.kind().str()));
    try {
      return handler->second(task);
    } catch (const std::exception& failure) {
      return fail(Errc::internal, failure.what());
    } catch (...) {
      return fail(Errc::internal, "the handler threw something that is not a std::exception");
    }
  }

  // Tells the engine how it ended, again and again until it hears it or the lease is gone.
  asio::awaitable<void> report(ExecutionId id, Fence fence, Result<std::string> outcome,
                               const Task::Shared& shared) {
    Wakeup pause(strand_);
    while (!shared.lease_lost) {
      auto error = co_await report_once(id, fence, outcome);
      if (!error) co_return;
      spdlog::warn("worker {} cannot report the end of {}: {}", claim_.worker.str(), id.str(),
                   error->message);
      if (lease_is_gone(*error)) break;
      if (error->retryable())
        co_await pause.wait_until(Steady::now() + pause_after_error_min);
      else if (outcome)
        outcome = std::unexpected(std::move(*error));  // too large, for example: say so instead
      else
        co_return;
    }
    spdlog::warn("worker {} lost its lease on {}; what its handler did is dropped",
                 claim_.worker.str(), id.str());
  }

  asio::awaitable<std::optional<Error>> report_once(const ExecutionId& id, const Fence& fence,
                                                    const Result<std::string>& outcome) {
    if (outcome) {
      Complete complete{.id = id, .fence = fence, .result = *outcome};
      const auto reply = co_await engine_.run(std::move(complete));
      if (reply) co_return std::nullopt;
      co_return reply.error();
    }
    auto reason = to_valid_utf8(outcome.error().message, limits::reason_bytes_max);
    if (reason.empty()) reason = "the handler failed without a message";
    Fail failure{.id = id, .fence = fence, .reason = std::move(reason)};
    const auto reply = co_await engine_.run(std::move(failure));
    if (reply) co_return std::nullopt;
    co_return reply.error();
  }

  // Renews at a third of the lease's life, so that two renewals may fail before it ends. Once no
  // renewal has succeeded for all of its life, it is lost, whether the engine can be asked or not.
  asio::awaitable<void> keep_lease(ExecutionId id, Fence fence,
                                   std::shared_ptr<Task::Shared> shared) {
    const auto interval = std::max(claim_.lease_ttl / 3, Millis{1});
    auto held_until = Steady::now() + claim_.lease_ttl;
    while (!co_await shared->ended.wait_until(Steady::now() + interval)) {
      const auto asked_at = Steady::now();
      Renew renew{.id = id, .fence = fence, .lease_ttl = claim_.lease_ttl};
      const auto renewed = co_await engine_.run(std::move(renew));
      if (renewed) {
        held_until = asked_at + claim_.lease_ttl;
        continue;
      }
      spdlog::warn("worker {} cannot renew its lease on {}: {}", claim_.worker.str(), id.str(),
                   renewed.error().message);
      if (!lease_is_gone(renewed.error()) && Steady::now() < held_until) continue;
      shared->lease_lost = true;
      co_return;
    }
  }

  Engine& engine_;
  const Claim claim_;
  const std::map<std::string, Handler> handlers_;
  const asio::any_io_executor strand_;
  bool stopping_ = false;
  std::size_t free_slots_;
  Wakeup progress_;  // a slot is free, or it is time to stop
  asio::cancellation_signal stop_claiming_;
  asio::thread_pool pool_;
  CoroutineGroup coroutines_;
};

Worker::Worker(Engine& engine, WorkerOptions options)
    : engine_(engine), options_(std::move(options)) {}

Worker::~Worker() { stop(); }

void Worker::handle(std::string kind, Handler handler) {
  FF_ASSERT(!running_);
  handlers_.insert_or_assign(std::move(kind), std::move(handler));
}

Result<void> Worker::start() {
  if (running_) return fail(Errc::invalid_input, "this worker is started already");
  auto claim = claim_template(options_);
  if (!claim) return std::unexpected(claim.error());
  if (options_.concurrency == 0)
    return fail(Errc::invalid_input, "a worker's concurrency must be at least 1");
  running_ = std::make_unique<Running>(engine_, std::move(*claim), options_.concurrency, handlers_);
  return {};
}

void Worker::stop() { running_.reset(); }

}  // namespace ff
