#include <thread>

#include "valkey/test_support.hpp"

namespace ff::valkey::test {
namespace {

using ff::test::ValkeyCluster;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ClusterTest : public ClientTest {};

// Writes one key after the other until it is destroyed; what fails is counted.
class Writer {
 public:
  explicit Writer(Client& client)
      : thread_([this, &client](std::stop_token stop) {
          for (int i = 0; !stop.stop_requested(); ++i) {
            const auto result = run(client, {"SET", fmt::format("key{}", i), "x"});
            ++(result == "\"OK\"" ? written_ : failed_);
          }
        }) {}

  int written() const { return written_; }
  int failed() const { return failed_; }

 private:
  std::atomic<int> written_ = 0, failed_ = 0;
  std::jthread thread_;
};

TEST_F(ClusterTest, FindsTheNodeOfEachKey) {
  ValkeyCluster cluster;
  const auto client = connect(cluster.client_options());
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(run(*client, {"SET", fmt::format("key{}", i), "x"}), "\"OK\"");
  EXPECT_EQ(run(*client, Request{.command = {"PING"}}), "\"PONG\"");

  const auto nodes = client->nodes();
  ASSERT_EQ(nodes.size(), 3U);
  int keys = 0;
  for (const auto& node : nodes) {
    const auto size = start(*client, {.command = {"DBSIZE"}, .route = node.name}).get();
    keys += static_cast<int>(*must(size).as_int());
  }
  EXPECT_EQ(keys, 100);
  EXPECT_THAT(run(*client, Request{.command = {"PING"}, .route = NodeName{"127.0.0.1:1"}}),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("not a primary")));
}

TEST_F(ClusterTest, FollowsASlotThatMoves) {
  ValkeyCluster cluster;
  const auto client = connect(cluster.client_options());
  const std::uint16_t slot = slot_of("{t}");
  const auto from = ValkeyCluster::first_owner_of(slot), to = (from + 1) % 3;
  EXPECT_EQ(run(*client, {"MSET", "{t}a", "1", "{t}b", "2"}), "\"OK\"");

  cluster.begin_move(slot, from, to);
  EXPECT_EQ(run(*client, {"GET", "{t}a"}), "\"1\"");          // is still there
  EXPECT_EQ(run(*client, {"SET", "{t}new", "3"}), "\"OK\"");  // ASK: goes to the other node
  EXPECT_EQ(run(*client, {"GET", "{t}new"}), "\"3\"");
  EXPECT_EQ(to_text(cluster.primary(from).call({"DBSIZE"})), "2");
  EXPECT_EQ(to_text(cluster.primary(to).call({"DBSIZE"})), "1");
  auto both = start(*client, {.command = {"MGET", "{t}a", "{t}new"}, .route = slot});  // TRYAGAIN
  EXPECT_EQ(both.wait_for(50ms), std::future_status::timeout);

  cluster.finish_move(slot, from, to);
  EXPECT_EQ(show(both.get()), "[\"1\", \"3\"]");
  EXPECT_EQ(run(*client, {"GET", "{t}b"}), "\"2\"");  // MOVED
  ff::test::await("the client knows", [&] {
    const auto nodes = client->nodes();
    return std::ranges::any_of(nodes, [&](const Node& node) {
      return node.endpoint == cluster.primary(to).client_options().endpoints[0] &&
             std::ranges::count(node.slots, SlotRange{slot, slot}) == 1;
    });
  });
}

TEST_F(ClusterTest, NoRequestFailsWhileSlotsMove) {
  ValkeyCluster cluster;
  const auto client = connect(cluster.client_options());
  Writer writer(*client);
  for (std::uint16_t slot = 0; slot < 100; ++slot) cluster.move_slot(slot, 0, 1);
  const auto before = writer.written();
  ff::test::await("more is written", [&] { return writer.written() > before + 1000; });
  EXPECT_EQ(writer.failed(), 0);
}

TEST_F(ClusterTest, AReplicaTakesOver) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  auto options = cluster.client_options();
  options.request_timeout = 15s;
  const auto client = connect(options);
  Writer writer(*client);
  ff::test::await("the load runs", [&] { return writer.written() > 100; });
  cluster.kill_primary(0);  // which is also the one that was given as the seed
  ff::test::await("the replica is a primary", [&] {
    return to_text(cluster.replica(0).call({"ROLE"})).starts_with("[\"master\"");
  });
  const auto before = writer.written();
  ff::test::await("more is written", [&] { return writer.written() > before + 1000; });
  EXPECT_EQ(writer.failed(), 0);
}

TEST_F(ClusterTest, ALonelyServerIsNoCluster) {
  ff::test::ValkeyServer server;
  auto options = server.client_options();
  options.cluster = true;
  const auto client = connect(options);
  EXPECT_THAT(run(*client, {"GET", "a"}),
              ::testing::AllOf(StartsWith("invalid_input: Valkey at 127.0.0.1:"),
                               HasSubstr("use valkey://")));
}

TEST_F(ClusterTest, AClusterIsNoLonelyServer) {
  ValkeyCluster cluster;
  auto options = cluster.client_options();
  options.cluster = false;
  const auto client = connect(options);
  for (int i = 0; i < 2; ++i) {
    const auto key = fmt::format("{{{}}}", i);
    if (ValkeyCluster::first_owner_of(slot_of(key)) == 0) continue;
    EXPECT_THAT(run(*client, {"GET", key}),
                ::testing::AllOf(StartsWith("invalid_input"), HasSubstr("use valkey-cluster://")));
  }
}

TEST_F(ClusterTest, WithoutNodesRequestsFailInTime) {
  ClientOptions options;
  options.cluster = true;
  options.request_timeout = 300ms;
  for (int i = 0; i < 2; ++i)
    options.endpoints.push_back(TcpEndpoint{"127.0.0.1", ff::test::free_port()});
  const auto client = connect(options);
  EXPECT_THAT(run(*client, {"GET", "a"}),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("Connection refused")));
}

TEST_F(ClusterTest, ClosesAtAnyTime) {
  ValkeyCluster cluster;
  for (int i = 0; i < 20; ++i) {
    const auto client = connect(cluster.client_options());
    std::vector<Future> answers;
    for (int k = 0; k < 50 * i; ++k)
      answers.push_back(
          start(*client, {.command = {"GET", "a"}, .route = static_cast<std::uint16_t>(k)}));
    client->close();
    for (auto& answer : answers) answer.get();
  }
}

}  // namespace
}  // namespace ff::valkey::test
