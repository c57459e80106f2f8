#include <flowfabric/flowfabric.hpp>

#include <flowfabric/engine.hpp>

#include <atomic>
#include <barrier>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "http/server.hpp"
#include "store/embedded/embedded_store.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// A worker and a client on an engine in process, or on one behind a server.
class SdkTest : public ::testing::TestWithParam<const char*> {
 protected:
  SdkTest() {
    auto store = must(embedded::EmbeddedStore::open({.directory = temp_.path(), .clock = clock_}));
    local_ = std::make_shared<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
    engine_ = local_;
    if (GetParam() == std::string_view("Remote")) {
      server_ = std::make_unique<http::Server>(*local_, must(http::Listener::bind("127.0.0.1:0")));
      engine_ = must(open(server_->url()));
    }
  }
  ~SdkTest() override { engine_.reset(); }

  Result<std::string> submit_and_wait(const char* kind, std::string payload = "") {
    Client client(*engine_);
    const auto submitted = must(client.submit({.kind = kind, .payload = std::move(payload)}));
    return client.result(submitted.id, 30s);
  }

  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<LocalEngine> local_;
  std::unique_ptr<http::Server> server_;
  std::shared_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(On, SdkTest, ::testing::Values("Local", "Remote"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(SdkTest, HandlerRunsAndItsResultComesBack) {
  Worker worker(*engine_);
  worker.handle("upper", [](Task& task) {
    auto text = task.payload();
    for (auto& c : text) c = static_cast<char>(std::toupper(c));
    return text;
  });
  must(worker.start());
  EXPECT_EQ(submit_and_wait("upper", "abc"), "ABC");
}

TEST_P(SdkTest, ExceptionFailsTheExecutionWithItsMessage) {
  Worker worker(*engine_);
  worker.handle("throws", [](Task&) -> std::string { throw std::runtime_error("out of paper"); });
  worker.handle("odd", [](Task&) -> std::string { throw 7; });
  worker.handle("long", [](Task&) -> std::string {
    throw std::runtime_error(std::string(9999, 'x') + "\xff");
  });
  worker.handle("large", [](Task&) { return std::string(9 * 1024 * 1024, 'x'); });
  worker.handle("mute", [](Task&) -> std::string { throw std::runtime_error(""); });
  must(worker.start());
  EXPECT_THAT(submit_and_wait("throws").error().message, HasSubstr("out of paper"));
  EXPECT_EQ(submit_and_wait("odd").error().code, Errc::execution_failed);
  EXPECT_THAT(submit_and_wait("long").error().message, HasSubstr("xxxx"));
  EXPECT_THAT(submit_and_wait("large").error().message,
              ::testing::AnyOf(HasSubstr("larger than"), HasSubstr("at most")));
  EXPECT_THAT(submit_and_wait("mute").error().message, HasSubstr("without a message"));
}

TEST_P(SdkTest, KindWithoutAHandlerFailsAndSaysSo) {
  Worker worker(*engine_, {.id = "w7"});
  must(worker.start());
  EXPECT_THAT(submit_and_wait("nobody").error().message,
              HasSubstr("worker w7 has no handler for kind 'nobody'"));
}

TEST_P(SdkTest, HandlersRunSideBySide) {
  constexpr int count = 4;
  std::barrier all_here(count);
  Worker worker(*engine_, {.concurrency = count});
  worker.handle("meet", [&](Task&) {
    all_here.arrive_and_wait();
    return "met";
  });
  must(worker.start());
  Client client(*engine_);
  std::vector<ExecutionId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(must(client.submit({.kind = "meet"})).id);
  for (const auto& id : ids) EXPECT_EQ(client.result(id, 30s), "met");
}

TEST_P(SdkTest, LeaseIsRenewedWhileTheHandlerRuns) {
  Worker worker(*engine_, {.lease_ttl = 60ms});
  worker.handle("slow", [&](Task& task) {
    const auto first_expiry = clock_->now() + 60ms;
    clock_->advance(30ms);
    Client client(*engine_);
    while (must(client.get(task.id())).lease_expires_at <= first_expiry) std::this_thread::yield();
    return std::string("done");
  });
  must(worker.start());
  EXPECT_EQ(submit_and_wait("slow"), "done");
}

TEST_P(SdkTest, HandlerIsToldThatItsLeaseIsLost) {
  std::promise<bool> told;
  Worker worker(*engine_, {.lease_ttl = 30ms});
  worker.handle("stuck", [&](Task& task) {
    clock_->advance(1h);
    while (!task.cancelled()) std::this_thread::yield();
    told.set_value(true);
    return std::string("too late");
  });
  must(worker.start());
  Client client(*engine_);
  const auto id = must(client.submit({.kind = "stuck"})).id;
  EXPECT_TRUE(told.get_future().get());
  worker.stop();
  EXPECT_EQ(must(client.get(id)).state, ExecutionState::active) << "its result must be refused";
}

TEST_P(SdkTest, StopWaitsForTheRunningHandler) {
  std::latch started(1), go_on(1);
  Worker worker(*engine_);
  worker.handle("slow", [&](Task&) {
    started.count_down();
    go_on.wait();
    return "done";
  });
  must(worker.start());
  Client client(*engine_);
  const auto id = must(client.submit({.kind = "slow"})).id;
  started.wait();
  std::jthread stopper([&] { worker.stop(); });
  go_on.count_down();
  stopper.join();
  EXPECT_EQ(client.result(id, 0ms), "done");
}

TEST_P(SdkTest, StoppedWorkerClaimsNothing) {
  {
    Worker worker(*engine_);
    worker.handle("k", [](Task&) { return ""; });
    must(worker.start());
  }
  Client client(*engine_);
  const auto id = must(client.submit({.kind = "k"})).id;
  EXPECT_EQ(must(client.get(id)).state, ExecutionState::waiting);
}

TEST_P(SdkTest, WrongInputIsRefusedWithAReason) {
  Client client(*engine_);
  EXPECT_EQ(client.submit({.kind = ""}).error().code, Errc::invalid_input);
  EXPECT_EQ(client.submit({.kind = "k", .lane = "a\nb"}).error().code, Errc::invalid_input);
  EXPECT_EQ(client.submit({.kind = "k", .id = "7"}).error().code, Errc::invalid_input);
  EXPECT_FALSE(Worker(*engine_, {.lanes = {""}}).start());
  EXPECT_FALSE(Worker(*engine_, {.lanes = {}}).start());
  EXPECT_FALSE(Worker(*engine_, {.lease_ttl = 0ms}).start());
  EXPECT_FALSE(Worker(*engine_, {.concurrency = 0}).start());
  Worker twice(*engine_);
  must(twice.start());
  EXPECT_FALSE(twice.start());
}

TEST_P(SdkTest, WaitingForAResultHasAnEnd) {
  Client client(*engine_);
  const auto id = must(client.submit({.kind = "k"})).id;
  EXPECT_EQ(client.result(id, 1ms).error().code, Errc::execution_not_terminal);
}

TEST(Open, NamesWhatItCannotOpen) {
  for (const char* url : {"", "embedded:", "redis://x", "ftp://x", "http://", "https://x",
                          "http://x/path", "http://u:p@x"}) {
    const auto engine = open(url);
    ASSERT_FALSE(engine) << url;
    EXPECT_EQ(engine.error().code, Errc::invalid_input) << url;
  }
}

TEST(Open, OfAServerThatIsNotThereFailsAtTheFirstCall) {
  const auto engine = must(open("http://127.0.0.1:1"));
  const auto reply = Client(*engine).submit({.kind = "k"});
  EXPECT_EQ(reply.error().code, Errc::unreachable);
  EXPECT_THAT(reply.error().message, HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace ff
