// An embedded store and its engine in a file system of their own, in memory, and in simulated time.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "sdk/client/blocking.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"
#include "store/embedded/tools/check.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::property {

struct Setup {
  std::size_t shards = 1;
  std::size_t threads = 1;               // of the engine
  std::size_t hot_bytes_max = 64 << 20;  // little: most calls read their execution from the disk
  store::Durability durability = store::Durability::relaxed;
};

class World {
 public:
  explicit World(Setup setup) : setup_(setup) { open(); }

  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return run_blocking(*engine_, std::move(operation));
  }
  TimePoint now() const { return clock_->now(); }
  void advance(Millis by) { clock_->advance(by); }

  // Until nothing is due: an execution may come due once more by what a scanner did to it, such as the
  // deadline of one whose grant ran out. The second run meets all of those.
  void run_scanners() {
    for (int i = 0; i < 2; ++i)
      must(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
  }

  // How many entries of the indexes were not as the records call for. None should ever be.
  std::size_t repaired() {
    std::vector<store::Reconcile> all;
    for (PartitionIndex i = 0; i < store_->partition_count(); ++i) all.push_back({.partition = i});
    std::size_t repaired = 0;
    for (const auto& reply :
         test::run_blocking(engine_->executor(), store_->run_all(std::move(all))))
      repaired += must(reply).repaired;
    return repaired + repaired_by_scanner();
  }

  void restart(std::size_t shards) {
    engine_.reset();
    setup_.shards = shards;
    open();
  }

  // The integrity check of what is on disk; the engine is closed meanwhile.
  embedded::CheckReport check() {
    engine_.reset();
    auto report = must(embedded::check(temp_.path(), {.env = env_.get()}));
    open();
    return report;
  }

 private:
  std::size_t repaired_by_scanner() {
    for (const auto& scanner : engine_->scanners().status())
      if (scanner.name == "index_reconciler") return scanner.changed;
    return 0;
  }

  void open() {
    auto store = must(embedded::open({.directory = temp_.path(),
                                      .clock = clock_,
                                      .shards = setup_.shards,
                                      .durability = setup_.durability,
                                      .hot_bytes_max = setup_.hot_bytes_max,
                                      .env = env_.get()}));
    store_ = store.get();
    engine_ = std::make_unique<LocalEngine>(
        std::move(store), LocalEngineOptions{.threads = setup_.threads, .scan = false});
  }

  Setup setup_;
  test::TempDirectory temp_;  // for the lock
  embedded::MemoryEnv env_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  store::Store* store_ = nullptr;  // of the engine
  std::unique_ptr<LocalEngine> engine_;
};

}  // namespace ff::property
