// Runs the scanners: each in a loop of its own, restarted if it crashes, stopped together.
#pragma once

#include <flowfabric/time.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/coroutine_group.hpp"
#include "base/wakeup.hpp"
#include "engine/scanner.hpp"

namespace ff {

struct ScannerStatus {
  std::string name;
  std::uint64_t cycles = 0;
  std::uint64_t changed = 0;
  std::uint64_t errors = 0;   // run_once answered with an error
  std::uint64_t crashes = 0;  // run_once threw
};

class Supervisor {
 public:
  explicit Supervisor(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  ~Supervisor() { stop(); }

  // Before start(). The first run is at once, then `interval` lies between two.
  void add(std::unique_ptr<Scanner> scanner, Millis interval);
  void start();

  // Lets the running batches finish and ends the loops. Not from the executor's own threads.
  void stop();

  std::vector<ScannerStatus> status() const;

  // For tests: every scanner once, until none has more to do.
  Async<void> run_once();

 private:
  struct Supervised {
    std::unique_ptr<Scanner> scanner;
    Millis interval;
    Wakeup stop_signal;
    ScannerStatus status;
  };

  asio::awaitable<void> loop(Supervised& supervised);
  Async<Scan> guarded_run(Supervised& supervised);

  asio::any_io_executor executor_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex status_mutex_;
  std::vector<std::unique_ptr<Supervised>> supervised_;
  CoroutineGroup loops_;
};

}  // namespace ff
