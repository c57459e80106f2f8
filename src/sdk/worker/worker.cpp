#include <flowfabric/worker.hpp>

#include <flowfabric/engine.hpp>
#include <flowfabric/limits.hpp>

#include <algorithm>
#include <atomic>

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "base/assert.hpp"
#include "base/async/coroutine_group.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/validation/validate.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/client/repeat.hpp"
#include "sdk/worker/handlers.hpp"
#include "sdk/worker/reporting/registration.hpp"
#include "sdk/worker/reporting/renewals.hpp"
#include "sdk/worker/reporting/reports.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis claim_wait = std::chrono::seconds{20};
constexpr Millis events_wait = std::chrono::seconds{30};
constexpr Millis pause_min{100};
constexpr Millis pause_max = std::chrono::seconds{5};
constexpr Millis hand_back_limit = std::chrono::seconds{5};
constexpr Millis start_limit = std::chrono::seconds{5};
constexpr Millis claim_limit = std::chrono::seconds{30};

// Most executions are over sooner; only for those that are not, events are followed.
constexpr Millis follow_after{250};

// Random at its end: containers share a host's name and have the same process ids.
std::string default_worker_id() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) std::ranges::copy("worker", host);
  SystemRandom random;
  const auto unique = make_uuid(TimePoint{}, random).str().substr(28);
  return fmt::format("{}-{}-{}", host, ::getpid(), unique);
}

// The kinds that a claim names. None, which is all, if some handler takes any kind.
Result<std::vector<Kind>> kinds_of(const Handlers& handlers) {
  std::vector<Kind> kinds;
  if (handlers.contains("")) return kinds;
  if (handlers.size() > limits::claim_kinds_max)
    return fail(Errc::invalid_input,
                fmt::format("a worker can name at most {} kinds, got {}; give the rest to other "
                            "workers, or handle all kinds",
                            limits::claim_kinds_max, handlers.size()));
  for (const auto& [name, handler] : handlers) {
    auto kind = Kind::parse(name);
    FF_TRY(kind);
    kinds.push_back(std::move(*kind));
  }
  return kinds;
}

Result<Claim> claim_template(const WorkerOptions& options, const Handlers& handlers) {
  auto worker = WorkerId::parse(options.id);
  FF_TRY(worker);
  auto ns = Namespace::parse(options.ns);
  FF_TRY(ns);
  auto capabilities = CapabilitySet::parse(options.capabilities);
  FF_TRY(capabilities);
  auto kinds = kinds_of(handlers);
  FF_TRY(kinds);
  Claim claim{.worker = std::move(*worker),
              .ns = std::move(*ns),
              .lanes = {},
              .capabilities = std::move(*capabilities),
              .kinds = std::move(*kinds),
              .lease_ttl = options.lease_ttl,
              .wait = claim_wait};
  for (const auto& name : options.lanes) {
    auto lane = LaneId::parse(name);
    FF_TRY(lane);
    claim.lanes.push_back(std::move(*lane));
  }
  FF_TRY(core::validate(claim, core::partition_count_default));
  return claim;
}

}  // namespace

// A started worker. Everything but the handlers runs on one strand.
class Worker::Running {
 public:
  struct Setup {
    Claim claim;
    RegisterWorker worker;
    Result<RegisterReply> registered;
    std::size_t concurrency;
    bool polls;
    Handlers handlers;
    std::function<void(const Error&)> on_error;
  };

  Running(Engine& engine, Setup setup)
      : engine_(engine),
        claim_(std::move(setup.claim)),
        concurrency_(setup.concurrency),
        handlers_(std::move(setup.handlers)),
        on_error_(std::move(setup.on_error)),
        strand_(asio::make_strand(engine.executor())),
        slots_(strand_),
        following_(strand_),
        settled_(strand_),
        outage_(fmt::format("worker {} cannot claim", claim_.worker.str())),
        renewals_(engine, random_, claim_.worker, claim_.lease_ttl),
        reports_(engine, random_, claim_.worker, strand_, coroutines_),
        registration_(engine, random_, std::move(setup.worker), strand_,
                      {.on_change = [this] { registration_changed(); },
                       .on_denied = [this](const Error& error) { denied(error); }}),
        pool_(concurrency_) {
    claiming_ = setup.polls;
    coroutines_.spawn(
        strand_, [this, first = std::move(setup.registered)] { return registration_.keep(first); },
        stop_registering_.slot());
    if (setup.polls) spawn([this] { return poll(); });
    // A renewal tells of a cancellation too; if one is never far away, that is soon enough.
    if (renewals_.interval() > follow_after)
      coroutines_.spawn(
          strand_, [this] { return follow(); }, stop_following_.slot());
  }

  ~Running() {
    FF_ASSERT(stopped_);
    coroutines_.wait();
    pool_.join();
  }

  void stop(Millis drain_limit) {
    if (std::exchange(stopped_, true)) return;
    asio::co_spawn(strand_, drain(drain_limit), asio::use_future).get();
  }
  bool stopped() const { return stopped_; }
  const Claim& claim_template() const { return claim_; }

  // Fails if there is no room for one more execution.
  Result<void> check_capacity() {
    auto check = [this]() -> Async<void> { co_return capacity(); };
    return asio::co_spawn(strand_, check(), asio::use_future).get();
  }

  // Claims one execution with `operation` and runs it.
  template <class Op>
  Result<ExecutionId> claim_one(Op operation) {
    return asio::co_spawn(strand_, claim_into_slot(std::move(operation)), asio::use_future).get();
  }

 private:
  using HeldPtr = std::shared_ptr<Held>;

  // ---- Claiming -----------------------------------------------------------------------------------

  asio::awaitable<void> poll() {
    RetryPause pause(random_, pause_min, pause_max);
    std::optional<Claim> unanswered;
    while (!stopping_ && !denied_) {
      const bool pauses = !registration_.may_claim() && !unanswered;
      if (free_slots() == 0 || pauses) {
        co_await slots_.wait_until(Steady::time_point::max());
        continue;
      }
      if (Steady::now() < claim_from_) {
        co_await slots_.wait_until(claim_from_);
        continue;
      }
      const bool repeated = unanswered.has_value();
      if (!repeated) unanswered = next_claim();
      Claim claim = *unanswered;
      if (!registration_.may_claim()) claim.wait = Millis{0};
      broken_off_ = false;
      auto reply = co_await asio::co_spawn(
          strand_, claim_until_broken_off(std::move(claim)),
          asio::bind_cancellation_slot(break_off_.slot(), asio::use_awaitable));
      if (reply) {
        outage_.over();
        pause.reset();
        unanswered.reset();
        for (auto& claimed : reply->executions) take(std::move(claimed), repeated);
      } else if (is_denied(reply.error())) {
        denied(reply.error());
      } else if (names_kinds_ && knows_no_field(reply.error(), "kinds")) {
        log::warn(
            "worker {} hands back executions of other kinds: the server cannot choose by "
            "kind; upgrade it",
            claim_.worker.str());
        names_kinds_ = false;
        unanswered.reset();
      } else if (!broken_off_) {
        outage_.failed(reply.error());
        co_await sleep(slots_, pause.next(), stopping_);
      }
    }
    if (unanswered && !denied_) co_await ask_for_the_answer(std::move(*unanswered));
    claiming_ = false;
    settled_.wake();
  }

  asio::awaitable<Result<ClaimReply>> claim_until_broken_off(Claim claim) {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_return co_await engine_.run(std::move(claim));
  }

  // A claim that waits would still bring work.
  void break_off_claim() {
    broken_off_ = true;
    break_off_.emit(asio::cancellation_type::terminal);
    slots_.wake();
  }

  void denied(const Error& error) {
    if (std::exchange(denied_, true)) return;
    log::error("worker {} claims nothing more, the engine refuses it: {}", claim_.worker.str(),
               error.message);
    break_off_claim();
    if (on_error_) on_error_(error);
  }

  void registration_changed() {
    if (!registration_.may_claim()) break_off_claim();
    slots_.wake();
    settled_.wake();
  }

  // Handlers that have returned make room, but what they returned must not pile up.
  std::size_t free_slots() const {
    const auto room = 2 * concurrency_ - std::min(held_.size(), 2 * concurrency_);
    return std::min({concurrency_ - std::min(running_, concurrency_), room,
                     std::size_t{limits::claim_batch_max}});
  }

  // Repeated under its request id, a claim whose answer was lost gives the same executions.
  Claim next_claim() {
    Claim claim = claim_;
    if (!names_kinds_) claim.kinds.clear();
    claim.max = static_cast<std::uint32_t>(free_slots());
    claim.request_id = RequestId{make_uuid(clock_.now(), random_)};
    return claim;
  }

  Result<void> capacity() const {
    if (stopping_ || denied_) return fail(Errc::invalid_input, "this worker is stopping");
    if (free_slots() > 0) return {};
    return fail(Errc::worker_at_capacity,
                fmt::format("all {} handlers of worker {} are busy; the execution was left as it "
                            "was, so claim it later or let another worker have it",
                            concurrency_, claim_.worker.str()));
  }

  template <class Op>
  Async<ExecutionId> claim_into_slot(Op operation) {
    FF_CO_TRY(capacity());
    ++running_;
    operation.lease_id = LeaseId{make_uuid(clock_.now(), random_)};
    const Repeat repeat{.limit = claim_limit};
    auto claimed = co_await run_repeatedly(engine_, std::move(operation), repeat);
    --running_;
    slots_.wake();
    FF_CO_TRY(claimed);
    const auto id = claimed->id;
    take(std::move(*claimed), false);
    co_return id;
  }

  // Stopping broke off a claim; something may have been claimed at that very moment.
  asio::awaitable<void> ask_for_the_answer(Claim claim) {
    claim.wait = Millis{0};
    auto reply = co_await engine_.run(std::move(claim));
    if (!reply) co_return;
    for (auto& claimed : reply->executions) take(std::move(claimed), true);
  }

  void take(ClaimedExecution claimed, bool repeated) {
    auto context = std::make_shared<Task::Context>(engine_, claimed.lease_expires_at);
    auto held = std::make_shared<Held>(claimed, claim_.lease_ttl, std::move(context), strand_);
    if (held_.empty()) following_.wake();
    held_.push_back(held);
    // How old a lease is that was asked for twice is not known.
    const auto first_renewal = repeated ? Millis{0} : renewals_.interval();
    spawn([this, held, first_renewal] { return renewals_.keep(held, first_renewal); });
    if (stopping_) return hand_back(held);
    ++running_;
    spawn([this, held, claimed = std::move(claimed)]() mutable {
      return work(held, std::move(claimed));
    });
  }

  // ---- Working ------------------------------------------------------------------------------------

  asio::awaitable<void> work(HeldPtr held, ClaimedExecution claimed) {
    while (true) {
      auto outcome = co_await run_handler(*held, Task(claimed, held->context));
      if (held->handed_back || held->done) co_return;
      if (held->context->cancelled() == CancelReason::budget_exceeded) held->lost = true;
      const bool hands_back = std::holds_alternative<Outcome::HandedBack>(outcome.how());
      if (!hands_back)
        hand_back_pause_.reset();
      else if (!held->lost && !stopping_)
        leave_to_others();
      auto wake = co_await reports_.report(held, std::move(outcome));
      if (!wake || held->done) break;
      if (stopping_) co_return hand_back(held);
      if (claimed.wake && claimed.wake->suspension_id == wake->suspension_id) {
        co_await reports_.report(held, no_progress());
        break;
      }
      claimed.resumed = true;
      claimed.wake = std::move(wake);
      held->returned = false;
      ++running_;
    }
    finish(held);
  }

  asio::awaitable<Outcome> run_handler(Held& held, Task task) {
    auto on_the_pool = [&]() -> asio::awaitable<Outcome> {
      co_return call_handler(handlers_, claim_.worker.str(), task);
    };
    auto outcome = co_await asio::co_spawn(pool_, on_the_pool(), asio::use_awaitable);
    --running_;
    slots_.wake();
    held.returned = true;
    co_return outcome;
  }

  // Work that a handler hands back is for another worker: this one claims nothing for a while.
  void leave_to_others() {
    claim_from_ = Steady::now() + hand_back_pause_.next();
    break_off_claim();
  }

  void hand_back(HeldPtr held) {
    held->handed_back = true;
    spawn([this, held]() -> asio::awaitable<void> {
      co_await reports_.report(held, Outcome::handed_back("the worker stops"));
      finish(held);
    });
  }

  void finish(const HeldPtr& held) {
    held->done = true;
    held->renewal.wake();
    std::erase(held_, held);
    slots_.wake();
    settled_.wake();
  }

  // ---- Hearing of cancellations -------------------------------------------------------------------

  // An event makes the worker renew, and the answer to that says what happened to the lease: an event
  // may be about an earlier one.
  asio::awaitable<void> follow() {
    co_await asio::this_coro::throw_if_cancelled(false);
    RetryPause pause(random_, pause_min, pause_max);
    ReadEvents read{.ns = claim_.ns,
                    .types = {EventType::cancelled, EventType::lease_revoked},
                    .limit = limits::events_page_max};
    while (!closed_) {
      if (!runs_for_long()) {
        read.after.reset();
        auto look_again = Steady::time_point::max();
        if (!held_.empty()) look_again = Steady::now() + follow_after;
        co_await following_.wait_until(look_again);
        continue;
      }
      read.wait = read.after ? events_wait : Millis{0};
      ReadEvents next = read;
      auto page = co_await engine_.run(std::move(next));
      if (page) {
        pause.reset();
        const bool knows_before = read.after && !page->missed;
        for (const auto& held : held_) {
          const auto told = std::ranges::find(page->events, held->id, &Event::id);
          if (!knows_before || told != page->events.end()) held->renewal.wake();
        }
        read.after = std::move(page->next);
      } else if (page.error().retryable()) {
        co_await sleep(following_, pause.next(), closed_);
      } else {
        log::debug("worker {} hears of cancellations only when it renews: {}", claim_.worker.str(),
                   page.error().message);
        co_return;
      }
    }
  }

  bool runs_for_long() const {
    const auto before = Steady::now() - follow_after;
    return std::ranges::any_of(
        held_, [&](const HeldPtr& held) { return !held->lost && held->claimed_at <= before; });
  }

  // ---- Stopping -----------------------------------------------------------------------------------

  asio::awaitable<void> drain(Millis limit) {
    stopping_ = true;
    break_off_claim();
    for (const auto& held : held_) held->context->cancel(CancelReason::worker_stopping);
    auto until = Steady::time_point::max();
    if (limit < limits::duration_max) until = Steady::now() + limit;
    co_await settle(until);

    for (const auto& held : std::vector(held_)) {
      if (held->lost)
        finish(held);
      else if (!held->returned && !held->handed_back)
        hand_back(held);
    }
    const auto last = Steady::now() + hand_back_limit;
    co_await settle(last);

    closed_ = true;
    for (const auto& held : std::vector(held_)) {
      log::warn("worker {} stops and cannot tell; {} is for others when its lease runs out",
                claim_.worker.str(), held->id.str());
      finish(held);
    }
    stop_following_.emit(asio::cancellation_type::terminal);
    following_.wake();

    registration_.end();
    bool in_time = true;
    while (in_time && !registration_.ended()) in_time = co_await settled_.wait_until(last);
    stop_registering_.emit(asio::cancellation_type::terminal);
  }

  // Waits until nothing is in hand and nothing can come.
  asio::awaitable<void> settle(Steady::time_point until) {
    while (claiming_ || !held_.empty()) {
      const bool woken = co_await settled_.wait_until(until);
      if (!woken) break;
    }
  }

  static asio::awaitable<void> sleep(Wakeup& wakeup, Millis time, const bool& over) {
    const auto until = Steady::now() + time;
    while (!over && Steady::now() < until) co_await wakeup.wait_until(until);
  }

  void spawn(CoroutineGroup::Start start) { coroutines_.spawn(strand_, std::move(start)); }

  Engine& engine_;
  const Claim claim_;
  const std::size_t concurrency_;
  const Handlers handlers_;
  const std::function<void(const Error&)> on_error_;
  const asio::any_io_executor strand_;
  SystemClock clock_;
  SystemRandom random_;
  bool stopped_ = false;  // belongs to the owner's thread, not to the strand

  bool names_kinds_ = true;  // in its claims
  bool claiming_ = false;    // poll() runs
  bool broken_off_ = false;  // the claim that is under way
  bool stopping_ = false;    // claims no more
  bool denied_ = false;      // by the engine, for good: claims no more
  bool closed_ = false;      // and has nothing in hand
  Steady::time_point claim_from_;
  RetryPause hand_back_pause_{random_, pause_min, pause_max};
  std::size_t running_ = 0;
  std::vector<HeldPtr> held_;
  Wakeup slots_;      // wakes poll(): a slot is free, draining is over, or it is time to stop
  Wakeup following_;  // wakes follow(): there is something in hand, or it is time to stop
  Wakeup settled_;    // wakes drain(): something is done
  asio::cancellation_signal break_off_;  // of the claim that is under way
  asio::cancellation_signal stop_following_;
  asio::cancellation_signal stop_registering_;
  Outage outage_;
  Renewals renewals_;
  CoroutineGroup coroutines_;
  Reports reports_;
  Registration registration_;
  asio::thread_pool pool_;
};

Worker::Worker(Engine& engine, WorkerOptions options)
    : engine_(engine), options_(std::move(options)) {
  if (options_.id.empty()) options_.id = default_worker_id();
}

Worker::~Worker() { stop(); }

void Worker::handle(std::string kind, Handler handler) {
  FF_ASSERT(!running_ || running_->stopped());
  if (kind.empty()) has_unnamed_handler_ = true;
  handlers_.insert_or_assign(std::move(kind), std::move(handler));
}

void Worker::handle_others(Handler handler) {
  FF_ASSERT(!running_ || running_->stopped());
  handlers_.insert_or_assign("", std::move(handler));
}

Result<void> Worker::start() {
  if (running_ && !running_->stopped())
    return fail(Errc::invalid_input, "this worker is started already");
  if (has_unnamed_handler_)
    return fail(Errc::invalid_input,
                "the kind of a handler must not be empty; handle_others() is for all kinds");
  auto claim = claim_template(options_, handlers_);
  FF_TRY(claim);
  if (options_.concurrency == 0)
    return fail(Errc::invalid_input, "a worker's concurrency must be at least 1");
  if (options_.drain_limit < Millis{0})
    return fail(Errc::invalid_input, "a worker's drain limit must not be negative");
  SystemClock clock;
  SystemRandom random;
  RegisterWorker worker{.worker = claim->worker,
                        .ns = claim->ns,
                        .lanes = claim->lanes,
                        .capabilities = claim->capabilities,
                        .ttl = options_.alive_ttl,
                        .incarnation = IncarnationId{make_uuid(clock.now(), random)}};
  if (worker.ttl < limits::worker_ttl_min || worker.ttl > limits::worker_ttl_max)
    return fail(Errc::invalid_input,
                fmt::format("a worker's alive_ttl must be from {} to {} ms",
                            limits::worker_ttl_min.count(), limits::worker_ttl_max.count()));
  running_.reset();
  auto registered = run_within({.timeout = start_limit}, engine_, worker);
  if (!registered && is_denied(registered.error())) return std::unexpected(registered.error());
  running_ = std::make_unique<Running>(engine_,
                                       Running::Setup{.claim = std::move(*claim),
                                                      .worker = std::move(worker),
                                                      .registered = std::move(registered),
                                                      .concurrency = options_.concurrency,
                                                      .polls = options_.polls && !handlers_.empty(),
                                                      .handlers = handlers_,
                                                      .on_error = options_.on_error});
  return {};
}

Result<Worker::Running*> Worker::running_for_claim() {
  if (running_ && !running_->stopped()) return running_.get();
  return fail(Errc::invalid_input, "this worker is not started");
}

Result<ExecutionId> Worker::claim_from_grant(const GrantedExecution& grant) {
  const auto running = running_for_claim();
  FF_TRY(running);
  const auto& claim = (*running)->claim_template();
  return (*running)->claim_one(
      ClaimGranted{.id = grant.id, .worker = claim.worker, .lease_ttl = claim.lease_ttl});
}

Result<std::optional<ExecutionId>> Worker::claim_via_server(Millis grant_ttl) {
  const auto running = running_for_claim();
  FF_TRY(running);
  const auto& claim = (*running)->claim_template();
  // A grant that this worker has no room for would keep others from the execution.
  FF_TRY((*running)->check_capacity());
  Grant grant{.worker = claim.worker,
              .ns = claim.ns,
              .lanes = claim.lanes,
              .capabilities = claim.capabilities,
              .kinds = claim.kinds,
              .grant_ttl = grant_ttl};
  auto granted = run_within({.timeout = claim_limit}, engine_, grant);
  if (!granted && knows_no_field(granted.error(), "kinds")) {
    grant.kinds.clear();
    granted = run_within({.timeout = claim_limit}, engine_, std::move(grant));
  }
  FF_TRY(granted);
  if (!granted->execution) return std::nullopt;
  return claim_from_grant(*granted->execution);
}

Result<ExecutionId> Worker::claim_execution(const ExecutionId& id) {
  const auto running = running_for_claim();
  FF_TRY(running);
  const auto& claim = (*running)->claim_template();
  return (*running)->claim_one(ClaimExecution{.id = id,
                                              .worker = claim.worker,
                                              .capabilities = claim.capabilities,
                                              .lease_ttl = claim.lease_ttl});
}

void Worker::stop() {
  if (running_) running_->stop(options_.drain_limit);
}

}  // namespace ff
