#include <charconv>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds measured{10};
constexpr Millis claim_wait = std::chrono::seconds{20};  // longer than it takes

Result<void> wait_for_claims(Engine& engine, std::uint32_t count) {
  const auto deadline = Steady::now() + std::chrono::seconds{10};
  while (Steady::now() < deadline) {
    const auto waiting = metric(engine, "ff_claims_waiting");
    FF_TRY(waiting);
    if (*waiting >= count) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  return fail(Errc::timed_out, fmt::format("{} claims do not get to wait there", count));
}

}  // namespace

Result<double> metric(Engine& engine, std::string_view name) {
  const auto reply = run_blocking(engine, GetMetrics{});
  FF_TRY(reply);
  const auto at = reply->bytes.find(fmt::format("\n{} ", name));
  if (at == std::string::npos)
    return fail(Errc::malformed_response, fmt::format("there is no metric {}", name));
  double value = 0;
  const auto* begin = reply->bytes.data() + at + name.size() + 2;
  std::from_chars(begin, reply->bytes.data() + reply->bytes.size(), value);
  return value;
}

Result<Figures> waiting(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  const auto rss_before = metric(**engine, "process_resident_memory_bytes");
  FF_TRY(rss_before);

  std::vector<std::future<Result<ClaimReply>>> claims;
  for (std::uint32_t i = 0; i < settings.workers; ++i) {
    Claim claim{.worker = *WorkerId::parse(fmt::format("bench-{}", i)),
                .lanes = {*LaneId::parse("bench-waiting")},
                .wait = claim_wait};
    claims.push_back(asio::co_spawn(asio::make_strand((*engine)->executor()),
                                    (*engine)->run(std::move(claim)), asio::use_future));
  }
  FF_TRY(wait_for_claims(**engine, settings.workers));

  const auto cpu_before = metric(**engine, "process_cpu_seconds_total");
  const auto since = Steady::now();
  std::this_thread::sleep_for(measured);
  const auto cpu_after = metric(**engine, "process_cpu_seconds_total");
  const auto rss_after = metric(**engine, "process_resident_memory_bytes");
  if (!cpu_before || !cpu_after || !rss_after)
    return fail(Errc::malformed_response, "the engine stopped telling its metrics");
  Figures figures{
      {"waiting_claims", settings.workers},
      {"cpu_percent_of_a_core", 100 * (*cpu_after - *cpu_before) / seconds_since(since)},
      {"resident_mib_before", *rss_before / (1024 * 1024)},
      {"resident_mib_with_them", *rss_after / (1024 * 1024)}};

  for (auto& claim : claims) FF_TRY(claim.get());
  return figures;
}

}  // namespace ff::cli::bench
