#include "engine/bulks/bulk_runner.hpp"

#include <map>

#include <boost/asio/this_coro.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "engine/bulks/bulk_matches.hpp"

namespace ff {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Errors = std::vector<std::optional<Error>>;

// Says that the action did not apply after all.
Error not_applicable(const ExecutionInfo& execution) {
  return core::refusals::not_terminal(execution.id, execution.state).error();
}

bool is_outage(const Error& error) {
  return error.code == Errc::store_unavailable || error.code == Errc::unreachable ||
         error.code == Errc::timed_out;
}

template <class Reply>
std::optional<Error> error_in(const Result<Reply>& reply) {
  return reply ? std::nullopt : std::optional(reply.error());
}

}  // namespace

Async<Scan> BulkRunner::run_once() {
  Scan scan;
  core::FindBulks query{.max = jobs_max};
  const auto jobs = co_await parts_.store.run(std::move(query));
  if (!jobs && is_outage(jobs.error())) co_return scan;  // the node that has the jobs is down
  FF_CO_TRY(jobs);
  FF_CO_TRY(co_await forget_old());
  for (const auto& job : *jobs) {
    if (!looks_after(job)) continue;
    ++scan.seen;
    const auto now = parts_.store.now();
    if (!core::may_run(job, parts_.name, now)) {
      const auto wait = job.lease->until - now;
      scan.next_in = std::min(scan.next_in.value_or(wait), wait);
      continue;
    }
    const auto did = co_await run_slice(job);
    if (!did && is_outage(did.error())) continue;
    FF_CO_TRY(did);
    scan.changed += *did ? 1 : 0;
  }
  scan.more = scan.changed > 0;
  co_return scan;
}

bool BulkRunner::looks_after(const core::Bulk& bulk) const {
  return !parts_.filter.tag && (!parts_.filter.ns || *parts_.filter.ns == bulk.ns);
}

Async<void> BulkRunner::forget_old() {
  const auto now = parts_.store.now();
  if (now < forget_at_) co_return Result<void>{};
  core::ForgetBulks forget{.ended_before = now - limits::bulk_retention};
  const auto forgotten = co_await parts_.store.run(std::move(forget));
  FF_CO_TRY(forgotten);
  if (*forgotten < core::ForgetBulks{}.max) forget_at_ = now + forget_every;
  co_return Result<void>{};
}

Async<bool> BulkRunner::save(core::Bulk bulk) {
  core::SaveBulk command{std::move(bulk)};
  co_return co_await parts_.store.run(std::move(command));
}

// The lease is taken with a change of its own only if it was not this process's: the save of a slice extends it.
Async<bool> BulkRunner::run_slice(core::Bulk bulk) {
  const bool is_held =
      bulk.lease && bulk.lease->runner == parts_.name && bulk.lease->until > parts_.store.now();
  bulk.lease =
      core::BulkLease{.runner = parts_.name, .until = parts_.store.now() + core::bulk_lease_ttl};
  if (!is_held) {
    const auto taken = co_await save(bulk);
    if (!taken || !*taken) co_return taken;
    ++bulk.version;
  }
  auto list = matches_of(bulk.ns, bulk.where, slice_max);
  list.cursor = bulk.cursor;
  const auto page = co_await read_matches(parts_.store, parts_.workers, std::move(list));
  if (!page && page.error().code == Errc::invalid_input) {
    log::error("bulk={} its filter cannot be read: {}", bulk.id.str(), page.error().message);
    bulk.error = page.error().message;
    core::end(bulk, BulkState::failed, parts_.store.now());
    co_return co_await save(std::move(bulk));
  }
  FF_CO_TRY(page);
  FF_CO_TRY(co_await act(bulk, page->executions));
  bulk.cursor = page->next;
  if (page->next)
    bulk.lease->until = parts_.store.now() + core::bulk_lease_ttl;
  else
    core::end(bulk, BulkState::completed, parts_.store.now());
  co_return co_await save_progress(std::move(bulk));
}

// What was done before a stop counts.
Async<bool> BulkRunner::save_progress(core::Bulk bulk) {
  const auto saved = co_await save(bulk);
  if (!saved || *saved) co_return saved;
  core::ReadBulk read{bulk.id};
  auto stopped = co_await parts_.store.run(std::move(read));
  FF_CO_TRY(stopped);
  const bool only_stopped =
      stopped->state == BulkState::stopped && stopped->version == bulk.version + 1;
  if (!only_stopped) co_return false;
  stopped->counts = bulk.counts;
  stopped->failures = std::move(bulk.failures);
  co_return co_await save(std::move(*stopped));
}

Async<void> BulkRunner::act(core::Bulk& bulk, const std::vector<ExecutionInfo>& executions) {
  std::vector<const ExecutionInfo*> some;
  for (const auto& execution : executions) {
    ++bulk.counts.matched;
    if (core::applies(bulk, execution))
      some.push_back(&execution);
    else
      ++bulk.counts.skipped;
  }
  for (std::size_t i = 0; i < some.size(); i += at_once_max) {
    const auto began = SteadyClock::now();
    const auto these = std::span(some).subspan(i, std::min(at_once_max, some.size() - i));
    FF_CO_TRY(co_await act_on_some(bulk, these));
    co_await pause(SteadyClock::now() - began);
  }
  co_return Result<void>{};
}

// If the store cannot be reached, the slice is not saved, and is repeated later.
Async<void> BulkRunner::act_on_some(core::Bulk& bulk, std::span<const ExecutionInfo* const> some) {
  const auto errors = co_await carry_out(bulk, some);
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (errors[i] && is_outage(*errors[i])) co_return std::unexpected(*errors[i]);
    if (!errors[i])
      ++bulk.counts.done;
    else if (core::means_skipped(*errors[i]))
      ++bulk.counts.skipped;
    else
      core::note_failure(bulk, some[i]->id, *errors[i]);
  }
  co_return Result<void>{};
}

// On a busy store a step takes long, and so does the pause after it.
asio::awaitable<void> BulkRunner::pause(SteadyClock::duration busy) {
  constexpr SteadyClock::duration pause_max = std::chrono::milliseconds{100};
  Wakeup nobody(co_await asio::this_coro::executor);
  co_await nobody.wait_until(SteadyClock::now() + std::min(busy / 2, pause_max));
}

asio::awaitable<Errors> BulkRunner::carry_out(const core::Bulk& bulk,
                                              std::span<const ExecutionInfo* const> some) {
  const auto& work = bulk.work;
  switch (work.action) {
    case BulkAction::cancel:
      return run_each<Cancel>(some, [&](const ExecutionInfo& each) {
        return Cancel{.id = each.id, .reason = work.reason};
      });
    case BulkAction::replay:
      return run_each<Replay>(some, [&](const ExecutionInfo& each) {
        return Replay{.id = each.id, .reason = work.reason, .requested_by = bulk.requested_by};
      });
    case BulkAction::priority:
      return run_each<ChangePriority>(some, [&](const ExecutionInfo& each) {
        return ChangePriority{.id = each.id, .priority = *work.priority};
      });
    case BulkAction::tags:
      return run_each<SetTags>(some, [&](const ExecutionInfo& each) {
        return SetTags{.id = each.id, .set = work.set, .remove = work.remove};
      });
    case BulkAction::remove: return remove_each(some);
    case BulkAction::redrive: break;
  }
  return redrive_each(bulk, some);
}

template <class Command, class Make>
asio::awaitable<Errors> BulkRunner::run_each(std::span<const ExecutionInfo* const> some,
                                             Make make) {
  std::vector<Command> commands;
  for (const auto* each : some) commands.push_back(make(*each));
  const auto replies = co_await parts_.store.run_all(std::move(commands));
  Errors errors;
  for (const auto& reply : replies) errors.push_back(error_in(reply));
  co_return errors;
}

asio::awaitable<Errors> BulkRunner::remove_each(std::span<const ExecutionInfo* const> some) {
  std::vector<core::Remove> commands;
  for (const auto* each : some) commands.push_back({.id = each->id, .is_early = true});
  const auto replies = co_await parts_.store.run_all(std::move(commands));
  Errors errors;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const bool is_kept = replies[i] && !replies[i]->removed;
    errors.push_back(is_kept ? std::optional(not_applicable(*some[i])) : error_in(replies[i]));
  }
  co_return errors;
}

// A flow is redriven once for all of its nodes; the first of them counts as done.
asio::awaitable<Errors> BulkRunner::redrive_each(const core::Bulk& bulk,
                                                 std::span<const ExecutionInfo* const> some) {
  std::set<FlowId> seen;
  Errors errors;
  for (const auto* each : some) {
    if (!seen.insert(*each->flow).second) {
      errors.emplace_back(not_applicable(*each));
      continue;
    }
    const auto redriven = co_await redrive(bulk, *each->flow);
    errors.push_back(error_in(redriven));
  }
  co_return errors;
}

// Of a flow that ended before the job began: one that has run again since was redriven already.
Async<void> BulkRunner::redrive(const core::Bulk& bulk, FlowId id) {
  core::ReadFlow read{id};
  const auto flow = co_await parts_.store.run(std::move(read));
  FF_CO_TRY(flow);
  const auto& counts = flow->counts;
  const bool has_failures = counts.failed + counts.cancelled + counts.expired > 0;
  if (!flow->ended_at || *flow->ended_at > bulk.created_at || !has_failures)
    co_return fail(Errc::flow_not_found, "nothing of the flow is to be redriven");
  RedriveFlow command{.id = id, .reason = bulk.work.reason};
  const auto redriven = co_await parts_.engine.run(std::move(command));
  FF_CO_TRY(redriven);
  co_return Result<void>{};
}

}  // namespace ff
