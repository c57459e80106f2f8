// A server that goes and comes back while others use it.
#include <atomic>
#include <latch>

#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

class RestartTest : public ::testing::Test {
 protected:
  ServerHome server_;
  std::shared_ptr<Engine> engine_ = must(open(server_.url()));
  Client client_{*engine_};
};

TEST_F(RestartTest, ResultOfARunningTaskIsNotLost) {
  std::latch started(1), server_is_gone(1);
  std::atomic<int> runs = 0;
  Worker worker(*engine_);
  worker.handle("k", [&](Task&) {
    started.count_down();
    server_is_gone.wait();
    return std::to_string(++runs);
  });
  must(worker.start());
  const auto id = must(client_.submit({.kind = "k"})).id;
  started.wait();
  server_.stop();
  server_is_gone.count_down();
  wait_until([&] { return runs == 1; });
  server_.start();
  EXPECT_EQ(client_.result(id, wait_max), "1");
  EXPECT_THAT(must(client_.attempts(id)), SizeIs(1));
}

TEST_F(RestartTest, WaitingWorkerGoesOnClaiming) {
  Worker worker(*engine_);
  worker.handle("k", [](Task&) { return "done"; });
  must(worker.start());
  EXPECT_EQ(client_.result(must(client_.submit({.kind = "k"})).id, wait_max), "done");
  server_.stop();
  server_.start();
  EXPECT_EQ(client_.result(must(client_.submit({.kind = "k"})).id, wait_max), "done");
}

TEST_F(RestartTest, ClientThatWaitsGoesOnWaiting) {
  const auto id = must(client_.submit({.kind = "k"})).id;
  std::jthread restart([&] {
    server_.stop();
    server_.start();
  });
  auto waiting = std::async(std::launch::async, [&] { return client_.result(id, wait_max); });
  restart.join();
  Worker worker(*engine_);
  worker.handle("k", [](Task&) { return "done"; });
  must(worker.start());
  EXPECT_EQ(waiting.get(), "done");
}

TEST_F(RestartTest, SubscriberIsToldThatEventsAreMissingAndGoesOn) {
  const auto place = must(client_.events()).next;
  must(client_.submit({.kind = "before"}));
  std::latch first(1), missed(1);
  std::vector<std::string> heard;
  std::jthread subscriber([&] {
    must(client_.subscribe({.after = place}, {.on_event =
                                                  [&](const Event& event) {
                                                    heard.push_back(event.kind.str());
                                                    if (heard.size() == 1) first.count_down();
                                                    return heard.size() < 2;
                                                  },
                                              .on_missed = [&] { missed.count_down(); }}));
  });
  first.wait();
  server_.stop();
  server_.start();
  missed.wait();
  must(client_.submit({.kind = "after"}));
  subscriber.join();
  EXPECT_THAT(heard, ElementsAre("before", "after"));
}

TEST_F(RestartTest, StopWhileTheServerIsGoneEnds) {
  Worker worker(*engine_);
  worker.handle("k", [](Task&) { return ""; });
  must(worker.start());
  server_.stop();
  worker.stop();
  server_.start();
}

}  // namespace
}  // namespace ff
