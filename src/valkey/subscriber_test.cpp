#include "valkey/subscriber.hpp"

#include <mutex>

#include "valkey/test_support.hpp"

namespace ff::valkey::test {
namespace {

using ff::test::await;
using ff::test::ValkeyCluster;
using ff::test::ValkeyServer;

// Keeps what a subscriber tells.
class Heard {
 public:
  Subscriber::Handlers handlers() {
    return {.on_message =
                [this](std::string_view channel, std::string_view message) {
                  const std::lock_guard lock(mutex_);
                  messages_.push_back(fmt::format("{}={}", channel, message));
                },
            .on_gap = [this] { ++gaps_; }};
  }
  int gaps() const { return gaps_; }
  std::vector<std::string> messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  bool has(const std::string& message) const {
    const auto all = messages();
    return std::ranges::find(all, message) != all.end();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
  std::atomic<int> gaps_ = 0;
};

class SubscriberTest : public ClientTest {
 protected:
  Heard heard_;
};

TEST_F(SubscriberTest, HearsItsChannels) {
  ValkeyServer server;
  const auto client = connect(server.client_options());
  Subscriber subscriber(*client, {"a", "b"}, heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 1; });
  EXPECT_EQ(run(*client, {"SPUBLISH", "a", "1"}), "1");
  EXPECT_EQ(run(*client, {"SPUBLISH", "other", "2"}), "0");
  EXPECT_EQ(run(*client, {"SPUBLISH", "b", "3"}), "1");
  await("both messages", [&] { return heard_.has("b=3"); });
  EXPECT_EQ(heard_.messages(), (std::vector<std::string>{"a=1", "b=3"}));
}

TEST_F(SubscriberTest, TellsOfAGapAfterARestart) {
  ValkeyServer server;
  const auto client = connect(server.client_options());
  Subscriber subscriber(*client, {"a"}, heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 1; });
  server.kill();
  server.start();
  await("subscribed again", [&] { return heard_.gaps() == 2; });
  server.call({"SPUBLISH", "a", "1"});
  await("the message", [&] { return heard_.has("a=1"); });
}

// A server without a link to its primary, which does not exist.
void make_replica(ValkeyServer& server) { server.call({"REPLICAOF", "127.0.0.1", "1"}); }

valkey::ClientOptions options_for(const ValkeyServer& first, const ValkeyServer& second) {
  auto options = first.client_options();
  options.endpoints.push_back(second.client_options().endpoints.front());
  return options;
}

TEST_F(SubscriberTest, PassesAReplicaBy) {
  ValkeyServer replica;
  ValkeyServer primary;
  make_replica(replica);
  const auto client = connect(options_for(replica, primary));
  Subscriber subscriber(*client, {"a"}, heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 1; });
  primary.call({"SPUBLISH", "a", "1"});
  await("the message", [&] { return heard_.has("a=1"); });
}

TEST_F(SubscriberTest, LeavesAServerThatHasBecomeAReplica) {
  ValkeyServer first;
  ValkeyServer second;
  const auto client = connect(options_for(first, second));
  Subscriber subscriber(*client, {"a"}, heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 1; });
  run(*client, {"SET", "k", "1"});
  make_replica(first);
  await("the client has left", [&] {
    run(*client, {"SET", "k", "2"});
    return second.call({"GET", "k"}).as_text() != nullptr;
  });
  await("subscribed again", [&] { return heard_.gaps() == 2; });
  second.call({"SPUBLISH", "a", "1"});
  await("the message", [&] { return heard_.has("a=1"); });
}

TEST_F(SubscriberTest, NoticesAServerThatStandsStill) {
  ValkeyServer server;
  auto options = server.client_options();
  options.ping_interval = 20ms;
  options.connect_timeout = 100ms;
  const auto client = connect(options);
  Subscriber subscriber(*client, {"a"}, heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 1; });
  const auto pings = [&] {
    const auto stats = *server.call({"INFO", "commandstats"}).as_text();
    const auto at = stats.find("cmdstat_ping:calls=");
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + 19));
  };
  const int before = pings();
  await("pings", [&] { return pings() > before + 3; });
  EXPECT_EQ(heard_.gaps(), 1);
  server.pause();
  EXPECT_THROW(await(
                   "a gap", [&] { return heard_.gaps() > 1; }, 150ms),
               std::runtime_error);
  server.resume();
  await("subscribed again", [&] { return heard_.gaps() >= 2; });
}

TEST_F(SubscriberTest, BeginsBeforeTheServer) {
  ValkeyServer server;
  server.kill();
  const auto client = connect(server.client_options());
  Subscriber subscriber(*client, {"a"}, heard_.handlers());
  server.start();
  await("subscribed", [&] { return heard_.gaps() == 1; });
}

TEST_F(SubscriberTest, GoesWithoutAServer) {
  ValkeyServer server;
  server.kill();
  const auto client = connect(server.client_options());
  const Subscriber at_once(*client, {"a"}, heard_.handlers());
  Subscriber closed(*client, {"a"}, heard_.handlers());
  closed.close();
  client->close();
}

class ClusterSubscriberTest : public SubscriberTest {
 protected:
  static std::vector<std::string> channels() {
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i) names.push_back(fmt::format("channel{}", i));
    return names;
  }
  // On every channel, until it has been heard.
  void expect_all(Client& client, const std::string& message) {
    for (const auto& channel : channels())
      await("the message on " + channel, [&] {
        run(client, {"SPUBLISH", channel, message});
        return heard_.has(channel + "=" + message);
      });
  }
};

TEST_F(ClusterSubscriberTest, HearsEveryNodeAndFollowsSlots) {
  ValkeyCluster cluster;
  const auto client = connect(cluster.client_options());
  Subscriber subscriber(*client, channels(), heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 3; });
  for (const auto& channel : channels()) EXPECT_EQ(run(*client, {"SPUBLISH", channel, "1"}), "1");

  const auto slot = slot_of("channel0");
  const auto from = ValkeyCluster::first_owner_of(slot);
  cluster.move_slot(slot, from, (from + 1) % 3);
  await("subscribed again", [&] { return heard_.gaps() >= 5; });
  expect_all(*client, "2");
}

TEST_F(ClusterSubscriberTest, HearsTheReplicaThatTakesOver) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  auto options = cluster.client_options();
  options.request_timeout = 10s;
  const auto client = connect(options);
  Subscriber subscriber(*client, channels(), heard_.handlers());
  await("subscribed", [&] { return heard_.gaps() == 3; });
  cluster.kill_primary(0);
  await("subscribed again", [&] { return heard_.gaps() >= 4; });
  expect_all(*client, "1");
}

}  // namespace
}  // namespace ff::valkey::test
