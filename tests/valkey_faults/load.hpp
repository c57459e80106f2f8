// A few submitters and workers on engines over one Valkey. They go on whatever happens.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/valkey_faults/ledger.hpp"

namespace ff::faults {

using namespace std::chrono_literals;

inline const Kind kind = *Kind::parse("faults");

// As a server has it: its own store, scanners and all.
std::unique_ptr<LocalEngine> open_engine(
    valkey::ClientOptions client,
    valkey_store::Durability durability = valkey_store::Durability::server);

class Load {
 public:
  // `open_max`: so many executions wait at most; the load does not run away. `shape` may change what is submitted.
  using Shape = std::function<void(Submit&)>;
  explicit Load(
      std::vector<Engine*> engines, std::size_t open_max = 200, Shape shape = [](Submit&) {});
  ~Load();

  // Until so many more executions were completed. Fails the test if it does not come to that in time:
  // the load did not recover.
  void await_progress(std::size_t completions = 50, Millis limit = 10s);

  // Suspends all submits and claims until go_on(); returns when none is under way.
  void hold();
  void go_on();

  // Submits no more, waits until everything that was submitted has ended, and says what does not hold.
  std::string finish(Millis limit = 15s);

  Ledger& ledger() { return ledger_; }

 private:
  void submit(Engine& engine, int number);
  void work(Engine& engine, int number);
  void handle(Engine& engine, const ClaimedExecution& execution, unsigned dice);

  std::vector<Engine*> engines_;
  std::size_t open_max_;
  Shape shape_;
  Ledger ledger_;
  std::atomic<bool> submitting_ = true;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<int> busy_ = 0;
  std::atomic<int> submitters_ = 0;  // that have not ended
  std::vector<std::jthread> threads_;
};

}  // namespace ff::faults
