// Fixture of the SDK's tests: an engine in process, a server in front of it, and calls that fail.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/flowfabric.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "http/client/remote_engine.hpp"
#include "http/server/server.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// How long a test waits for something that happens on another thread.
inline constexpr auto wait_max = 10s;

// Waits for a condition that another thread makes true; throws if it does not.
template <class Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + wait_max;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("a condition did not become true in 10 s");
    std::this_thread::yield();
  }
}

// An engine on a store of its own, and time that the test moves.
class LocalHome {
 public:
  LocalHome() { open(); }

  LocalEngine& engine() { return *engine_; }
  ManualClock& clock() { return *clock_; }
  void run_scanners() {
    must(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
  }
  void close() { engine_.reset(); }
  void open() {
    auto store = must(embedded::open({.directory = temp_.path(), .clock = clock_}));
    engine_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
  }

 private:
  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<LocalEngine> engine_;
};

// A server on a port of its own, which can go and come back with its engine.
class ServerHome : public LocalHome {
 public:
  ServerHome() : server_(serve("127.0.0.1:0")), address_(server_->url().substr(7)) {}

  std::string url() const { return "http://" + address_; }
  void stop() {
    server_.reset();
    close();
  }
  void start() {
    open();
    server_ = serve(address_);
  }

 private:
  std::unique_ptr<http::Server> serve(const std::string& address) {
    return std::make_unique<http::Server>(engine(), must(http::Listener::bind(address)));
  }

  std::unique_ptr<http::Server> server_;
  std::string address_;
};

// The same test on an engine in process and on one behind a server.
class SdkTest : public ::testing::TestWithParam<const char*> {
 protected:
  SdkTest()
      : remote_(GetParam() == std::string_view("Remote") ? must(open(home_.url())) : nullptr) {}

  Engine& engine() { return remote_ ? *remote_ : home_.engine(); }

  ExecutionId submit(NewExecution execution) {
    return must(Client(engine()).submit(std::move(execution))).id;
  }
  Result<std::string> submit_and_wait(NewExecution execution) {
    return Client(engine()).result(submit(std::move(execution)), wait_max);
  }

  ServerHome home_;
  std::shared_ptr<Engine> remote_;
};

inline auto everywhere() { return ::testing::Values("Local", "Remote"); }
inline std::string home_name(const ::testing::TestParamInfo<const char*>& test) {
  return test.param;
}

// An engine whose calls can be made to fail, before they reach the real one or on the way back.
class FaultyEngine final : public Engine {
 public:
  explicit FaultyEngine(Engine& engine) : engine_(engine) {}

  asio::any_io_executor executor() override { return engine_.executor(); }

  // The next `count` calls of Op fail with `code`; with `done`, only their answers are lost.
  template <class Op>
  void fail_next(int count, Errc code, bool done = false) {
    const std::lock_guard lock(mutex_);
    faults_[index_of<EngineOperations, Op>] = {count, code, done};
  }
  // As a server that does not know a field of Op: the next `count` calls are refused.
  template <class Op>
  void refuse_field(std::string field, int count) {
    fail_next<Op>(count, Errc::unknown_field);
    field_ = std::move(field);
  }
  template <class Op>
  int calls() const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(index_of<EngineOperations, Op>);
    return found == calls_.end() ? 0 : found->second;
  }
  // Every claim, as it came.
  std::vector<Claim> claims() const {
    const std::lock_guard lock(mutex_);
    return claims_;
  }

  asio::awaitable<void> perform(EngineCall& call) override {
    const auto fault = next_fault(call);
    if (!fault || fault->done) co_await engine_.perform(call);
    if (!fault) co_return;
    Error error{fault->code, "a fault of the test"};
    if (!field_.empty()) error.details.push_back({"field", field_});
    call.refuse(std::move(error));
  }

 private:
  struct Fault {
    int left;
    Errc code;
    bool done;
  };

  std::optional<Fault> next_fault(EngineCall& call) {
    const std::lock_guard lock(mutex_);
    ++calls_[call.index()];
    if (const auto* claim = call.get_if<Claim>()) claims_.push_back(claim->operation);
    auto& fault = faults_[call.index()];
    if (fault.left == 0) return std::nullopt;
    --fault.left;
    return fault;
  }

  Engine& engine_;
  mutable std::mutex mutex_;
  std::map<std::size_t, Fault> faults_;
  std::map<std::size_t, int> calls_;
  std::vector<Claim> claims_;
  std::string field_;  // set before the engine is used
};

}  // namespace ff
