#include "engine/schedules/schedule_runner.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/async/suspend.hpp"
#include "base/log.hpp"
#include "base/text/rfc3339.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/refusals.hpp"
#include "store/schedule_record.hpp"

namespace ff {
namespace {

// Names in one look; each of them is visited.
constexpr std::size_t due_max = 1'000;
constexpr std::size_t visitors_max = 16;
// Decisions and starts of one schedule in one visit.
constexpr int steps_max = 100;
// Ends that are waited for. Of the others, queued times hear when they are looked at again.
constexpr std::size_t watched_max = 10'000;
constexpr Millis look_pause{10};
constexpr Millis retry_pause = std::chrono::seconds{1};
// Other callers came in between so often; the call may be repeated.
constexpr int swaps_max = 100;

std::unexpected<Error> too_contended(const core::ScheduleKey& key) {
  return fail(Errc::overloaded,
              fmt::format("schedule {} is being changed by others all the time; try again",
                          key.name.str()));
}

bool is_gone(const Error& error) {
  return error.code == Errc::execution_not_found || error.code == Errc::flow_not_found;
}

// So that what a schedule has started can be listed, and its handler knows the time that it is for.
void add_tags(Tags& tags, const core::Schedule& schedule, std::optional<TimePoint> time) {
  tags.emplace("schedule.name", schedule.key.name.str());
  if (time) tags.emplace("schedule.time", to_rfc3339(*time));
}

void leave_out_contents(ScheduleSpec& spec) {
  if (spec.execution) spec.execution->payload.clear();
  if (spec.flow) spec.flow->nodes.clear();
}

// For replies that callers get who may not see payloads.
ScheduleInfo info_without_contents(const core::Schedule& schedule) {
  auto info = core::info_of(schedule);
  leave_out_contents(info.spec);
  return info;
}

}  // namespace

// ---- Records --------------------------------------------------------------------------------------

Async<std::optional<ScheduleRunner::Loaded>> ScheduleRunner::load(Key key) {
  core::ReadSchedule read{std::move(key)};
  const auto stored = co_await parts_.store.run(std::move(read));
  FF_CO_TRY(stored);
  if (!*stored) co_return std::nullopt;
  auto schedule = store::decode_schedule((*stored)->record);
  FF_CO_TRY(schedule);
  co_return Loaded{std::move(*schedule), (*stored)->version};
}

Async<ScheduleRunner::Loaded> ScheduleRunner::must_load(Key key) {
  auto loaded = co_await load(key);
  FF_CO_TRY(loaded);
  if (!*loaded) co_return core::refusals::not_found(key.name, key.ns);
  co_return std::move(**loaded);
}

Async<bool> ScheduleRunner::swap(std::optional<Uuid> expected, core::Schedule next) {
  core::SwapSchedule command{
      .key = next.key,
      .expected = expected,
      .next = core::StoredSchedule{.record = store::encode(next),
                                   .version = make_uuid(parts_.store.now(), parts_.random)},
      .due = core::due_at(next)};
  const auto due = command.due;
  auto swapped = co_await parts_.store.run(std::move(command));
  FF_CO_TRY(swapped);
  if (*swapped) {
    watch(next);
    if (due) parts_.due_in(std::max(*due - parts_.store.now(), Millis{0}));
  }
  co_return *swapped;
}

Async<core::Schedule> ScheduleRunner::change(Key key, Change apply) {
  for (int i = 0; i < swaps_max; ++i) {
    auto loaded = co_await must_load(key);
    FF_CO_TRY(loaded);
    FF_CO_TRY(apply(loaded->schedule));
    const auto swapped = co_await swap(loaded->version, loaded->schedule);
    FF_CO_TRY(swapped);
    if (*swapped) co_return std::move(loaded->schedule);
  }
  co_return too_contended(key);
}

// ---- Operations -----------------------------------------------------------------------------------

Async<PutScheduleReply> ScheduleRunner::put(PutSchedule operation) {
  FF_CO_TRY(store::fits_record(operation.spec));
  if (operation.spec.execution) operation.spec.execution->ns = operation.ns;
  if (operation.spec.flow) operation.spec.flow->ns = operation.ns;
  const Key key{.ns = operation.ns, .name = operation.name};
  const auto bytes = store::encode(operation.spec);
  for (int i = 0; i < swaps_max; ++i) {
    auto loaded = co_await load(key);
    FF_CO_TRY(loaded);
    const auto now = parts_.store.now();
    PutScheduleReply reply{.schedule = {}, .created = !*loaded};
    std::optional<core::Schedule> next;
    if (*loaded && store::encode((*loaded)->schedule.spec) == bytes) {
      reply.schedule = core::info_of((*loaded)->schedule);
      reply.unchanged = true;
      co_return reply;
    }
    if (*loaded) {
      next = std::move((*loaded)->schedule);
      FF_CO_TRY(core::replace_spec(*next, operation.spec, now));
    } else {
      core::CountSchedules counting{operation.ns};
      const auto count = co_await parts_.store.run(std::move(counting));
      FF_CO_TRY(count);
      if (*count >= limits::schedules_max)
        co_return core::refusals::too_many_schedules(operation.ns);
      auto made = core::make_schedule(operation, make_uuid(now, parts_.random), now);
      FF_CO_TRY(made);
      next = std::move(*made);
    }
    const auto expected = *loaded ? std::optional((*loaded)->version) : std::nullopt;
    const auto swapped = co_await swap(expected, *next);
    FF_CO_TRY(swapped);
    if (!*swapped) continue;
    reply.schedule = core::info_of(*next);
    co_return reply;
  }
  co_return too_contended(key);
}

Async<ScheduleInfo> ScheduleRunner::get(GetSchedule operation) {
  Key key{.ns = operation.ns, .name = operation.name};
  const auto loaded = co_await must_load(std::move(key));
  FF_CO_TRY(loaded);
  co_return core::info_of(loaded->schedule);
}

Async<ScheduleList> ScheduleRunner::list(ListSchedules operation) {
  core::FindSchedules find{
      .ns = operation.ns, .after = operation.after, .max = operation.limit + std::size_t{1}};
  auto names = co_await parts_.store.run(std::move(find));
  FF_CO_TRY(names);
  ScheduleList page;
  if (names->size() > operation.limit) {
    names->pop_back();
    page.next = names->back();
  }
  // A record may be large: a few at a time.
  constexpr std::size_t at_once = 16;
  for (std::size_t from = 0; from < names->size(); from += at_once) {
    std::vector<core::ReadSchedule> reads;
    for (std::size_t i = from; i < std::min(from + at_once, names->size()); ++i)
      reads.push_back({Key{.ns = operation.ns, .name = (*names)[i]}});
    const auto found = co_await parts_.store.run_all(std::move(reads));
    for (const auto& stored : found) {
      FF_CO_TRY(stored);
      if (!*stored) continue;
      const auto schedule = store::decode_schedule((*stored)->record);
      FF_CO_TRY(schedule);
      page.schedules.push_back(core::info_of(*schedule));
      leave_out_contents(page.schedules.back().spec);
    }
  }
  co_return page;
}

Async<Done> ScheduleRunner::remove(DeleteSchedule operation) {
  const Key key{.ns = operation.ns, .name = operation.name};
  for (int i = 0; i < swaps_max; ++i) {
    const auto loaded = co_await load(key);
    FF_CO_TRY(loaded);
    // In a later round: the reply to the first one was lost, or another caller has removed it.
    if (!*loaded && i > 0) co_return Done{};
    if (!*loaded) co_return core::refusals::not_found(key.name, key.ns);
    core::SwapSchedule command{.key = key, .expected = (*loaded)->version};
    const auto swapped = co_await parts_.store.run(std::move(command));
    FF_CO_TRY(swapped);
    if (*swapped) co_return Done{};
  }
  co_return too_contended(key);
}

Async<ScheduleInfo> ScheduleRunner::pause(PauseSchedule operation) {
  Key key{.ns = operation.ns, .name = operation.name};
  Change apply = [this, &operation](core::Schedule& schedule) -> Result<void> {
    core::pause(schedule, operation, parts_.store.now());
    return {};
  };
  const auto changed = co_await change(std::move(key), std::move(apply));
  FF_CO_TRY(changed);
  co_return info_without_contents(*changed);
}

Async<ScheduleInfo> ScheduleRunner::resume(ResumeSchedule operation) {
  Key key{.ns = operation.ns, .name = operation.name};
  Change apply = [this](core::Schedule& schedule) {
    return core::resume(schedule, parts_.store.now());
  };
  const auto changed = co_await change(std::move(key), std::move(apply));
  FF_CO_TRY(changed);
  co_return info_without_contents(*changed);
}

Async<RunScheduleReply> ScheduleRunner::run(RunSchedule operation) {
  if (!operation.request_id)
    operation.request_id = RequestId{make_uuid(parts_.store.now(), parts_.random)};
  const Key key{.ns = operation.ns, .name = operation.name};
  const auto loaded = co_await must_load(key);
  FF_CO_TRY(loaded);
  RunScheduleReply reply;
  const auto id = core::start_id(loaded->schedule, *operation.request_id);
  const auto started = co_await start(loaded->schedule, id, std::nullopt, reply.duplicate);
  FF_CO_TRY(started);
  reply.execution = started->execution;
  reply.flow = started->flow;
  Change apply = [this, &started](core::Schedule& schedule) -> Result<void> {
    core::note_run(schedule, *started, parts_.store.now());
    return {};
  };
  const auto noted = co_await change(key, std::move(apply));
  // It is started, also if the schedule was deleted meanwhile.
  if (!noted && noted.error().code != Errc::schedule_not_found)
    co_return std::unexpected(noted.error());
  co_return reply;
}

Async<ScheduleTimes> ScheduleRunner::times(GetScheduleTimes operation) {
  Key key{.ns = operation.ns, .name = operation.name};
  const auto loaded = co_await must_load(std::move(key));
  FF_CO_TRY(loaded);
  const auto& schedule = loaded->schedule;
  const auto calendar = core::calendar_of(schedule.spec, schedule.anchor);
  FF_CO_TRY(calendar);
  const auto now = parts_.store.now();
  co_return ScheduleTimes{
      calendar->times(schedule.last ? std::max(*schedule.last, now) : now, operation.count)};
}

Async<ScheduleTimes> ScheduleRunner::preview(PreviewSchedule operation) {
  const auto now = parts_.store.now();
  const ScheduleSpec spec{.cron = std::move(operation.cron),
                          .zone = std::move(operation.zone),
                          .starts_at = operation.starts_at,
                          .ends_at = operation.ends_at};
  const auto calendar = core::calendar_of(spec, now);
  FF_CO_TRY(calendar);
  co_return ScheduleTimes{calendar->times(operation.after.value_or(now), operation.count)};
}

// ---- Times that have come -------------------------------------------------------------------------

Async<Scan> ScheduleRunner::run_once() {
  const auto found = co_await parts_.store.run(core::SchedulesDue{due_max});
  FF_CO_TRY(found);
  auto keys = take_woken();
  keys.insert(found->due.begin(), found->due.end());
  auto round = std::make_shared<Round>();
  round->keys.assign(keys.begin(), keys.end());
  co_await visit_all(round);
  Scan scan{.seen = keys.size(), .changed = round->changed, .more = round->changed > 0};
  if (found->next) scan.next_in = *found->next - parts_.store.now();
  // One that was not due yet may be so in a moment; the next look tells.
  if (round->unchanged > 0) scan.next_in = std::min(scan.next_in.value_or(look_pause), look_pause);
  if (!round->failure) co_return scan;
  log::warn("schedules that cannot go on={} the first={} {}", round->failed, round->first_failed,
            round->failure->message);
  if (scan.changed == 0 && round->failure->retryable())
    co_return std::unexpected(std::move(*round->failure));
  if (round->failure->retryable())
    scan.next_in = std::min(scan.next_in.value_or(retry_pause), retry_pause);
  co_return scan;
}

// Some at a time: each of them waits for the disk or the server several times.
asio::awaitable<void> ScheduleRunner::visit_all(std::shared_ptr<Round> round) {
  const auto visitors = std::min(round->keys.size(), visitors_max);
  if (visitors == 0) co_return;
  const auto executor = co_await asio::this_coro::executor;
  co_await suspend_until([&](Continuation resume) {
    const std::shared_ptr<void> last(
        nullptr,
        [resume = std::make_shared<Continuation>(std::move(resume))](void*) { (*resume)(); });
    for (std::size_t i = 0; i < visitors; ++i)
      asio::co_spawn(executor, visit_next(round, last), asio::detached);
  });
}

// `last` resumes who waits for the visitors, when the last of them has ended.
asio::awaitable<void> ScheduleRunner::visit_next(std::shared_ptr<Round> round,
                                                 std::shared_ptr<void> last) {
  while (true) {
    const auto at = round->next++;
    if (at >= round->keys.size()) break;
    const auto& key = round->keys[at];
    const auto changed = co_await visit(key);
    const std::lock_guard lock(round->mutex);
    if (changed) ++(*changed ? round->changed : round->unchanged);
    if (changed) continue;
    // Its time stays; the others are looked at all the same.
    if (round->failed++ > 0) continue;
    round->first_failed = key.text();
    round->failure = changed.error();
  }
  static_cast<void>(last);
}

Async<bool> ScheduleRunner::visit(Key key) {
  bool any = false;
  for (int i = 0; i < steps_max; ++i) {
    auto loaded = co_await load(key);
    FF_CO_TRY(loaded);
    if (!*loaded) co_return any;
    const auto did = co_await step(std::move(**loaded));
    FF_CO_TRY(did);
    if (!*did) co_return any;
    any = true;
  }
  co_return any;
}

// One change of the record. Whether it came about does not matter: the next step reads the record again.
Async<bool> ScheduleRunner::step(Loaded loaded) {
  auto& schedule = loaded.schedule;
  if (!schedule.starting.empty()) co_return co_await finish_start(std::move(loaded));
  const auto now = parts_.store.now();
  const auto due = core::due_at(schedule);
  const auto queued = schedule.queued.size();
  const auto running = schedule.running.size();
  if (!core::is_to_decide(schedule, now)) co_return false;
  FF_CO_TRY(co_await forget_ended(schedule));
  const bool may_start = queued > 0 && schedule.running.empty();
  // Nothing has come, and what the queued ones wait for goes on.
  if (due && *due > now && !may_start && schedule.running.size() == running) {
    watch(schedule);
    co_return false;
  }
  FF_CO_TRY(core::decide(schedule, now));
  const auto swapped = co_await swap(loaded.version, std::move(schedule));
  FF_CO_TRY(swapped);
  co_return true;
}

Async<bool> ScheduleRunner::finish_start(Loaded loaded) {
  auto& schedule = loaded.schedule;
  if (schedule.spec.overlap == Overlap::replace) {
    FF_CO_TRY(co_await cancel_running(schedule));
  }
  const auto time = schedule.starting.front();
  bool duplicate = false;
  const auto started = co_await start(schedule, core::start_id(schedule, time), time, duplicate);
  // A refusal that may pass is tried again.
  if (!started && started.error().retryable()) co_return std::unexpected(started.error());
  core::note_start(schedule, started, parts_.store.now());
  const auto swapped = co_await swap(loaded.version, std::move(schedule));
  FF_CO_TRY(swapped);
  co_return true;
}

Async<core::ScheduleStart> ScheduleRunner::start(const core::Schedule& schedule, Uuid id,
                                                 std::optional<TimePoint> time, bool& duplicate) {
  // The same id with another content: the spec was replaced after it was started.
  core::ScheduleStart started;
  if (schedule.spec.execution) {
    started.execution = ExecutionId{core::partition_of(id, parts_.store.partition_count()), id};
    auto submit = *schedule.spec.execution;
    submit.id = started.execution;
    add_tags(submit.tags, schedule, time);
    const auto reply = co_await parts_.submit(std::move(submit));
    duplicate = reply ? reply->duplicate : reply.error().code == Errc::duplicate_mismatch;
    if (!reply && !duplicate) co_return std::unexpected(reply.error());
  } else {
    started.flow = FlowId{id};
    auto submit = *schedule.spec.flow;
    submit.id = started.flow;
    add_tags(submit.tags, schedule, time);
    const auto reply = co_await parts_.submit_flow(std::move(submit));
    duplicate = reply ? reply->duplicate : reply.error().code == Errc::duplicate_mismatch;
    if (!reply && !duplicate) co_return std::unexpected(reply.error());
  }
  co_return started;
}

Async<void> ScheduleRunner::forget_ended(core::Schedule& schedule) {
  std::vector<core::ScheduleStart> left;
  for (const auto& each : schedule.running) {
    const auto ended = co_await has_ended(each);
    FF_CO_TRY(ended);
    if (!*ended) left.push_back(each);
  }
  schedule.running = std::move(left);
  co_return Result<void>{};
}

// What was removed has ended.
Async<bool> ScheduleRunner::has_ended(core::ScheduleStart start) {
  if (start.execution) {
    GetExecution get{*start.execution};
    const auto execution = co_await parts_.store.run(std::move(get));
    if (!execution && is_gone(execution.error())) co_return true;
    FF_CO_TRY(execution);
    co_return is_terminal(execution->state);
  }
  core::ReadFlow read{*start.flow};
  const auto flow = co_await parts_.store.run(std::move(read));
  if (!flow && is_gone(flow.error())) co_return true;
  FF_CO_TRY(flow);
  co_return flow->ended_at.has_value();
}

Async<void> ScheduleRunner::cancel_running(const core::Schedule& schedule) {
  const auto reason =
      fmt::format("replaced by the next time of schedule {}", schedule.key.name.str());
  for (const auto& each : schedule.running) {
    if (each.execution) {
      Cancel cancel{.id = *each.execution, .reason = reason};
      const auto cancelled = co_await parts_.store.run(std::move(cancel));
      // One that has ended refuses, and needs nothing.
      if (!cancelled && cancelled.error().retryable()) co_return std::unexpected(cancelled.error());
    }
    if (each.flow) {
      core::BeginCancel cancel{
          .id = *each.flow, .reason = reason, .policy = CancelPolicy::cancel_all};
      const auto cancelled = co_await parts_.store.run(std::move(cancel));
      if (!cancelled && cancelled.error().retryable()) co_return std::unexpected(cancelled.error());
    }
  }
  co_return Result<void>{};
}

// ---- Ends that queued times wait for --------------------------------------------------------------

void ScheduleRunner::watch(const core::Schedule& schedule) {
  if (schedule.queued.empty() || schedule.paused) return;
  const std::lock_guard lock(mutex_);
  for (const auto& each : schedule.running) {
    if (watched_.size() >= watched_max) watched_.clear();
    watched_.emplace(each.execution ? each.execution->uuid() : each.flow->uuid(), schedule.key);
  }
}

void ScheduleRunner::note_end(const Uuid& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(id);
    if (found == watched_.end()) return;
    woken_.insert(found->second);
    watched_.erase(found);
  }
  parts_.due_in(Millis{0});
}

std::set<core::ScheduleKey> ScheduleRunner::take_woken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(woken_, {});
}

}  // namespace ff
