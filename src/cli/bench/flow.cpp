#include <flowfabric/client.hpp>
#include <flowfabric/worker.hpp>

#include <algorithm>
#include <charconv>
#include <future>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/output/progress.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t alone_rounds_max = 200;
constexpr std::uint32_t flow_submitters = 4;
constexpr Millis flow_time_max = std::chrono::minutes{10};
constexpr auto together_lane = "bench";  // that drain() takes from
constexpr auto alone_lane = "bench-flow";

using Predecessors = std::vector<std::vector<std::uint32_t>>;  // of each node

// chain: one after the other. fan: one, then all others at once, then one. diamond: one, two, one, two, …
Predecessors make_shape(FlowShape shape, std::uint32_t nodes) {
  Predecessors before(nodes);
  for (std::uint32_t i = 1; i < nodes; ++i) {
    switch (shape) {
      case FlowShape::chain: before[i] = {i - 1}; break;
      case FlowShape::fan: before[i] = {0}; break;
      case FlowShape::diamond:
        if (i % 3 == 0)
          before[i] = {i - 2, i - 1};
        else
          before[i] = {i - i % 3};
        break;
    }
  }
  if (shape == FlowShape::fan && nodes > 2) {
    before.back().clear();
    for (std::uint32_t i = 1; i + 1 < nodes; ++i) before.back().push_back(i);
  }
  return before;
}

NodeName name_of(std::uint32_t node) { return *NodeName::parse(fmt::format("n{}", node)); }

std::uint32_t number_of(const NodeName& name) {
  std::uint32_t number = 0;
  const auto& text = name.str();
  std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return number;
}

SubmitFlow make_flow(const Predecessors& before, const char* lane, Payloads& payloads) {
  SubmitFlow flow;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    auto& node = flow.nodes.emplace_back();
    node.name = name_of(i);
    node.lane = *LaneId::parse(lane);
    node.kind = *Kind::parse("bench");
    node.payload = payloads.next();
    for (const auto each : before[i]) node.after.push_back({.node = name_of(each)});
  }
  return flow;
}

// ---- One flow at a time -----------------------------------------------------------------------------

struct Times {
  Steady::time_point started;
  Steady::time_point ended;
};

struct Alone {
  std::vector<double> flow_ms;
  std::vector<double> step_ms;
  std::vector<double> submit_ms;
};

double milliseconds(Steady::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// From the return of the last handler before a node to the start of the node's own.
void add_steps(const Predecessors& before, const std::vector<Times>& times,
               std::vector<double>& steps) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].empty()) continue;
    Steady::time_point last{};
    for (const auto each : before[i]) last = std::max(last, times[each].ended);
    steps.push_back(milliseconds(times[i].started - last));
  }
}

Result<Alone> one_at_a_time(Engine& engine, const Settings& settings) {
  const auto before = make_shape(settings.shape, settings.nodes);
  std::vector<Times> times(before.size());
  Worker worker(engine, {.id = "bench", .lanes = {alone_lane}, .concurrency = settings.workers});
  worker.handle("bench", [&](Task& task) -> Outcome {
    auto& node = times[number_of(*task.node())];
    node.started = Steady::now();
    node.ended = Steady::now();
    return "done";
  });
  FF_TRY(worker.start());

  Client client(engine, {.submit_retry = Millis{0}});
  Payloads payloads(settings.payload_bytes);
  const auto count = std::min(settings.flows, alone_rounds_max);
  Progress progress("flows, one at a time", count);
  Alone alone;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto flow = make_flow(before, alone_lane, payloads);
    const auto start = Steady::now();
    const auto submitted = client.submit_flow(std::move(flow));
    FF_TRY(submitted);
    alone.submit_ms.push_back(milliseconds(Steady::now() - start));
    const auto ended = client.wait(submitted->flow.id, flow_time_max);
    FF_TRY(ended);
    if (ended->state != FlowState::completed)
      return fail(Errc::internal, fmt::format("a flow is {}", to_string(ended->state)));
    alone.flow_ms.push_back(milliseconds(Steady::now() - start));
    add_steps(before, times, alone.step_ms);
    progress.add(1);
  }
  worker.stop();
  return alone;
}

// ---- All at once --------------------------------------------------------------------------------------

struct Together {
  Engine& engine;
  Predecessors before;
  Payloads payloads;
  std::atomic<std::int64_t> left;  // to submit
};

Result<void> submit_flows(Together& together) {
  Client client(together.engine, {.submit_retry = Millis{0}});
  while (together.left-- > 0)
    FF_TRY(client.submit_flow(make_flow(together.before, together_lane, together.payloads)));
  return {};
}

Result<double> all_at_once_per_s(Engine& engine, const Settings& settings) {
  Together together{engine, make_shape(settings.shape, settings.nodes),
                    Payloads(settings.payload_bytes), settings.flows};
  std::vector<std::future<Result<void>>> submitting;
  for (std::uint32_t i = 0; i < flow_submitters; ++i)
    submitting.push_back(std::async(std::launch::async, [&] { return submit_flows(together); }));
  const auto drained = drain(engine, settings, settings.flows * settings.nodes);
  for (auto& each : submitting) {
    const auto submitted = each.get();
    FF_TRY(submitted);
  }
  FF_TRY(drained);
  return settings.flows / drained->count();
}

}  // namespace

Result<Figures> flow(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  auto alone = one_at_a_time(**engine, settings);
  FF_TRY(alone);
  const auto per_s = all_at_once_per_s(**engine, settings);
  FF_TRY(per_s);
  Figures figures{{"shape", to_string(settings.shape)},
                  {"nodes", settings.nodes},
                  {"flows", settings.flows},
                  {"flows_per_s", *per_s},
                  {"nodes_per_s", *per_s * settings.nodes},
                  {"flow_ms", percentiles(std::move(alone->flow_ms))}};
  if (!alone->step_ms.empty()) figures["step_ms"] = percentiles(std::move(alone->step_ms));
  figures["submit_ms"] = percentiles(std::move(alone->submit_ms));
  return figures;
}

}  // namespace ff::cli::bench
