// Kills a process that works with a data directory, again and again, and looks at what is left each time:
// the directory is whole, all that was acknowledged is there, and what was begun comes to an end.
//
//   crash_test [--rounds N] [--seed N]
#include <flowfabric/log.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <unistd.h>

#include "sdk/client/blocking.hpp"
#include "store/embedded/tools/check.hpp"
#include "tests/crash/engine.hpp"
#include "tests/crash/history.hpp"
#include "tests/crash/journal.hpp"
#include "tests/crash/load.hpp"
#include "tests/crash/victim.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::crash {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The more rounds a directory has seen, the longer it takes to look at all of it.
constexpr std::uint64_t rounds_per_directory = 25;
constexpr auto drain_time_max = 60s;

struct Totals {
  std::uint64_t rounds = 0;
  std::size_t acknowledged = 0;
  std::size_t checked = 0;  // records and index entries
};

// True if all is well.
bool report(std::string_view when, const std::vector<std::string>& problems) {
  constexpr std::size_t shown_max = 20;
  for (std::size_t i = 0; i < std::min(problems.size(), shown_max); ++i)
    fmt::print(stderr, "{}: {}\n", when, problems[i]);
  if (problems.size() > shown_max)
    fmt::print(stderr, "{}: and {} more\n", when, problems.size() - shown_max);
  return problems.empty();
}

// The rounds of one data directory.
class Place {
 public:
  explicit Place(Totals& totals) : totals_(totals) {}

  bool round(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto end = kill_under_load(random, seed);
    const auto before = history_.acknowledged();
    history_.read(end.told);
    totals_.acknowledged += history_.acknowledged() - before;
    ++totals_.rounds;
    if (!end.killed) return report("load", {"it ended by itself: " + end.told});
    if (!check()) return false;

    const auto engine = open_engine(directory(), 1 + random() % 3);
    if (!engine) return report("open", {engine.error().message});
    return report("after the kill", history_.verify(**engine, History::Scope::newest)) &&
           drain(**engine) &&
           report("after the drain", history_.verify(**engine, History::Scope::newest_ended));
  }

  // Looks once more at everything that ever happened here.
  bool finish() {
    if (!check()) return false;
    const auto engine = open_engine(directory(), 2);
    if (!engine) return report("open", {engine.error().message});
    return report("at the end", history_.verify(**engine, History::Scope::all_ended));
  }

 private:
  std::filesystem::path directory() const { return temp_.path() / "data"; }

  Victim::End kill_under_load(std::mt19937_64& random, std::uint64_t seed) {
    Victim victim(directory(), seed);
    const bool while_opening = random() % 10 == 0;
    if (!while_opening) victim.wait_until_ready();
    victim.leave_alone(while_opening ? Millis{random() % 40} : Millis{20 + random() % 280});
    return victim.kill();
  }

  bool check() {
    // Killed before it had made anything.
    if (!std::filesystem::exists(directory() / "db" / "CURRENT")) return true;
    const auto checked = embedded::check(directory());
    if (!checked && history_.acknowledged() == 0) return true;  // while it was made
    if (!checked) return report("check", {checked.error().message});
    totals_.checked += checked->live + checked->ended + checked->index_entries;
    return report("check", checked->problems);
  }

  // Works until there is nothing left to do.
  bool drain(Engine& engine) {
    const auto give_up = SteadyClock::now() + drain_time_max;
    while (SteadyClock::now() < give_up) {
      const auto claimed = run_blocking(engine, Claim{.worker = *WorkerId::parse("drain"),
                                                      .lanes = all_lanes(),
                                                      .capabilities = all_capabilities(),
                                                      .max = limits::claim_batch_max,
                                                      .wait = 5ms});
      if (!claimed) return report("drain", {claimed.error().message});
      if (!claimed->executions.empty()) {
        if (!complete(engine, claimed->executions)) return false;
        continue;
      }
      resume_suspended(engine);
      cancel_unsealed(engine);
      const auto counts = run_blocking(engine, CountExecutions{});
      if (!counts) return report("drain", {counts.error().message});
      if (std::ranges::all_of(counts->counts,
                              [](const StateCount& each) { return is_terminal(each.state); }))
        return true;
    }
    return report("drain", {"it does not come to an end"});
  }

  // Nothing else resumes executions whose signals will never come.
  static void resume_suspended(Engine& engine) {
    const auto suspended =
        run_blocking(engine, ListExecutions{.state = ExecutionState::suspended, .limit = 1'000});
    if (!suspended) return;
    for (const auto& each : suspended->executions)
      static_cast<void>(run_blocking(engine, Resume{.id = each.id}));
  }

  // Nothing else ends flows before their time to be sealed is over.
  static void cancel_unsealed(Engine& engine) {
    const auto building =
        run_blocking(engine, ListFlows{.state = FlowState::building, .limit = 1'000});
    if (!building) return;
    for (const auto& each : building->flows)
      static_cast<void>(run_blocking(engine, CancelFlow{.id = each.id}));
  }

  static bool complete(Engine& engine, const std::vector<ClaimedExecution>& executions) {
    CompleteMany many;
    for (const auto& each : executions)
      many.executions.push_back(
          {.id = each.id,
           .fence = each.fence,
           .result = result_of(each.id.str(), std::to_underlying(each.fence.lease_epoch))});
    const auto reply = run_blocking(engine, std::move(many));
    if (!reply) return report("drain", {reply.error().message});
    for (const auto& each : reply->results) {
      // Its time may run out between the claim and the end.
      const bool out_of_time = !each && each.error().code == Errc::execution_not_active;
      if (!each && !out_of_time) return report("drain", {each.error().message});
    }
    return true;
  }

  Totals& totals_;
  test::TempDirectory temp_;
  History history_;
};

bool run(std::uint64_t rounds, std::uint64_t seed) {
  const auto start = SteadyClock::now();
  fmt::print("{} rounds, --seed {}\n", rounds, seed);
  Totals totals;
  bool well = true;
  while (well && totals.rounds < rounds) {
    Place place(totals);
    const auto end = std::min(rounds, totals.rounds + rounds_per_directory);
    while (well && totals.rounds < end) well = place.round(seed + totals.rounds);
    well = well && place.finish();
  }
  const std::chrono::duration<double> took = SteadyClock::now() - start;
  fmt::print("{}: {} rounds in {:.1f} s, {} operations acknowledged, {} entries checked\n",
             well ? "ok" : "FAILED", totals.rounds, took.count(), totals.acknowledged,
             totals.checked);
  return well;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

int main(std::span<const char* const> arguments) {
  ff::set_logger({});
  if (arguments.size() == 3 && std::string_view(arguments[0]) == "--load")
    run_load(arguments[1], number_of(arguments[2]).value_or(0), STDOUT_FILENO);

  std::uint64_t rounds = FF_CRASH_ROUNDS;
  std::uint64_t seed = 1;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const auto value = i + 1 < arguments.size() ? number_of(arguments[i + 1]) : std::nullopt;
    if (!value || (name != "--rounds" && name != "--seed")) {
      fmt::print(stderr, "crash_test [--rounds N] [--seed N]\n");
      return 2;
    }
    (name == "--rounds" ? rounds : seed) = *value;
  }
  return run(rounds, seed) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace ff::crash

int main(int count, char** arguments) {
  return ff::crash::main({arguments + 1, static_cast<std::size_t>(count - 1)});
}
