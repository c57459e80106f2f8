#include <algorithm>
#include <future>
#include <thread>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/output/progress.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

constexpr Millis look_every{20};

LaneId bulk_lane() { return *LaneId::parse("bench-bulk"); }

// Executions that nobody claims.
Result<void> submit_cancelled(Engine& engine, std::uint32_t count) {
  Progress progress("submitting", count);
  for (std::uint32_t i = 0; i < count;) {
    SubmitMany batch;
    for (; i < count && batch.executions.size() < limits::batch_items_max; ++i)
      batch.executions.push_back({.lane = bulk_lane(), .kind = *Kind::parse("bench")});
    const auto size = batch.executions.size();
    const auto reply = run_blocking(engine, std::move(batch));
    FF_TRY(reply);
    for (const auto& each : reply->results) FF_TRY(each);
    progress.add(size);
  }
  return {};
}

// Cancels all of the lane; returns the seconds that it took.
Result<double> cancel_all(Engine& engine, std::uint32_t count) {
  StartBulk start;
  start.where = "state:waiting lane:" + bulk_lane().str();
  const auto begin = std::chrono::steady_clock::now();
  const auto started = run_blocking(engine, std::move(start));
  FF_TRY(started);
  while (true) {
    const auto bulk = run_blocking(engine, GetBulk{*started->id});
    FF_TRY(bulk);
    if (bulk->state == BulkState::completed && bulk->counts.done == count) break;
    if (is_terminal(bulk->state))
      return fail(Errc::internal, "the bulk job did not cancel all that was submitted");
    std::this_thread::sleep_for(look_every);
  }
  return seconds_since(begin);
}

}  // namespace

// The claims beside a job are those of a drain that lasts as long: its tasks are worked off again and again.
Result<Figures> bulk(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Figures figures;
  FF_TRY(submit_cancelled(**engine, settings.tasks));
  const auto alone = cancel_all(**engine, settings.tasks);
  FF_TRY(alone);
  figures["cancels_per_s"] = settings.tasks / *alone;

  // Claims without a job, before and after, since the machine may have other work.
  const auto claims_per_s = [&]() -> Result<double> {
    FF_TRY(submit_all(**engine, settings, settings.tasks));
    const auto drained = drain(**engine, settings, settings.tasks);
    FF_TRY(drained);
    return settings.tasks / drained->count();
  };
  const auto before = claims_per_s();
  FF_TRY(before);
  FF_TRY(submit_cancelled(**engine, settings.tasks * 2));
  FF_TRY(submit_all(**engine, settings, settings.tasks));
  auto cancelling =
      std::async(std::launch::async, [&] { return cancel_all(**engine, settings.tasks * 2); });
  const auto drained = drain(**engine, settings, settings.tasks);
  const bool covers = cancelling.wait_for(std::chrono::seconds{0}) != std::future_status::ready;
  const auto beside = cancelling.get();
  FF_TRY(drained);
  FF_TRY(beside);
  const auto after = claims_per_s();
  FF_TRY(after);
  const double usual = (*before + *after) / 2;
  figures["claims_per_s"] = usual;
  figures["claims_per_s_beside"] = settings.tasks / drained->count();
  figures["claims_ratio"] = settings.tasks / drained->count() / usual;
  figures["cancels_per_s_beside"] = settings.tasks * 2 / *beside;
  figures["job_lasts_longer"] = covers;  // otherwise some of the claims had nothing beside them
  return figures;
}

}  // namespace ff::cli::bench
