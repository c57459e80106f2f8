// Readers that follow streams while their Valkey server dies, or a replica takes over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <flowfabric/flowfabric.hpp>

#include <future>
#include <mutex>

#include "http/server/server.hpp"
#include "sdk/client/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "valkey/cluster/slot.hpp"

namespace ff::faults {
namespace {

using test::ValkeyCluster;
using test::ValkeyServer;

// The work of a stream's writer. What fails is repeated, as the SDK does.
class LastingWriter {
 public:
  LastingWriter(Engine& engine, ExecutionId id) : engine_(engine), id_(id) {
    fence_ = must(run_blocking(engine_,
                               ClaimExecution{
                                   .id = id_, .worker = *WorkerId::parse("w"), .lease_ttl = 5min}))
                 .fence;
  }

  void write(const std::string& text) {
    const auto reply = until_answered(
        AppendFrames{.id = id_, .fence = fence_, .written = written_, .frames = {{.bytes = text}}});
    ASSERT_TRUE(reply) << reply.error().message;
    ++written_;
  }
  void complete() {
    const auto reply = until_answered(Complete{.id = id_, .fence = fence_});
    EXPECT_TRUE(reply) << reply.error().message;
  }

 private:
  template <class Op>
  Result<typename Op::Reply> until_answered(const Op& operation) {
    while (true) {
      auto reply = run_blocking(engine_, Op(operation));
      if (reply || !reply.error().retryable()) return reply;
    }
  }

  Engine& engine_;
  ExecutionId id_;
  Fence fence_;
  std::uint64_t written_ = 0;
};

// Follows a stream from its beginning to its end on a thread of its own.
class Follower {
 public:
  Follower(Engine& engine, ExecutionId id)
      : ended_(std::async(std::launch::async, [this, &engine, id] {
          return Client(engine).tail({.id = id}, [this](const Frame& frame) {
            const std::lock_guard lock(mutex_);
            text_ += frame.bytes;
            return true;
          });
        })) {}

  void await_text(const std::string& text) {
    test::await(
        "it has read '" + text + "'",
        [&] {
          const std::lock_guard lock(mutex_);
          return text_ == text;
        },
        30s);
  }
  void await_end() {
    ASSERT_EQ(ended_.wait_for(30s), std::future_status::ready);
    const auto next = ended_.get();
    EXPECT_TRUE(next) << next.error().message;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::future<Result<std::uint64_t>> ended_;
};

TEST(ValkeyStreamFault, ReadersGoOnBehindAServerThatWasKilled) {
  ValkeyServer server({.append_only = true, .arguments = {"--appendfsync", "always"}});
  const auto engine = open_engine(server.client_options());
  http::Server http(*engine, must(http::Listener::bind("127.0.0.1:0")), {});
  const auto remote = must(open(http.url()));
  const auto id = must(run_blocking(*engine, Submit{.kind = kind})).id;
  LastingWriter writer(*engine, id);
  Follower direct(*engine, id), over_http(*remote, id);
  std::string text;
  const auto write = [&](const std::string& more) {
    writer.write(more);
    text += more;
    for (auto* each : {&direct, &over_http}) each->await_text(text);
  };
  write("a");
  for (int round = 0; round < 2; ++round) {
    server.kill();
    server.start();
    write("b");
    write("c");
  }
  writer.complete();
  for (auto* each : {&direct, &over_http}) each->await_end();
}

TEST(ValkeyStreamFault, ReadersGoOnWithTheReplicaThatTookOver) {
  constexpr std::size_t lost = 1;
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  const auto engine = open_engine(cluster.client_options());
  ExecutionId id;
  do {
    id = must(run_blocking(*engine, Submit{.kind = kind})).id;
  } while (ValkeyCluster::first_owner_of(
               valkey::slot_of(fmt::format("{{fp:{}}}", id.partition()))) != lost);
  LastingWriter writer(*engine, id);
  Follower follower(*engine, id);
  writer.write("a");
  follower.await_text("a");
  cluster.await_in_sync(lost);
  cluster.kill_primary(lost);
  writer.write("b");
  follower.await_text("ab");
  writer.complete();
  follower.await_end();
}

}  // namespace
}  // namespace ff::faults
