// `ff bench`: what an engine does on this machine, measured through the same interface that everyone
// uses.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include <boost/json.hpp>

namespace ff::cli::bench {

// Of the flows that are measured.
enum class FlowShape : std::uint8_t { chain, fan, diamond };

}  // namespace ff::cli::bench

namespace ff {
FF_NAMES(cli::bench::FlowShape, "chain", "fan", "diamond");
}

namespace ff::cli::bench {

struct Settings {
  std::string store;  // the URL of an engine
  OpenOptions open;
  std::uint32_t tasks;
  std::uint32_t workers;
  std::uint32_t payload_bytes;
  Policy policy = {};  // of what is submitted
  std::uint32_t followers = 0;
  FlowShape shape{};
  std::uint32_t nodes = 0;  // of a flow
  std::uint32_t flows = 0;
  std::uint32_t tails = 0;  // readers of streams
  std::uint32_t frame_bytes = 0;
};

// Measured values, in display order.
using Figures = boost::json::object;

// Bulk submit, drain of what was submitted, and both at once.
Result<Figures> lifecycle(const Settings& settings);

// From submit to the start of the handler, one execution at a time on an idle engine; and how late a
// delayed one begins.
Result<Figures> latency(const Settings& settings);

// Many waiting executions: memory, disk, the cost of a claim, and the time to open the store again.
// Only for a store that this process opens itself.
Result<Figures> memory(const Settings& settings);

// Many claims that wait for work: what they cost the engine's process. Of a server, best.
Result<Figures> waiting(const Settings& settings);

// Work for ten sets of capabilities, and workers of which each has one of them: as many for each, few for
// half of them, late for some.
Result<Figures> routing(const Settings& settings);

// As the lifecycle, with two budgets and a quota for every execution; and claims beside many that wait
// for a budget.
Result<Figures> admission(const Settings& settings);

// Submits, one at a time, beside many followers of an execution to which nothing happens: what these cost.
Result<Figures> events(const Settings& settings);

// Many ended executions whose retention is over: how fast they are removed, and whether removal keeps up
// with others that end meanwhile. Only for a store that this process opens itself.
Result<Figures> retention(const Settings& settings);

// From a signal to the run of the handler that waited for it, one at a time on an idle engine; rounds of
// suspend, signal and claim per second, by workers with 16 handlers each; and the memory of many that wait.
Result<Figures> signal(const Settings& settings);

// Flows of one shape: one at a time from submit to end, and from the end of a node to the start of the next; then
// all at once, how many end per second.
Result<Figures> flow(const Settings& settings);

// Frames per second by writers that send 64 at a time; then readers of server-sent events, spread over the writers'
// streams: what each costs while nothing is written, how late a frame is, and how late the end is. On Valkey also how many
// entries per second Valkey itself adds.
Result<Figures> stream(const Settings& settings);

// A bulk job that cancels many executions, alone and beside workers; and what the workers claim beside it, compared
// with what they claim without it.
Result<Figures> bulk(const Settings& settings);

// ---- Shared parts --------------------------------------------------------------------------------

boost::json::object percentiles(std::vector<double> milliseconds);
double seconds_since(std::chrono::steady_clock::time_point start);

// A metric without labels, as the engine tells it.
Result<double> metric(Engine& engine, std::string_view name);

// Closes a store that this process has opened, and opens it again until it answers.
Result<std::shared_ptr<Engine>> reopen(std::shared_ptr<Engine> engine, const std::string& url,
                                       double& seconds);

// Payloads that do not compress, each another one. Thread-safe.
class Payloads {
 public:
  explicit Payloads(std::size_t bytes);
  std::string next();

 private:
  static constexpr std::size_t offsets = 1 << 20;
  std::size_t bytes_;
  std::string pool_;
  std::atomic<std::size_t> count_ = 0;
};

// Submits `count` executions in batches of 500 (fewer if they are large), several batches at a time.
Result<void> submit_all(Engine& engine, const Settings& settings, std::uint32_t count);

// Claims and completes until `count` executions are done: each worker claims up to 32 at once and
// reports their results together. An execution counts once its result is on disk. Returns the time until the last
// one counts; claims that still wait for work then are not part of it.
using Seconds = std::chrono::duration<double>;
Result<Seconds> drain(Engine& engine, const Settings& settings, std::uint32_t count);

// Submits and works at the same time; how many executions end per second.
Result<double> end_to_end_per_s(Engine& engine, const Settings& settings);

// The two halves of a drain, by one worker: all are claimed, and stay so; then all are completed.
Result<std::vector<ClaimedExecution>> claim_all(Engine& engine, std::uint32_t count);
Result<void> complete_all(Engine& engine, const std::vector<ClaimedExecution>& claimed);

}  // namespace ff::cli::bench
