#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "base/try.hpp"
#include "base/version.hpp"
#include "cli/bench/bench.hpp"
#include "cli/engine.hpp"
#include "cli/output/output.hpp"

namespace ff::cli {
namespace {

// A store of its own, gone afterwards.
class TemporaryStore {
 public:
  TemporaryStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ff-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data())) directory_ = pattern;
  }
  ~TemporaryStore() {
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;

  std::string url() const { return "embedded:" + directory_; }

 private:
  std::string directory_;
};

constexpr auto as_the_mode_says = std::numeric_limits<std::uint32_t>::max();

struct BenchArguments {
  std::string mode;
  std::string store;
  std::uint32_t tasks = as_the_mode_says;
  std::uint32_t workers = as_the_mode_says;
  std::uint32_t payload_bytes = 4096;
  std::uint32_t followers = 1'000;
  std::string shape = "chain";
  std::uint32_t nodes = 10;
  std::uint32_t flows = 100;
  std::uint32_t writers = as_the_mode_says;
  std::uint32_t tails = 16;
  std::uint32_t frame_bytes = 100;
};

Result<std::uint32_t> in_range(const char* name, std::uint32_t value, std::uint32_t low,
                               std::uint32_t high) {
  if (value >= low && value <= high) return value;
  return fail(Errc::invalid_input,
              fmt::format("{} must be from {} to {}, got {}", name, low, high, value));
}

struct Mode {
  const char* name;
  std::uint32_t tasks;    // unless --tasks says otherwise
  std::uint32_t workers;  // likewise
  Result<bench::Figures> (*run)(const bench::Settings&);
};
constexpr std::array modes{Mode{"lifecycle", 50'000, 16, bench::lifecycle},
                           Mode{"latency", 1'000, 16, bench::latency},
                           Mode{"memory", 100'000, 16, bench::memory},
                           Mode{"waiting", 1, 16, bench::waiting},
                           Mode{"routing", 1'000, 100, bench::routing},
                           Mode{"admission", 50'000, 16, bench::admission},
                           Mode{"events", 50'000, 16, bench::events},
                           Mode{"retention", 100'000, 16, bench::retention},
                           Mode{"signal", 50'000, 16, bench::signal},
                           Mode{"flow", 1, 16, bench::flow},
                           Mode{"stream", 1'000'000, 16, bench::stream},
                           Mode{"bulk", 100'000, 16, bench::bulk}};

Result<bench::Settings> settings_of(const BenchArguments& given, const Mode& mode) {
  const auto tasks = in_range("--tasks", given.tasks == as_the_mode_says ? mode.tasks : given.tasks,
                              1, 100'000'000);
  FF_TRY(tasks);
  const auto wanted = given.writers == as_the_mode_says ? given.workers : given.writers;
  const auto workers =
      in_range(given.writers == as_the_mode_says ? "--workers" : "--writers",
               wanted == as_the_mode_says ? mode.workers : wanted, 1, 10'000);
  FF_TRY(workers);
  const auto bytes = in_range("--payload-bytes", given.payload_bytes, 0,
                              static_cast<std::uint32_t>(limits::payload_bytes_max));
  FF_TRY(bytes);
  const auto followers = in_range("--followers", given.followers, 0, 100'000);
  FF_TRY(followers);
  const auto shape = from_name<bench::FlowShape>(given.shape);
  if (!shape)
    return fail(Errc::invalid_input,
                fmt::format("--shape must be chain, fan or diamond, got '{}'", given.shape));
  const auto nodes = in_range("--nodes", given.nodes, 1, limits::flow_nodes_max);
  FF_TRY(nodes);
  const auto flows = in_range("--flows", given.flows, 1, 10'000);
  FF_TRY(flows);
  const auto tails = in_range("--tails", given.tails, 0, 100'000);
  FF_TRY(tails);
  const auto frame_bytes = in_range("--frame-bytes", given.frame_bytes, 0,
                                    static_cast<std::uint32_t>(limits::frame_bytes_max));
  FF_TRY(frame_bytes);
  return bench::Settings{.store = given.store,
                         .open = {},
                         .tasks = *tasks,
                         .workers = *workers,
                         .payload_bytes = *bytes,
                         .followers = *followers,
                         .shape = *shape,
                         .nodes = *nodes,
                         .flows = *flows,
                         .tails = *tails,
                         .frame_bytes = *frame_bytes};
}

void print_table(const json::object& figures, const std::string& prefix = "") {
  for (const auto& figure : figures) {
    const auto name = prefix + std::string(figure.key());
    if (figure.value().is_object())
      print_table(figure.value().get_object(), name + " ");
    else if (figure.value().is_double())
      fmt::print("{:<28} {:>14.2f}\n", name, figure.value().get_double());
    else
      fmt::print("{:<28} {:>14}\n", name,
                 figure.value().is_string() ? std::string(figure.value().get_string())
                                            : json::serialize(figure.value()));
  }
}

Result<ExitCode> run(const Context& context, BenchArguments given) {
  const auto mode = std::ranges::find(modes, given.mode, &Mode::name);
  if (mode == modes.end())
    return fail(
        Errc::invalid_input,
        fmt::format("there is no benchmark '{}'; there are lifecycle, latency, memory, waiting, "
                    "routing, admission, events, retention, signal, flow, stream and bulk",
                    given.mode));
  std::optional<TemporaryStore> temporary;
  if (given.store.empty()) given.store = temporary.emplace().url();
  auto settings = settings_of(given, *mode);
  FF_TRY(settings);
  auto options = open_options(context.settings);
  FF_TRY(options);
  settings->open = std::move(*options);
  settings->open.background = true;  // what is measured includes it
  const auto figures = mode->run(*settings);
  FF_TRY(figures);

  json::object report{{"mode", given.mode},
                      {"store", temporary ? "embedded, in a directory of its own" : given.store},
                      {"tasks", settings->tasks},
                      {"workers", settings->workers},
                      {"payload_bytes", settings->payload_bytes},
                      {"version", version}};
  if (mode->run == bench::flow) report.erase("tasks");  // it has nodes and flows
  if (mode->run == bench::stream) {  // it has frames and writers
    for (const auto* name : {"tasks", "workers", "payload_bytes"}) report.erase(name);
    report["frames"] = settings->tasks;
    report["writers"] = settings->workers;
  }
  for (const auto& figure : *figures) report[figure.key()] = figure.value();
  if (context.json)
    print_json(report);
  else
    print_table(report);
  return ExitCode::ok;
}

}  // namespace

Run setup_bench(Arguments& arguments) {
  auto given = std::make_shared<BenchArguments>();
  arguments.positional("mode", given->mode, "What to measure", Arguments::Need::required,
                       "lifecycle|latency|memory|waiting|routing|admission|events|retention|signal|"
                       "flow|stream|bulk");
  arguments.option("--store", given->store, "URL",
                   "The engine to measure (default: an embedded store, removed afterwards)");
  arguments.option("--tasks", given->tasks,
                   "How many executions (default: 50000, 1000 for latency and routing, "
                   "100000 for memory, retention and bulk), or frames (1000000 for stream)");
  arguments.option("--workers", given->workers,
                   "How many workers, or handlers at a time (default: 16, 100 for routing)");
  arguments.option("--payload-bytes", given->payload_bytes,
                   "The size of each payload (default: 4096)");
  arguments.option("--followers", given->followers,
                   "How many follow an unrelated execution (events; default: 1000)");
  arguments.option("--writers", given->writers, "The same as --workers (stream)");
  arguments.option("--tails", given->tails, "How many readers follow streams (stream; default: 16)");
  arguments.option("--frame-bytes", given->frame_bytes,
                   "The size of each frame (stream; default: 100)");
  arguments.option("--shape", given->shape, "chain|fan|diamond",
                   "The shape of each flow (flow; default: chain)");
  arguments.option("--nodes", given->nodes, "How many nodes a flow has (flow; default: 10)");
  arguments.option("--flows", given->flows, "How many flows (flow; default: 100)");
  arguments.settings({Setting::token, Setting::token_file, Setting::ca_file});
  arguments.examples(
      "  ff bench lifecycle\n"
      "  ff bench latency --tasks 2000 --json\n"
      "  ff bench memory --tasks 1000000 --payload-bytes 100\n"
      "  ff bench routing --json\n"
      "  ff bench events --followers 1000\n"
      "  ff bench retention --tasks 1000000 --payload-bytes 100\n"
      "  ff bench signal --tasks 1000000 --payload-bytes 100\n"
      "  ff bench flow --shape fan --nodes 1000 --flows 10\n"
      "  ff bench stream --writers 16 --tails 1000 --json\n"
      "  ff bench bulk --json\n"
      "  ff bench waiting --store http://127.0.0.1:9090 --workers 1000");
  return [given](const Context& context) { return run(context, *given); };
}

}  // namespace ff::cli
