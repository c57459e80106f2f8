#include "engine/local_engine.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/log.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "core/execution/partitions.hpp"
#include "core/validation/validate.hpp"
#include "engine/events/tagged_events.hpp"
#include "engine/scanners/audit_trimmer.hpp"
#include "engine/scanners/budget_scanners.hpp"
#include "engine/scanners/flow_reconcilers.hpp"
#include "engine/scanners/index_reconciler.hpp"
#include "engine/scanners/opening_scanner.hpp"
#include "engine/scanners/retention_trimmer.hpp"
#include "engine/scanners/timer_scanner.hpp"

namespace ff {
namespace {

using SteadyClock = std::chrono::steady_clock;

asio::awaitable<void> nothing() { co_return; }

// No attempt of it, or not the one that was running, appends any more.
bool ends_attempt(const Event& event) {
  return is_terminal(event.state) || event.type == EventType::retry_scheduled ||
         event.type == EventType::lease_expired || event.type == EventType::lease_revoked ||
         event.type == EventType::reset;
}

}  // namespace

LocalEngine::LocalEngine(std::unique_ptr<store::Store> store, LocalEngineOptions options)
    : options_(std::move(options)),
      runtime_(options_.threads),
      events_(runtime_.executor(), make_uuid(store->now(), *options_.random).str().substr(24),
              options_.events_max),
      workers_(*store),
      waitpoint_keys_(*store),
      gate_(
          *store, metrics_,
          [this] { return QuotaTokenId{make_uuid(store_->now(), *options_.random)}; },
          [this](Millis wait) {
            if (options_.scan && openings_handle_) scanners_.due_in(*openings_handle_, wait);
          }),
      unblock_(*store, workers_, options_.filter),
      cancel_reconciler_(*store, options_.filter),
      edge_cancels_(*store, options_.filter, options_.intervals.edge_cancel_reconciler),
      outbox_(*store, runtime_.executor(), options_.retention_default),
      scheduler_(*store, gate_, *options_.random),
      scanners_(
          runtime_.executor(),
          {.on_run = [this](std::string_view scanner,
                            SteadyClock::duration took) { metrics_.scanned(scanner, took); }}),
      store_(std::move(store)) {
  add_scanners();
  store_->set_sinks({.on_events = [this](auto changes) { on_events(changes); },
                     .on_changes = [this](auto changes) { on_changes(changes); },
                     .on_opening = [this](const store::Opening& opening) { on_opening(opening); },
                     .on_paused_lanes = [this] { on_paused_lanes(); },
                     .on_frames = [this](const ExecutionId& id) { on_frames(id); },
                     .on_gap = [this] { on_gap(); }});
  on_paused_lanes();
  if (options_.scan) {
    log::info("partitions={}", store_->partition_count());
    if (!options_.filter.is_empty())
      log::info("scanner filter: {}; another server must look after the other executions",
                options_.filter.str());
    scanners_.start();
  }
}

LocalEngine::~LocalEngine() {
  constexpr Millis patience{1'000};
  closing_ = true;
  outbox_.stop_lists();
  if (!scanners_.stop_within(patience)) store_->break_off();
  scanners_.stop();
  outbox_.close();
  if (!outbox_.ended_within(patience)) store_->break_off();
  outbox_.wait();
  // A call can be answered before the handler that started it has left the store.
  runtime_.finish_running();
}

void LocalEngine::add_scanners() {
  const auto& every = options_.intervals;
  const auto add_timer = [&](core::TimerKind kind, Millis interval) {
    timer_scanners_[kind] =
        scanners_.add(std::make_unique<TimerScanner>(*store_, kind, options_.filter), interval);
  };
  add_timer(core::TimerKind::lease_expiry, every.lease_expiry);
  add_timer(core::TimerKind::delay, every.delayed_promoter);
  add_timer(core::TimerKind::attempt_timeout, every.attempt_timeout);
  add_timer(core::TimerKind::execution_deadline, every.execution_deadline);
  add_timer(core::TimerKind::grant_expiry, every.grant_expiry);
  add_timer(core::TimerKind::suspension_timeout, every.suspension_timeout);
  add_timer(core::TimerKind::waitpoint_expiry, every.waitpoint_expiry);
  add_timer(core::TimerKind::flow_deadline, every.flow_deadline);
  scanners_.add(std::make_unique<DependencyReconciler>(*store_, options_.filter),
                every.dependency_reconciler);
  scanners_.add(std::make_unique<FlowProjector>(*store_, options_.filter), every.flow_projector);
  scanners_.add(std::make_unique<RunsScanner>(cancel_reconciler_), every.cancel_reconciler);
  scanners_.add(std::make_unique<RunsScanner>(edge_cancels_), every.edge_cancel_dispatcher);
  scanners_.add(std::make_unique<RunsScanner>(outbox_), every.outbox);
  scanners_.add(std::make_unique<RetentionTrimmer>(*store_, options_.filter),
                every.retention_trimmer);
  scanners_.add(std::make_unique<AuditTrimmer>(*store_, options_.audit_retention),
                every.audit_trimmer);
  scanners_.add(std::make_unique<IndexReconciler>(*store_), every.index_reconciler);
  unblock_handle_ = scanners_.add(std::make_unique<RunsScanner>(unblock_), every.unblock);
  openings_handle_ = scanners_.add(
      std::make_unique<OpeningScanner>(
          *store_, gate_, workers_,
          [this](const store::ReadyGroup& group, std::size_t room) { offer(group, room); },
          [this] { return waiting_for_work_.size(); }),
      every.openings);
  scanners_.add(std::make_unique<BudgetReset>(*store_), every.budget_reset);
  scanners_.add(std::make_unique<BudgetReconciler>(*store_), every.budget_reconciler);
  scanners_.add(std::make_unique<QuotaReconciler>(*store_), every.quota_reconciler);
}

void LocalEngine::look_at_blocked() {
  unblock_.note_change();
  if (options_.scan && unblock_handle_) scanners_.due_in(*unblock_handle_, Millis{0});
}

// Claims that wait for such work are woken at once.
void LocalEngine::on_opening(const store::Opening& opening) {
  if (closing_) return;
  unblock_.note_change();
  if (!gate_.opened(opening.of)) return;
  const std::size_t room =
      std::holds_alternative<QuotaId>(opening.of) ? 1 : waiting_for_work_.size();
  if (room == 0) return;
  std::vector<store::AnyCall> calls;
  calls.push_back(store::Call<store::PeekReady>{
      {.members_max = room, .needing = {opening.of}},
      [this, room, what = opening.of](const Result<std::vector<store::ReadyGroup>>& groups) {
        if (!groups) return;
        if (groups->empty()) gate_.not_wanted(what);
        for (const auto& group : *groups) offer(group, room);
      }});
  store_->start(std::move(calls));
}

// Wakes those who wait for such work, at most as many as may start.
void LocalEngine::offer(const store::ReadyGroup& group, std::size_t room) {
  if (store_->paused_lanes()->has(group.ns, group.lane)) return;
  for (std::size_t i = 0; i < std::min(room, group.best.size()); ++i) {
    const bool taken = waiting_for_work_.offer({.ns = group.ns,
                                                .lane = group.lane,
                                                .kind = group.kind,
                                                .id = group.best[i],
                                                .required = group.needs.capabilities});
    if (!taken) return;
  }
}

// ---- Operations ---------------------------------------------------------------------------------

asio::awaitable<void> LocalEngine::perform(EngineCall& call) {
  return call.visit([this](auto& each) { return answer(each); });
}

namespace {

template <class Op>
bool is_only_for_store(const Op&) {
  return false;
}
bool is_only_for_store(const Complete& operation) { return operation.spawn.empty(); }
bool is_only_for_store(const WaitForChildren& operation) { return operation.children.empty(); }
bool is_only_for_store(const AppendFrames& operation) { return operation.usage.empty(); }

}  // namespace

// Whichever way an operation came, it is checked here before anything is done. An operation with nothing
// more to it than the store's part has no coroutine of its own: there are many.
template <class Op>
asio::awaitable<void> LocalEngine::answer(OperationCall<Op>& call) {
  if (auto valid = core::validate(call.operation, store_->partition_count()); !valid) {
    call.refuse(std::move(valid.error()));
    return nothing();
  }
  if constexpr (is_kept_in_audit_log<Op>)
    return answer_audited(call);
  else
    return answer_valid(call);
}

template <class Op>
asio::awaitable<void> LocalEngine::answer_valid(OperationCall<Op>& call) {
  constexpr bool has_handler =
      requires { handle(std::move(call.operation)); } ||
      requires(const Caller& caller) { handle(std::move(call.operation), caller); };
  if constexpr (!has_handler)
    return answer_by_store(call);
  else if constexpr (Op::row.is_stored)
    return is_only_for_store(call.operation) ? answer_by_store(call) : answer_by_handling(call);
  else
    return answer_by_handling(call);
}

template <class Op>
asio::awaitable<void> LocalEngine::answer_by_store(OperationCall<Op>& call) {
  return suspend_until(
      [this, &call](Continuation resume) { pass_to_store(call, std::move(resume)); });
}

template <class Op>
asio::awaitable<void> LocalEngine::answer_by_handling(OperationCall<Op>& call) {
  if constexpr (requires { handle(std::move(call.operation), caller_of(call)); })
    call.reply.emplace(co_await handle(std::move(call.operation), caller_of(call)));
  else
    call.reply.emplace(co_await handle(std::move(call.operation)));
}

template <class Op>
Async<std::optional<AuditEntry>> LocalEngine::audit_entry(const Op& operation,
                                                          const Caller& caller) {
  co_return audit_entry_of(operation, caller);
}

namespace {

template <class Reply>
AuditEntry with_outcome(AuditEntry entry, const Result<Reply>& reply) {
  entry.outcome = reply ? "ok" : std::string(info(reply.error().code).name);
  if constexpr (requires { reply->id.str(); })
    if (reply && entry.subject.empty()) entry.subject = reply->id.str();
  return entry;
}

}  // namespace

// The entry is kept when the outcome is known and before the caller hears of it. If the process dies in between, the
// operation may have been done without an entry; its caller has no reply.
template <class Op>
asio::awaitable<void> LocalEngine::answer_audited(OperationCall<Op>& call) {
  // The caller may go away: an operation that has begun is ended and kept all the same.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto entry = co_await audit_entry(call.operation, caller_of(call));
  co_await answer_valid(call);
  if (*entry) {
    auto ended = with_outcome(std::move(**entry), *call.reply);
    co_await keep_in_audit_log(std::move(ended));
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
}

// Claims after a reset find the budget open, though the store may tell of its opening later.
template <class Op>
void LocalEngine::pass_to_store(OperationCall<Op>& call, Continuation resume) {
  std::vector<store::AnyCall> calls;
  std::optional<BudgetId> opens;
  if constexpr (store::OneOf<Op, ResetBudget, ReleaseUsage>) opens = call.operation.id;
  calls.push_back(store::Call<Op>{
      std::move(call.operation),
      [this, &call, opens, resume = std::move(resume)](Result<typename Op::Reply> reply) mutable {
        if (opens && reply) gate_.opened(*opens);
        call.reply.emplace(std::move(reply));
        resume();
      }});
  store_->start(std::move(calls));
}

// ---- Submitting ---------------------------------------------------------------------------------

core::Create LocalEngine::to_create(Submit operation) {
  ExecutionId id;
  const bool minted = !operation.id;
  if (operation.id) {
    id = *operation.id;
    if (id.partition() == core::partition_by_uuid)
      id = {core::partition_of(id.uuid(), store_->partition_count()), id.uuid()};
  } else {
    const Uuid uuid = make_uuid(store_->now(), *options_.random);
    const auto partitions = store_->partition_count();
    id = {operation.idempotency_key
              ? core::partition_of(operation.ns, *operation.idempotency_key, partitions)
              : core::partition_of(uuid, partitions),
          uuid};
  }
  return {.id = id,
          .submit = std::move(operation),
          .minted = minted,
          .retention_default = options_.retention_default};
}

Async<SubmitReply> LocalEngine::handle(Submit operation) {
  FF_CO_TRY(co_await gate_.attachable(operation.ns, operation.policy));
  if (operation.flow) co_return co_await submit_node(std::move(operation));
  co_return co_await store_->run(to_create(std::move(operation)));
}

// Runs those that are valid together; the others are refused one by one.
template <class Command, class Op, class ToCommand>
asio::awaitable<std::vector<Result<typename Command::Reply>>> LocalEngine::run_each(
    std::vector<Op> operations, ToCommand to_command) {
  std::vector<Result<typename Command::Reply>> results(operations.size(), std::unexpected(Error{}));
  std::vector<Command> commands;
  std::vector<std::size_t> positions;
  std::optional<Error> unreachable;  // budgets and quotas: the next ones do not wait again
  for (std::size_t i = 0; i < operations.size(); ++i) {
    auto valid = core::validate(operations[i], store_->partition_count());
    if constexpr (std::same_as<Op, Submit>) {
      const auto& policy = operations[i].policy;
      const bool attaches = !policy.budgets.empty() || policy.quota;
      if (valid && attaches && unreachable) valid = std::unexpected(*unreachable);
      if (valid) valid = co_await gate_.attachable(operations[i].ns, policy);
      if (!valid && valid.error().code == Errc::store_unavailable) unreachable = valid.error();
    }
    if (!valid) {
      results[i] = std::unexpected(valid.error());
      continue;
    }
    commands.push_back(to_command(std::move(operations[i])));
    positions.push_back(i);
  }
  auto replies = co_await store_->run_all(std::move(commands));
  for (std::size_t i = 0; i < replies.size(); ++i) results[positions[i]] = std::move(replies[i]);
  co_return results;
}

Async<SubmitManyReply> LocalEngine::handle(SubmitMany operation) {
  auto results = co_await run_each<core::Create>(
      std::move(operation.executions), [this](Submit each) { return to_create(std::move(each)); });
  co_return SubmitManyReply{std::move(results)};
}

// ---- Reading ------------------------------------------------------------------------------------

Async<ExecutionInfo> LocalEngine::handle(GetExecution operation) {
  auto execution = co_await store_->run(operation);
  if (!execution) co_return execution;
  WaitReasons reasons(*store_, workers_);
  co_await reasons.show({&*execution, 1});
  co_return execution;
}

Async<StateReply> LocalEngine::handle(GetState operation) {
  const auto execution = co_await handle(GetExecution{operation.id});
  FF_CO_TRY(execution);
  co_return StateReply{execution->state};
}

// A store cannot tell `waiting` from `rate_limited`: where one of them is asked for, its pages are sifted. The list goes
// on in another call, if so many were sifted that a page may be short or empty.
Async<ExecutionList> LocalEngine::handle(ListExecutions operation) {
  constexpr std::size_t looked_at_max = 10'000;  // of one page, whether they match or not
  constexpr std::uint32_t sifted_max = 500;      // at once; fewer, as long as that is enough
  const bool sifts =
      operation.state == ExecutionState::waiting || operation.state == ExecutionState::rate_limited;
  WaitReasons reasons(*store_, workers_);
  ExecutionList list;
  const auto limit = operation.limit;
  for (std::size_t looked_at = 0; looked_at < looked_at_max;) {
    auto page = co_await store_->run(operation);
    FF_CO_TRY(page);
    looked_at += page->executions.size();
    const bool store_stopped = page->executions.size() < operation.limit;
    co_await reasons.show(page->executions);
    list.next = page->next;
    for (auto& execution : page->executions) {
      if (operation.state && execution.state != *operation.state) continue;
      const bool is_last = &execution == &page->executions.back();
      list.executions.push_back(std::move(execution));
      if (list.executions.size() < limit) continue;
      const auto& shown = list.executions.back();
      if (!is_last) list.next = store_->list_cursor(shown.created_at, shown.id);
      break;
    }
    if (!list.next || store_stopped || list.executions.size() == limit) break;
    operation.cursor = list.next;
    if (sifts) operation.limit = std::max(limit, std::min(operation.limit * 4, sifted_max));
  }
  co_return list;
}

Async<StateCounts> LocalEngine::handle(CountExecutions operation) {
  store::CountWaiting query{.ns = operation.ns};
  const auto ns = operation.ns;
  const auto lane = operation.lane;
  auto counts = co_await store_->run(std::move(operation));
  if (!counts) co_return counts;
  auto waiting = co_await store_->run(std::move(query));
  FF_CO_TRY(waiting);
  if (lane)
    std::erase_if(*waiting, [&](const store::WaitingCount& each) { return each.lane != *lane; });
  WaitReasons reasons(*store_, workers_);
  co_await reasons.show(*counts, *waiting);
  const auto paused = store_->paused_lanes();
  for (const auto& each : counts->counts) {
    auto& named = counts->paused_lanes;
    const bool is_new = named.empty() || named.back() != each.lane;
    if (is_new && paused->has(ns, each.lane)) named.push_back(each.lane);
  }
  co_return counts;
}

Async<Bytes> LocalEngine::handle(GetResult operation) {
  co_return co_await without_cancellation_exceptions(read_result_or_wait(std::move(operation)));
}

Async<Bytes> LocalEngine::read_result_or_wait(GetResult operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  Wakeup wakeup(co_await asio::this_coro::executor);
  const WaitList<ExecutionId>::Waiter place(waiting_for_end_, operation.id, wakeup);
  while (true) {
    auto result = co_await store_->run(store::ReadResult{operation.id});
    const bool not_ended = !result && result.error().code == Errc::execution_not_terminal;
    if (!not_ended || SteadyClock::now() >= deadline || co_await is_cancelled()) co_return result;
    co_await wakeup.wait_until(deadline);
  }
}

Async<EventPage> LocalEngine::handle(ReadEvents operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  co_await store_->catch_up_with_events();
  co_return co_await without_cancellation_exceptions(read_events(std::move(operation), deadline));
}

Async<EventPage> LocalEngine::read_events(ReadEvents query, SteadyClock::time_point deadline) {
  while (true) {
    auto page = co_await events_.read(query, deadline);
    if (!page || !query.tag) co_return page;
    co_await keep_tagged(*store_, *query.tag, page->events);
    if (!page->events.empty() || page->missed || SteadyClock::now() >= deadline ||
        co_await is_cancelled())
      co_return page;
    query.after = page->next;
  }
}

// ---- Working ------------------------------------------------------------------------------------

Async<CompleteManyReply> LocalEngine::handle(CompleteMany operation) {
  for (std::size_t i = 0; i < operation.executions.size(); ++i)
    if (!operation.executions[i].spawn.empty())
      co_return fail_field(
          Errc::invalid_input, fmt::format("executions[{}].spawn", i),
          "an execution that spawns nodes is completed by itself, not with others");
  auto results = co_await run_each<Complete>(std::move(operation.executions),
                                             [](Complete each) { return each; });
  co_return CompleteManyReply{std::move(results)};
}

// ---- Operating ----------------------------------------------------------------------------------

Async<HealthReply> LocalEngine::handle(Health) {
  FF_CO_TRY(store_->health());
  co_return HealthReply{.version = version};
}

Async<ReadyReply> LocalEngine::handle(CheckReady) {
  FF_CO_TRY(co_await probe_store());
  ReadyReply ready{.version = version,
                   .scanners = {},
                   .paused_lanes = store_->paused_lanes()->all().size()};
  for (const auto& scanner : scanners_.status()) {
    if (!scanner.alive())
      co_return fail(Errc::not_ready,
                     fmt::format("the scanner {} has failed {} times in a row; see the log",
                                 scanner.name, scanner.failures_in_a_row),
                     {{"what", scanner.name}});
    ready.scanners.push_back(scanner.name);
  }
  co_return ready;
}

Async<void> LocalEngine::probe_store() {
  constexpr std::chrono::seconds old{1};
  {
    const std::lock_guard lock(probed_mutex_);
    if (probed_ && SteadyClock::now() - probed_->at < old) co_return probed_->result;
  }
  Result<void> result = store_->health();
  if (result)
    if (auto written = co_await store_->run(store::Probe{}); !written)
      result = std::unexpected(written.error());
  const std::lock_guard lock(probed_mutex_);
  probed_ = Probed{SteadyClock::now(), result};
  co_return result;
}

Async<Bytes> LocalEngine::handle(GetMetrics) {
  auto counts = co_await store_->run(store::CountAll{});
  FF_CO_TRY(counts);
  const auto stored = co_await store_->run(store::CountBlocked{});
  FF_CO_TRY(stored);
  const auto waiting = co_await store_->run(store::CountWaiting{});
  FF_CO_TRY(waiting);
  WaitReasons reasons(*store_, workers_);
  auto blocked = co_await reasons.show(*counts, *waiting);
  for (const auto& [reason, count] : *stored) blocked[reason] += count;
  const EngineMetrics::Now now{.executions = std::move(counts->counts),
                               .blocked = std::move(blocked),
                               .scanners = scanners_.status(),
                               .claims_open = waiting_for_work_.size(),
                               .claims_waiting = waiting_for_work_.asleep(),
                               .paused_lanes = store_->paused_lanes()->all().size(),
                               .cancel_backlog = cancel_reconciler_.backlog()};
  co_return Bytes{.bytes = metrics_.text(now),
                  .content_type = *ContentType::parse(metrics_content_type)};
}

void LocalEngine::on_events(std::span<const core::ExecutionChange> changes) {
  if (closing_) return;
  events_.append(changes);
  for (const auto& change : changes) {
    metrics_.happened(change.event);
    if (options_.on_event) options_.on_event(change.event);
  }
}

void LocalEngine::on_changes(std::span<const core::ExecutionChange> changes) {
  if (closing_) return;
  const auto now = store_->now();
  const auto paused = store_->paused_lanes();
  for (const auto& [event, claimable, required, effects, timer, preferred] : changes) {
    // Before anyone looks for work: what this frees is free for them.
    for (const auto& effect : effects)
      if (const auto* release = std::get_if<core::ReleaseToken>(&effect))
        gate_.expect_opening(release->quota);
    outbox_.carry_out(event.id.partition(), effects);
    if (claimable && !paused->has(event.ns, event.lane))
      waiting_for_work_.offer({.ns = event.ns,
                               .lane = event.lane,
                               .kind = event.kind,
                               .id = event.id,
                               .required = required,
                               .preferred = preferred});
    if (event.type == EventType::blocked) unblock_.note_change();
    if (event.flow) edge_cancels_.note_change();
    if (is_terminal(event.state)) waiting_for_end_.wake_all(event.id);
    if (ends_attempt(event)) waiting_for_frames_.wake_all(event.id);
    if (timer && options_.scan) scanners_.due_in(timer_scanners_.at(timer->kind), timer->due - now);
  }
}

void LocalEngine::on_frames(const ExecutionId& id) {
  waiting_for_frames_.wake_all(id);
  flow_tails_.notices.note(id);
}

// Offers waiting claims the work that the store finds when it looks again.
void LocalEngine::on_gap() {
  if (closing_) return;
  events_.note_gap();
  waiting_for_end_.wake_all();
  waiting_for_frames_.wake_all();
  flow_tails_.notices.note_gap();
}

}  // namespace ff
