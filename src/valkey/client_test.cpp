#include "valkey/client.hpp"

#include <thread>

#include "tests/support/blocking.hpp"
#include "valkey/test_support.hpp"

namespace ff::valkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(ClientTest, RunsCommands) {
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"SET", "a", "1"}), "\"OK\"");
  EXPECT_EQ(run(*client, {"INCR", "a"}), "2");
  EXPECT_EQ(run(*client, {"GET", "none"}), "(nil)");
  EXPECT_EQ(run(*client, {"MGET", "a", "none"}), "[\"2\", (nil)]");
  EXPECT_THAT(run(*client, {"LPUSH", "a", "x"}), StartsWith("(error) WRONGTYPE"));
  EXPECT_EQ(run(*client, {"CLIENT", "GETNAME"}), "\"flowfabric\"");
}

TEST_F(ClientTest, CanBeAwaited) {
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  EXPECT_EQ(show(ff::test::run_blocking(runtime_.executor(), client->run({.command = {"PING"}}))),
            "\"PONG\"");
}

TEST_F(ClientTest, WithoutAClusterThereIsOneNode) {
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  const auto nodes = client->nodes();
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].slots, (std::vector<SlotRange>{{0, 16383}}));
  EXPECT_EQ(run(*client, Request{.command = {"PING"}, .route = nodes[0].name}), "\"PONG\"");
}

TEST_F(ClientTest, ManyThreadsGetTheirOwnAnswers) {
  constexpr int threads = 4, requests = 5000;
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  std::atomic<int> wrong = 0, missing = threads * requests;
  std::vector<std::jthread> senders;
  for (int t = 0; t < threads; ++t)
    senders.emplace_back([&, t] {
      for (int i = 0; i < requests; ++i) {
        const auto text = fmt::format("{}/{}", t, i);
        client->send({.command = {"ECHO", text}}, [&, text](Result<Reply> reply) {
          if (!reply || !reply->as_text() || *reply->as_text() != text) ++wrong;
          --missing;
        });
      }
    });
  ff::test::await("all answers", [&] { return missing == 0; });
  EXPECT_EQ(wrong, 0);
}

TEST_F(ClientTest, RequestsOfOneThreadKeepTheirOrder) {
  constexpr int requests = 3000;
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  std::vector<Future> answers;
  for (int i = 0; i < requests; ++i) answers.push_back(start(*client, {.command = {"INCR", "n"}}));
  for (int i = 0; i < requests; ++i)
    ASSERT_EQ(show(answers[static_cast<std::size_t>(i)].get()), std::to_string(i + 1));
}

TEST_F(ClientTest, BytesArriveAsTheyAre) {
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  std::string large(1024 * 1024, 'x');
  for (std::size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(i);
  const std::vector<std::string> payloads{"", std::string("\r\n\0$5\r\n", 8), large};
  for (const auto& payload : payloads) {
    std::vector<Future> set;
    for (int i = 0; i < 4; ++i)
      set.push_back(start(*client, {.command = {"SET", fmt::format("k{}", i), payload}}));
    for (auto& done : set) EXPECT_EQ(show(done.get()), "\"OK\"");
    for (int i = 0; i < 4; ++i) {
      const auto got = start(*client, {.command = {"GET", fmt::format("k{}", i)}}).get();
      EXPECT_TRUE(got && got->as_text() && *got->as_text() == payload);
    }
  }
}

TEST_F(ClientTest, AServerThatStandsStillIsGivenUp) {
  ff::test::ValkeyServer server;
  auto options = server.client_options();
  options.request_timeout = 300ms;
  const auto client = connect(options);
  EXPECT_EQ(run(*client, {"PING"}), "\"PONG\"");
  server.pause();
  EXPECT_THAT(
      run(*client, Request{.command = {"INCR", "n"}, .repeat = Repeat::unsafe}),
      ::testing::AllOf(StartsWith("timed_out: Valkey at 127.0.0.1:"),
                       HasSubstr("did not answer within 300 ms"), HasSubstr("may or may not")));
  EXPECT_THAT(run(*client, {"PING"}), StartsWith("store_unavailable: Valkey at 127.0.0.1:"));
  server.resume();
  ff::test::await("the server is back", [&] { return run(*client, {"PING"}) == "\"PONG\""; });
}

TEST_F(ClientTest, SafeRequestsSurviveARestart) {
  ff::test::ValkeyServer server({.append_only = true});
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"SET", "a", "kept"}), "\"OK\"");
  server.pause();
  auto on_its_way = start(*client, {.command = {"GET", "a"}});
  auto unsafe = start(*client, {.command = {"INCR", "n"}, .repeat = Repeat::unsafe});
  EXPECT_EQ(unsafe.wait_for(50ms), std::future_status::timeout);
  server.kill();
  EXPECT_THAT(
      show(unsafe.get()),
      ::testing::AllOf(StartsWith("store_unavailable: the connection to Valkey at 127.0.0.1:"),
                       HasSubstr("may or may not have been carried out")));
  auto while_down = start(*client, {.command = {"GET", "a"}});
  auto unsafe_while_down = start(*client, {.command = {"INCR", "n"}, .repeat = Repeat::unsafe});
  EXPECT_EQ(while_down.wait_for(50ms), std::future_status::timeout);
  server.start();
  EXPECT_EQ(show(on_its_way.get()), "\"kept\"");
  EXPECT_EQ(show(while_down.get()), "\"kept\"");
  EXPECT_EQ(show(unsafe_while_down.get()), "1");  // it was not sent before
}

TEST_F(ClientTest, UnsafeRequestsAreNeverCarriedOutTwice) {
  ff::test::ValkeyServer server({.append_only = true, .arguments = {"--appendfsync", "always"}});
  const auto client = connect(server.client_options());
  std::atomic<int> pending = 0, done = 0, in_doubt = 0;
  std::atomic<bool> enough = false;
  std::jthread sender([&] {
    while (!enough) {
      ff::test::await("room", [&] { return pending < 100 || enough; });
      ++pending;
      client->send({.command = {"INCR", "n"}, .repeat = Repeat::unsafe}, [&](Result<Reply> reply) {
        ++(reply ? done : in_doubt);
        --pending;
      });
    }
  });
  for (int i = 0; i < 5; ++i) {
    const int before = done;
    ff::test::await("some are done", [&] { return done > before + 200; });
    server.kill();
    server.start();
  }
  enough = true;
  ff::test::await("all answers", [&] { return pending == 0; });
  const auto counted = start(*client, {.command = {"GET", "n"}}).get();
  const int n = std::stoi(*must(counted).as_text());
  EXPECT_GE(n, done);
  EXPECT_LE(n, done + in_doubt);
}

TEST_F(ClientTest, WithoutAServerRequestsFailInTime) {
  ClientOptions options;
  options.endpoints.push_back(TcpEndpoint{"127.0.0.1", ff::test::free_port()});
  options.request_timeout = 200ms;
  const auto client = connect(options);
  EXPECT_THAT(run(*client, {"PING"}),
              ::testing::AllOf(StartsWith("store_unavailable: Valkey at 127.0.0.1:"),
                               HasSubstr("Connection refused")));
}

TEST_F(ClientTest, TheNextEndpointIsTried) {
  ff::test::ValkeyServer server;
  auto options = server.client_options();
  options.endpoints.insert(options.endpoints.begin(),
                           TcpEndpoint{"127.0.0.1", ff::test::free_port()});
  const auto client = connect(options);
  EXPECT_EQ(run(*client, {"PING"}), "\"PONG\"");
}

TEST_F(ClientTest, AReplicaIsLeftForTheNextEndpoint) {
  ff::test::ValkeyServer first, second;
  auto options = first.client_options();
  options.endpoints.push_back(second.client_options().endpoints[0]);
  const auto client = connect(options);
  EXPECT_EQ(run(*client, {"SET", "a", "first"}), "\"OK\"");
  first.call({"REPLICAOF", "127.0.0.1", std::to_string(second.port())});
  EXPECT_EQ(run(*client, {"SET", "a", "second"}), "\"OK\"");
  EXPECT_EQ(to_text(second.call({"GET", "a"})), "\"second\"");
}

TEST_F(ClientTest, HostsHaveNames) {
  ff::test::ValkeyServer server;
  auto options = server.client_options();
  std::get<TcpEndpoint>(options.endpoints[0]).host = "localhost";
  const auto client = connect(options);
  EXPECT_EQ(run(*client, {"PING"}), "\"PONG\"");
}

TEST_F(ClientTest, ARunningScriptIsWaitedFor) {
  ff::test::ValkeyServer server({.arguments = {"--busy-reply-threshold", "1"}});
  const auto client = connect(server.client_options());
  const auto other = connect(server.client_options());
  auto busy = start(*other, {.command = {"EVAL", "while true do end", "0"}});
  ff::test::await("the script runs",
                  [&] { return to_text(server.call({"PING"})).starts_with("(error) BUSY"); });
  auto waiting = start(*client, {.command = {"INCR", "n"}, .repeat = Repeat::unsafe});
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  server.call({"SCRIPT", "KILL"});
  EXPECT_EQ(show(waiting.get()), "1");
  EXPECT_THAT(show(busy.get()), HasSubstr("killed"));
}

TEST_F(ClientTest, AServerThatStaysAReplicaIsAnError) {
  ff::test::ValkeyServer server;
  auto options = server.client_options();
  options.request_timeout = 200ms;
  const auto client = connect(options);
  server.call({"REPLICAOF", "127.0.0.1", std::to_string(ff::test::free_port())});
  EXPECT_THAT(run(*client, {"SET", "a", "1"}),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("READONLY")));
  auto waiting = start(*client, {.command = {"SET", "a", "1"}});
  server.call({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(show(waiting.get()), "\"OK\"");
}

TEST_F(ClientTest, ClosingAnswersWhatIsPending) {
  ff::test::ValkeyServer server;
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"PING"}), "\"PONG\"");
  server.pause();
  std::vector<Future> pending;
  for (int i = 0; i < 1000; ++i)
    pending.push_back(start(*client, {.command = {"SET", "a", std::string(10'000, 'x')}}));
  EXPECT_EQ(pending.front().wait_for(20ms), std::future_status::timeout);
  client->close();
  for (auto& answer : pending)
    EXPECT_EQ(show(answer.get()), "store_unavailable: the Valkey client has been closed");
  EXPECT_EQ(run(*client, {"PING"}), "store_unavailable: the Valkey client has been closed");
}

TEST_F(ClientTest, GoesWhileOthersSend) {
  ff::test::ValkeyServer server;
  std::atomic<int> missing = 0;
  {
    const auto client = connect(server.client_options());
    std::vector<std::jthread> senders;
    for (int t = 0; t < 4; ++t)
      senders.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          ++missing;
          client->send({.command = {"PING"}}, [&](Result<Reply>) { --missing; });
        }
      });
    client->close();
  }
  ff::test::await("all answers", [&] { return missing == 0; });
}

}  // namespace
}  // namespace ff::valkey::test
