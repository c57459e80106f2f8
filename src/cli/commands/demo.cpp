#include <flowfabric/client.hpp>
#include <flowfabric/open.hpp>
#include <flowfabric/worker.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/try.hpp"
#include "base/version.hpp"
#include "cli/output/output.hpp"
#include "cli/service.hpp"

namespace ff::cli {
namespace {

constexpr const char* demo_lane = "demo";

std::string greet(Task& task) { return "Hello, " + task.payload() + "!"; }

std::string add(Task& task) {
  std::istringstream numbers(task.payload());
  long long sum = 0;
  for (long long number; numbers >> number;) sum += number;
  if (!numbers.eof())
    throw std::invalid_argument("'" + task.payload() + "' is not a list of numbers");
  return std::to_string(sum);
}

struct Example {
  const char* kind;
  const char* payload;
};
constexpr std::array examples{Example{"greet", "Ada"}, Example{"add", "19 23"},
                              Example{"add", "nineteen 23"}};

// Prints every step of every execution as it happens.
class Narrator {
 public:
  void step(const Event& event) {
    const auto ms = event.at.time_since_epoch().count();
    line("  {:%H:%M:%S}.{:03}  {:<13}  {}", fmt::gmtime(std::time_t(ms / 1000)), ms % 1000,
         to_string(event.type), short_id(event.id));
  }

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    const std::lock_guard lock(mutex_);
    const auto text = fmt::format(format, std::forward<Args>(args)...) + '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);  // it serves on, also if nobody can read it
    std::fflush(stdout);
  }

 private:
  std::mutex mutex_;
};

void show(Narrator& narrator, Client& client, const Example& example) {
  narrator.line("\nff submit {} '{}' --lane {} --wait", example.kind, example.payload, demo_lane);
  const auto submitted =
      client.submit({.kind = example.kind, .payload = example.payload, .lane = demo_lane});
  if (!submitted) return narrator.line("  not accepted: {}", submitted.error().message);
  const auto result = client.result(submitted->id, std::chrono::seconds{30});
  if (result)
    narrator.line("  → {}", *result);
  else
    narrator.line("  → {}: {}", result.error().name(), result.error().message);
}

// As the user called it: the script ./run says so.
std::string program_name() {
  const char* name = std::getenv("FF_PROGRAM_NAME");
  return name ? name : "ff";
}

void suggest(Narrator& narrator, const std::string& url) {
  const std::string where = url == info(Setting::url).default_value ? "" : " --url " + url;
  narrator.line(R"(
Still serving at {0}. Try, in another terminal:
  {3} submit greet World --lane {1} --wait{2}
  {3} submit add '1 2 3' --lane {1}{2}      (prints an execution id)
  {3} result ID{2}
  {3} ls{2}
  {3} watch{2}
  curl -s {0}/v1/executions -H 'Content-Type: application/json' \
       -d '{{"kind":"greet","lane":"{1}","payload":"curl"}}'
Stop it with Ctrl-C; what was submitted is still there after a restart.)",
                url, demo_lane, where, program_name());
}

Result<ExitCode> run(const Settings& settings) {
  Narrator narrator;
  auto service =
      Service::start(settings, {}, [&narrator](const Event& event) { narrator.step(event); });
  FF_TRY(service);
  const auto url = service->server().url();
  narrator.line("FlowFabric {} serves {} at {}", version, service->store(), url);

  // Worker and client go through HTTP, like any other program would.
  const auto remote = ff::open(url);
  FF_TRY(remote);
  Worker worker(**remote, {.id = "demo-worker", .lanes = {demo_lane}, .concurrency = 2});
  worker.handle("greet", greet);
  worker.handle("add", add);
  FF_TRY(worker.start());
  narrator.line("A demo worker waits for work on lane '{}'.", demo_lane);

  Client client(**remote);
  for (const auto& example : examples) show(narrator, client, example);
  suggest(narrator, url);
  auto stopped = service->wait_for_stop([] {});
  narrator.line("\nStopping.");
  return stopped;
}

}  // namespace

Run setup_demo(Arguments& arguments) {
  add_service_settings(arguments);
  arguments.examples("  ff demo\n  ff demo --store embedded:/tmp/demo --listen 127.0.0.1:0");
  return [](const Context& context) { return run(context.settings); };
}

}  // namespace ff::cli
