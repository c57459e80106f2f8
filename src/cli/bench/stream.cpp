#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <thread>

#include <sys/resource.h>

#include <fmt/format.h>
#include <boost/asio/steady_timer.hpp>
#include <boost/url.hpp>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/coroutines.hpp"
#include "cli/bench/raw_xadd.hpp"
#include "cli/bench/sse_reader.hpp"
#include "cli/output/output.hpp"
#include "http/server/server.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t batch = 64;           // as the SDK sends them
constexpr std::uint32_t events_max = 50'000;  // that all readers together receive one by one
constexpr Millis settle = std::chrono::seconds{1};
constexpr std::chrono::seconds patience{60};

void raise_limit_of_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now().time_since_epoch())
      .count();
}

struct StreamBenchWriter {
  ClaimedExecution claimed;
  std::uint64_t written = 0;

  AppendFrames append(std::vector<NewFrame> frames) {
    AppendFrames append{
        .id = claimed.id, .fence = claimed.fence, .written = written, .frames = std::move(frames)};
    written += append.frames.size();
    return append;
  }
};
using Writers = std::vector<std::shared_ptr<StreamBenchWriter>>;

Result<Writers> make_writers(Engine& engine, const Settings& settings, std::uint32_t count) {
  FF_TRY(submit_all(engine, settings, count));
  Claim claim{.worker = *WorkerId::parse("bench"),
              .lanes = {*LaneId::parse("bench")},
              .max = 32,
              .lease_ttl = std::chrono::hours{1}};
  Writers writers;
  while (writers.size() < count) {
    auto claimed = run_blocking(engine, claim);
    FF_TRY(claimed);
    if (claimed->executions.empty())
      return fail(Errc::internal, "what was submitted cannot be claimed");
    for (auto& each : claimed->executions)
      writers.push_back(
          std::make_shared<StreamBenchWriter>(StreamBenchWriter{.claimed = std::move(each)}));
  }
  return writers;
}

// As fast as the engine takes them; each writer has one call under way.
Async<void> write_frames(Engine& engine, std::shared_ptr<StreamBenchWriter> writer,
                         std::uint64_t frames, std::size_t bytes) {
  for (std::uint64_t sent = 0; sent < frames; sent += batch) {
    std::vector<NewFrame> some(batch, NewFrame{.bytes = std::string(bytes, 'x')});
    auto append = writer->append(std::move(some));
    FF_CO_TRY(co_await engine.run(std::move(append)));
  }
  co_return Result<void>{};
}

Result<double> append_rate(Engine& engine, const Settings& settings) {
  const auto writers = make_writers(engine, settings, settings.workers);
  FF_TRY(writers);
  const auto each = std::max<std::uint64_t>(settings.tasks / settings.workers / batch, 1) * batch;
  const auto start = Steady::now();
  FF_TRY(run_coroutines(engine, settings.workers, [&](std::uint32_t i) {
    return write_frames(engine, (*writers)[i], each, settings.frame_bytes);
  }));
  const auto seconds = seconds_since(start);
  for (const auto& writer : *writers)
    FF_TRY(
        run_blocking(engine, Complete{.id = writer->claimed.id, .fence = writer->claimed.fence}));
  return static_cast<double>(each * settings.workers) / seconds;
}

// ---- Readers --------------------------------------------------------------------------------------

struct ReaderFigures {
  std::mutex mutex;
  std::vector<double> append_ms = {};
  std::vector<double> end_ms = {};
  std::map<std::string, std::int64_t> completed_at = {};  // by execution
  std::uint64_t expected_number = 0;
  std::atomic<std::uint32_t> connected = 0;
  std::atomic<std::uint32_t> ended = 0;
  std::atomic<std::uint64_t> received = 0;
  std::atomic<std::uint64_t> gaps = 0;
};

// The number behind a mark in an event.
std::int64_t number_behind(std::string_view event, std::string_view mark) {
  const auto at = event.find(mark);
  std::int64_t number = -1;
  if (at != std::string_view::npos)
    std::from_chars(event.data() + at + mark.size(), event.data() + event.size(), number);
  return number;
}

// One reader; it notes how late each frame is.
Async<void> read_stream(SseTarget target, std::string execution,
                        std::shared_ptr<ReaderFigures> figures) {
  std::int64_t next = 0;
  const auto each = [&](std::string_view event) {
    const auto now = nanoseconds();
    if (event.find("event: end") != std::string_view::npos) {
      const std::lock_guard lock(figures->mutex);
      figures->end_ms.push_back(static_cast<double>(now - figures->completed_at[execution]) / 1e6);
      ++figures->ended;
      return;
    }
    const auto number = number_behind(event, "\"number\":");
    if (number < 0) return;
    if (number != next) ++figures->gaps;
    next = number + 1;
    const auto written_at = number_behind(event, "\"bytes\":\"");
    const std::lock_guard lock(figures->mutex);
    figures->append_ms.push_back(static_cast<double>(now - written_at) / 1e6);
    ++figures->received;
  };
  co_return co_await read_events(
      std::move(target), [&] { ++figures->connected; }, each);
}

// Slow enough for this machine to send each frame to all readers before the next one.
struct Pace {
  explicit Pace(std::uint32_t tails)
      : appends(std::clamp(events_max / tails, 10u, 200u)),
        pause(std::clamp(Millis{tails / 5}, Millis{20}, Millis{500})) {}
  std::uint32_t appends;  // by each writer
  Millis pause;           // between them
};

// One frame at a time, with the moment of its append in it.
Async<void> write_paced(Engine& engine, std::shared_ptr<StreamBenchWriter> writer,
                        std::size_t bytes, Pace pace, Millis offset) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_after(offset);
  co_await timer.async_wait(asio::use_awaitable);
  for (std::uint32_t i = 0; i < pace.appends; ++i) {
    timer.expires_after(pace.pause);
    co_await timer.async_wait(asio::use_awaitable);
    auto text = std::to_string(nanoseconds());
    text.resize(std::max(text.size(), bytes), ' ');
    std::vector<NewFrame> frames(1, NewFrame{.bytes = std::move(text)});
    auto append = writer->append(std::move(frames));
    FF_CO_TRY(co_await engine.run(std::move(append)));
  }
  co_return Result<void>{};
}

template <class Reached>
Result<void> wait_until(std::string_view what, Reached reached) {
  const auto deadline = Steady::now() + patience;
  while (!reached()) {
    if (Steady::now() > deadline)
      return fail(Errc::timed_out, fmt::format("{} within {} s", what, patience.count()));
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return {};
}

// The server to read from: the store itself, or one in this process on the engine.
struct ReadFrom {
  std::unique_ptr<http::Server> own;
  SseTarget target;
};
Result<ReadFrom> server_of(Engine& engine, const Settings& settings) {
  ReadFrom from;
  auto url = settings.store;
  if (!url.starts_with("http")) {
    auto listener = http::Listener::bind("127.0.0.1:0");
    FF_TRY(listener);
    http::ServerOptions options;
    options.limits.connections = options.limits.tails = settings.tails + 100;
    from.own = std::make_unique<http::Server>(engine, std::move(*listener), std::move(options));
    url = from.own->url();
  }
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed || parsed->scheme() != "http")
    return fail(Errc::invalid_input, "readers need the address of a server without TLS");
  from.target = {.host = parsed->host_address(),
                 .port = parsed->has_port() ? std::string(parsed->port()) : "80",
                 .path = "",
                 .token = settings.open.token};
  return from;
}

Result<void> measure_readers(Engine& engine, const Settings& settings, Figures& figures) {
  const auto writer_count = std::min(settings.workers, settings.tails);
  const auto writers = make_writers(engine, settings, writer_count);
  FF_TRY(writers);
  const auto from = server_of(engine, settings);
  FF_TRY(from);
  const auto found = std::make_shared<ReaderFigures>();
  const auto before = metric(engine, "process_resident_memory_bytes");
  FF_TRY(before);

  std::vector<std::future<Result<void>>> readers;
  for (std::uint32_t i = 0; i < settings.tails; ++i) {
    const auto id = short_id((*writers)[i % writer_count]->claimed.id);
    auto target = from->target;
    target.path = fmt::format("/v1/executions/{}/streams/output", id);
    readers.push_back(asio::co_spawn(asio::make_strand(engine.executor()),
                                     read_stream(std::move(target), id, found), asio::use_future));
    constexpr std::uint32_t under_way_max = 200;  // connections that are made at a time
    FF_TRY(wait_until("readers are not connected",
                      [&] { return i + 1 - found->connected < under_way_max; }));
  }
  FF_TRY(wait_until("not all readers are connected",
                    [&] { return found->connected == settings.tails; }));
  const auto cpu_before = metric(engine, "process_cpu_seconds_total");
  FF_TRY(cpu_before);
  const auto idle_since = Steady::now();
  std::this_thread::sleep_for(settle);
  const auto cpu_after = metric(engine, "process_cpu_seconds_total");
  const auto after = metric(engine, "process_resident_memory_bytes");
  FF_TRY(cpu_after);
  FF_TRY(after);
  figures["bytes_per_tail"] = (*after - *before) / settings.tails;
  figures["idle_percent_of_a_core"] = 100 * (*cpu_after - *cpu_before) / seconds_since(idle_since);

  const Pace pace(settings.tails);
  FF_TRY(run_coroutines(engine, writer_count, [&](std::uint32_t i) {
    return write_paced(engine, (*writers)[i], settings.frame_bytes, pace,
                       pace.pause * i / writer_count);
  }));
  const auto all = std::uint64_t{settings.tails} * pace.appends;
  FF_TRY(wait_until("not all frames are received", [&] { return found->received == all; }));
  for (const auto& writer : *writers) {
    {
      const std::lock_guard lock(found->mutex);
      found->completed_at[short_id(writer->claimed.id)] = nanoseconds();
    }
    FF_TRY(
        run_blocking(engine, Complete{.id = writer->claimed.id, .fence = writer->claimed.fence}));
  }
  FF_TRY(wait_until("not all ends are received", [&] { return found->ended == settings.tails; }));
  for (auto& reader : readers) FF_TRY(reader.get());
  if (found->gaps > 0) return fail(Errc::internal, "readers missed frames");
  figures["append_to_tail_ms"] = percentiles(std::move(found->append_ms));
  figures["close_to_end_ms"] = percentiles(std::move(found->end_ms));
  return {};
}

}  // namespace

Result<Figures> stream(const Settings& settings) {
  raise_limit_of_files();
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Figures figures{{"tails", settings.tails}, {"frame_bytes", settings.frame_bytes}};
  const auto rate = append_rate(**engine, settings);
  FF_TRY(rate);
  figures["frames_per_s"] = *rate;
  const auto raw = raw_xadd_rate(settings);
  FF_TRY(raw);
  if (*raw) figures["raw_xadd_per_s"] = **raw;
  if (settings.tails > 0) FF_TRY(measure_readers(**engine, settings, figures));
  return figures;
}

}  // namespace ff::cli::bench
