// One engine twice: on an embedded store and on Valkey, in the same simulated time and with the same
// randomness, so that both mint the same ids.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <random>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "engine/local_engine.hpp"
#include "http/wire/problem.hpp"
#include "http/wire/wire.hpp"
#include "sdk/client/blocking.hpp"
#include "store/embedded/memory_env.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"
#include "valkey/client.hpp"

namespace ff::differential {

// Fails the sequence that is being tried, by an exception.
[[noreturn]] void disagree(const std::string& text);

// A reply or an error with all that it says, as text.
template <class Reply>
std::string text_of(const Result<Reply>& result) {
  return boost::json::serialize(result ? http::to_fields(*result)
                                       : http::to_problem(result.error()));
}
std::string text_of(const Result<Bytes>& result);

class SeededRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override;
  void seed(std::uint64_t seed);

 private:
  std::mutex mutex_;
  std::mt19937_64 source_;
};

// Events published by an engine.
class Heard {
 public:
  void add(const Event& event);
  std::size_t size() const;
  // Of one execution in the order in which they came; one execution after the other.
  std::vector<std::string> take();

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

struct Side {
  std::string name;
  std::shared_ptr<SeededRandom> random = std::make_shared<SeededRandom>();
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  store::Store* store = nullptr;  // of the engine
  std::unique_ptr<LocalEngine> engine = {};
};

class Sides {
 public:
  explicit Sides(test::ValkeyServer& server);

  // Pending replies of both engines.
  template <class Op>
  using Both = std::array<test::Started<Op>, 2>;
  template <class Op>
  Both<Op> begin(const Op& operation) {
    return {test::start(*embedded_.engine, operation), test::start(*valkey_.engine, operation)};
  }
  // Reply of the first engine, after comparison with that of the second.
  template <class Op>
  Result<typename Op::Reply> finish(std::string_view what, std::array<test::Started<Op>, 2> both) {
    auto reply = both[0].get();
    compare(what, text_of(reply), text_of(both[1].get()));
    return reply;
  }
  template <class Op>
  Result<typename Op::Reply> run(std::string_view what, const Op& operation) {
    return finish<Op>(what, begin(operation));
  }

  // All pages, which need not end at the same places.
  std::vector<ExecutionInfo> list(const ListExecutions& query);

  TimePoint now() const { return clock_->now(); }
  void advance(Millis by) { clock_->advance(by); }
  void run_scanners();
  void restart();

  // Before a step: both go on from the same randomness, whatever they used of it before.
  void begin_step();
  // After it: both told the same.
  void compare_events();

  // The indexes are what the records call for.
  void check_indexes();

  // The words of the state vector as Valkey has them, with the public state last.
  std::future<Result<valkey::Reply>> stored_states(const ExecutionId& id);

 private:
  static void compare(std::string_view what, const std::string& embedded,
                      const std::string& valkey);
  std::vector<ExecutionInfo> list(Engine& engine, ListExecutions query);
  void open_embedded();
  void open_valkey();
  LocalEngineOptions options(const Side& side) const;

  test::ValkeyServer& server_;
  test::TempDirectory temp_;  // for the lock
  embedded::MemoryEnv env_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::uint64_t steps_ = 0;
  Side embedded_{.name = "embedded"};
  Side valkey_{.name = "valkey"};
  Runtime runtime_{1};
  valkey::Client client_;
};

}  // namespace ff::differential
