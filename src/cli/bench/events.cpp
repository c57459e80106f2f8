#include <atomic>
#include <future>
#include <memory>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

constexpr int rounds = 5;
constexpr Millis page_wait{500};

Submit one_of(const Settings& settings, Payloads& payloads) {
  return {.lane = *LaneId::parse("bench-events"),
          .kind = *Kind::parse("bench"),
          .payload = payloads.next(),
          .policy = settings.policy};
}

// One at a time by each of the workers: many small commits.
Async<void> submit_singly(Engine& engine, const Settings& settings,
                          std::shared_ptr<std::atomic<std::int64_t>> left, Payloads& payloads) {
  while (left->fetch_sub(1) > 0) FF_CO_TRY(co_await engine.run(one_of(settings, payloads)));
  co_return Result<void>{};
}

Result<double> submits_per_s(Engine& engine, const Settings& settings, Payloads& payloads) {
  const auto count = std::max(settings.tasks / (2 * rounds), 1u);
  const auto left = std::make_shared<std::atomic<std::int64_t>>(count);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<Result<void>>> running;
  for (std::uint32_t i = 0; i < settings.workers; ++i)
    running.push_back(asio::co_spawn(asio::make_strand(engine.executor()),
                                     submit_singly(engine, settings, left, payloads),
                                     asio::use_future));
  Result<void> all;
  for (auto& each : running)
    if (auto result = each.get(); !result) all = result;
  FF_TRY(all);
  return count / seconds_since(start);
}

// Followers of one execution to which nothing happens. They go when it does.
class Followers {
 public:
  Followers(Engine& engine, const ExecutionId& of, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      running_.push_back(asio::co_spawn(asio::make_strand(engine.executor()),
                                        follow(engine, of, stop_), asio::use_future));
  }
  ~Followers() { static_cast<void>(stop()); }

  // The first error of one of them, if any.
  Result<void> stop() {
    *stop_ = true;
    Result<void> all;
    for (auto& each : std::exchange(running_, {}))
      if (auto followed = each.get(); !followed) all = followed;
    return all;
  }
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

 private:
  static Async<void> follow(Engine& engine, ExecutionId of,
                            std::shared_ptr<std::atomic<bool>> stop) {
    ReadEvents query{.id = of, .wait = page_wait};
    while (!*stop) {
      auto page = co_await engine.run(query);
      FF_CO_TRY(page);
      query.after = std::move(page->next);
    }
    co_return Result<void>{};
  }

  std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<Result<void>>> running_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

// The rounds alternate, so that a noisy machine disturbs both alike.
Result<Figures> events(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Payloads payloads(settings.payload_bytes);
  const auto followed = run_blocking(**engine, one_of(settings, payloads));
  FF_TRY(followed);
  FF_TRY(submits_per_s(**engine, settings, payloads));  // warms up

  std::vector<double> without, with;
  for (int round = 0; round < rounds; ++round) {
    const auto alone = submits_per_s(**engine, settings, payloads);
    FF_TRY(alone);
    Followers followers(**engine, followed->id, settings.followers);
    const auto followed_rate = submits_per_s(**engine, settings, payloads);
    FF_TRY(followers.stop());
    FF_TRY(followed_rate);
    without.push_back(*alone);
    with.push_back(*followed_rate);
  }
  return Figures{{"followers", settings.followers},
                 {"submits_per_s", median(without)},
                 {"submits_per_s_with_them", median(with)},
                 {"share", median(with) / median(without)}};
}

}  // namespace ff::cli::bench
