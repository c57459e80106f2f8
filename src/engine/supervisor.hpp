// Runs the scanners: each in a loop of its own, restarted if it crashes or gets stuck, stopped together.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async/coroutine_group.hpp"
#include "base/async/wakeup.hpp"
#include "engine/scanner.hpp"

namespace ff {

struct ScannerStatus {
  std::string name;
  std::uint64_t cycles = 0;
  std::uint64_t changed = 0;
  std::uint64_t errors = 0;   // run_once answered with an error
  std::uint64_t crashes = 0;  // run_once threw
  std::uint64_t stuck = 0;    // run_once did not end in time, and another loop took its place
  std::uint64_t failures_in_a_row = 0;

  // Now and then a run may fail; one that always does is not running.
  bool alive() const { return failures_in_a_row < 3; }
};

struct SupervisorOptions {
  Millis pause_after_crash = std::chrono::seconds{5};
  Millis stuck_after = std::chrono::seconds{60};
  // After each run, from any thread; must not block.
  std::function<void(std::string_view scanner, std::chrono::steady_clock::duration took)> on_run =
      {};
};

class Supervisor {
 public:
  using Options = SupervisorOptions;

  explicit Supervisor(asio::any_io_executor executor, Options options = {})
      : executor_(std::move(executor)), options_(std::move(options)), watch_signal_(executor_) {}
  ~Supervisor() { stop(); }

  // Before start(). The first run is at once, then at most `interval` lies between two.
  using Handle = std::size_t;
  Handle add(std::unique_ptr<Scanner> scanner, Millis interval);
  void start();

  // Something for this scanner comes due so soon; it is run then, whatever its interval. Any thread.
  void due_in(Handle scanner, Millis wait);

  // Lets the running batches finish and ends the loops. Not from the executor's own threads.
  void stop();

  // The same; false if some batches still run after `limit`.
  bool stop_within(Millis limit);

  std::vector<ScannerStatus> status() const;

  // For tests: every scanner once, until none has more to do.
  Async<void> run_once();

 private:
  using Steady = std::chrono::steady_clock;

  struct Supervised {
    std::unique_ptr<Scanner> scanner;
    Millis interval;
    Wakeup signal;                        // stop, or something comes due earlier
    std::atomic<Steady::rep> due{never};  // when something comes due
    std::atomic<Steady::rep> running_since{never};
    std::atomic<std::uint64_t> generation{0};  // raised when a loop is given up
    ScannerStatus status;
  };
  static constexpr Steady::rep never = Steady::duration::max().count();

  void begin_stop();
  void spawn_loop(Supervised& supervised);
  asio::awaitable<void> loop(Supervised& supervised, std::uint64_t generation);
  asio::awaitable<void> pause(Supervised& supervised, Millis at_most, std::uint64_t generation);
  asio::awaitable<void> watch();
  void replace_if_stuck(Supervised& supervised);
  Async<Scan> guarded_run(Supervised& supervised);

  asio::any_io_executor executor_;
  Options options_;
  std::atomic<bool> stopping_ = false;
  Wakeup watch_signal_;
  mutable std::mutex status_mutex_;
  std::vector<std::unique_ptr<Supervised>> supervised_;
  CoroutineGroup loops_;
};

}  // namespace ff
