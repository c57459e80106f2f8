#include "tests/conformance/home.hpp"

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "http/client/remote_engine.hpp"
#include "http/server/server.hpp"
#include "store/embedded/embedded.hpp"
#include "store/valkey/open.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::conformance {
namespace {

class EmbeddedHome : public Home {
 public:
  EmbeddedHome() { open(); }

  Engine& engine() override { return *local_; }
  TimePoint now() const override { return clock_->now(); }
  void advance(Millis by) override { clock_->advance(by); }
  void run_scanners() override {
    must(test::run_blocking(local_->executor(), local_->scanners().run_once()));
  }
  void restart() override {
    local_.reset();
    open();
  }
  bool backs_up() const override { return true; }

 private:
  void open() {
    auto store = must(ff::embedded::open({.directory = temp_.path(), .clock = clock_}));
    local_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
  }

  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<LocalEngine> local_;
};

// On a Valkey that all tests of this process share, one after the other.
template <class Servers>
class ValkeyHome final : public Home {
 public:
  ValkeyHome() {
    servers().flushall();
    open();
  }

  Engine& engine() override { return *local_; }
  TimePoint now() const override { return clock_->now(); }
  void advance(Millis by) override { clock_->advance(by); }
  void run_scanners() override {
    must(test::run_blocking(local_->executor(), local_->scanners().run_once()));
  }
  void restart() override {
    local_.reset();
    open();
  }
  bool backs_up() const override { return false; }

 private:
  static Servers& servers() {
    static Servers all;
    return all;
  }
  void open() {
    auto store = must(ff::valkey_store::open(
        {.client = servers().client_options(), .sweep = false, .simulated_clock = clock_}));
    local_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<LocalEngine> local_;
};

// The same engine, asked through a server.
class HttpHome final : public Home {
 public:
  explicit HttpHome(std::unique_ptr<Home> inner) : inner_(std::move(inner)) { serve(); }

  Engine& engine() override { return *remote_; }
  TimePoint now() const override { return inner_->now(); }
  void advance(Millis by) override { inner_->advance(by); }
  void run_scanners() override { inner_->run_scanners(); }
  void restart() override {
    remote_.reset();
    server_.reset();
    inner_->restart();
    serve();
  }
  bool backs_up() const override { return inner_->backs_up(); }

 private:
  void serve() {
    server_ =
        std::make_unique<http::Server>(inner_->engine(), must(http::Listener::bind("127.0.0.1:0")));
    remote_ = must(http::RemoteEngine::open(server_->url()));
  }

  std::unique_ptr<Home> inner_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::RemoteEngine> remote_;
};

std::unique_ptr<Home> embedded() { return std::make_unique<EmbeddedHome>(); }
std::unique_ptr<Home> valkey() { return std::make_unique<ValkeyHome<test::ValkeyServer>>(); }
std::unique_ptr<Home> cluster() { return std::make_unique<ValkeyHome<test::ValkeyCluster>>(); }

template <std::unique_ptr<Home> (*inner)()>
std::unique_ptr<Home> over_http() {
  return std::make_unique<HttpHome>(inner());
}

}  // namespace

std::vector<HomeKind> home_kinds() {
  return {{"Embedded", embedded},     {"EmbeddedOverHttp", over_http<embedded>},
          {"Valkey", valkey},         {"ValkeyOverHttp", over_http<valkey>},
          {"ValkeyCluster", cluster}, {"ValkeyClusterOverHttp", over_http<cluster>}};
}

}  // namespace ff::conformance
