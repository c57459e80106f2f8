#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <random>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/coroutines.hpp"
#include "cli/output/progress.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

constexpr std::int64_t submit_batch_max = 500;
constexpr std::uint32_t submitters = 4;
constexpr std::uint32_t claim_batch = 32;

LaneId bench_lane() { return *LaneId::parse("bench"); }
Kind bench_kind() { return *Kind::parse("bench"); }

Result<void> first_error(const auto& results) {
  for (const auto& result : results) FF_TRY(result);
  return {};
}

// State shared by a load's coroutines.
struct Shared {
  Shared(Engine& on, std::uint32_t count, std::size_t payload_bytes, const char* what)
      : engine(on), left(count), payloads(payload_bytes), progress(what, count) {}

  Engine& engine;
  std::atomic<std::int64_t> left;
  std::chrono::steady_clock::time_point ended = {};  // when none was left
  Payloads payloads;
  Progress progress;
  std::int64_t submit_batch = submit_batch_max;
  Policy policy = {};
};

Async<void> submitter(std::shared_ptr<Shared> shared) {
  while (true) {
    const auto left = shared->left.fetch_sub(shared->submit_batch);
    if (left <= 0) co_return Result<void>{};
    SubmitMany batch;
    const auto size = std::min(left, shared->submit_batch);
    for (std::int64_t i = 0; i < size; ++i)
      batch.executions.push_back({.lane = bench_lane(),
                                  .kind = bench_kind(),
                                  .payload = shared->payloads.next(),
                                  .policy = shared->policy});
    const auto reply = co_await shared->engine.run(std::move(batch));
    FF_CO_TRY(reply);
    if (auto accepted = first_error(reply->results); !accepted) co_return accepted;
    shared->progress.add(reply->results.size());
  }
}

Async<void> worker(std::shared_ptr<Shared> shared, Engine& engine, std::uint32_t number) {
  Claim claim{.worker = *WorkerId::parse(fmt::format("bench-{}", number)),
              .lanes = {bench_lane()},
              .max = claim_batch,
              .wait = Millis{100}};
  while (shared->left > 0) {
    auto claimed = co_await engine.run(claim);
    FF_CO_TRY(claimed);
    if (claimed->executions.empty()) continue;
    CompleteMany batch;
    for (const auto& execution : claimed->executions)
      batch.executions.push_back({.id = execution.id, .fence = execution.fence, .result = "done"});
    const auto reply = co_await engine.run(std::move(batch));
    FF_CO_TRY(reply);
    if (auto completed = first_error(reply->results); !completed) co_return completed;
    const auto done = static_cast<std::int64_t>(reply->results.size());
    if (shared->left.fetch_sub(done) == done) shared->ended = std::chrono::steady_clock::now();
    shared->progress.add(reply->results.size());
  }
  co_return Result<void>{};
}

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

boost::json::object percentiles(std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  return {{"p50", percentile(milliseconds, 0.50)},
          {"p95", percentile(milliseconds, 0.95)},
          {"p99", percentile(milliseconds, 0.99)}};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Payloads::Payloads(std::size_t bytes) : bytes_(bytes), pool_(bytes + offsets, '\0') {
  std::mt19937_64 random(1);
  for (auto& byte : pool_) byte = static_cast<char>(random());
}

std::string Payloads::next() {
  constexpr std::size_t stride = 4'099;  // a prime, so that neighbours share little
  return pool_.substr(count_++ * stride % offsets, bytes_);
}

Result<void> submit_all(Engine& engine, const Settings& settings, std::uint32_t count) {
  auto shared = std::make_shared<Shared>(engine, count, settings.payload_bytes, "submitting");
  shared->policy = settings.policy;
  // Large payloads reach the limit of a batch's bytes first.
  constexpr std::int64_t batch_bytes_max = limits::batch_bytes_max;
  shared->submit_batch =
      std::clamp(batch_bytes_max / std::max<std::int64_t>(settings.payload_bytes, 1),
                 std::int64_t{1}, submit_batch_max);
  return run_coroutines(engine, submitters, [&](std::uint32_t) { return submitter(shared); });
}

Result<std::vector<ClaimedExecution>> claim_all(Engine& engine, std::uint32_t count) {
  std::vector<ClaimedExecution> all;
  while (all.size() < count) {
    auto claimed = run_blocking(
        engine,
        Claim{.worker = *WorkerId::parse("bench"), .lanes = {bench_lane()}, .max = claim_batch});
    FF_TRY(claimed);
    if (claimed->executions.empty())
      return fail(Errc::internal, "what was submitted cannot be claimed");
    std::ranges::move(claimed->executions, std::back_inserter(all));
  }
  return all;
}

Result<void> complete_all(Engine& engine, const std::vector<ClaimedExecution>& claimed) {
  for (std::size_t i = 0; i < claimed.size(); i += claim_batch) {
    CompleteMany batch;
    for (std::size_t j = i; j < std::min(i + claim_batch, claimed.size()); ++j)
      batch.executions.push_back(
          {.id = claimed[j].id, .fence = claimed[j].fence, .result = "done"});
    const auto reply = run_blocking(engine, std::move(batch));
    FF_TRY(reply);
    if (auto completed = first_error(reply->results); !completed) return completed;
  }
  return {};
}

Result<Seconds> drain(Engine& engine, const Settings& settings, std::uint32_t count) {
  const auto start = std::chrono::steady_clock::now();
  auto shared = std::make_shared<Shared>(engine, count, 0, "working");
  FF_TRY(run_coroutines(engine, settings.workers,
                        [&](std::uint32_t number) { return worker(shared, engine, number); }));
  return shared->ended - start;
}

Result<Seconds> drain(const Engines& engines, const Settings& settings, std::uint32_t count) {
  const auto start = std::chrono::steady_clock::now();
  auto shared = std::make_shared<Shared>(*engines.front(), count, 0, "working");
  std::vector<std::future<Result<void>>> running;
  for (std::uint32_t i = 0; i < settings.workers; ++i) {
    auto& engine = *engines[i % engines.size()];
    running.push_back(asio::co_spawn(asio::make_strand(engine.executor()),
                                     worker(shared, engine, i), asio::use_future));
  }
  Result<void> all;
  for (auto& each : running)
    if (auto result = each.get(); !result && all) all = result;
  FF_TRY(all);
  return shared->ended - start;
}

Result<double> end_to_end_per_s(Engine& engine, const Settings& settings) {
  auto submitting =
      std::async(std::launch::async, [&] { return submit_all(engine, settings, settings.tasks); });
  const auto drained = drain(engine, settings, settings.tasks);
  const auto submitted = submitting.get();
  FF_TRY(submitted);
  FF_TRY(drained);
  return settings.tasks / drained->count();
}

}  // namespace ff::cli::bench
