#include "store/embedded/resources/workers.hpp"

#include <flowfabric/limits.hpp>

#include "store/embedded/resources/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::SizeIs;

using WorkersTest = DeskTest;

TEST_F(WorkersTest, KnowsTheWorkersThatAreAlive) {
  open();
  const auto start = clock_->now();
  const auto registered = must(run(RegisterWorker{
      .worker = worker("a"), .capabilities = *CapabilitySet::parse({"gpu"}), .ttl = 10s}));
  EXPECT_EQ(registered, (RegisterReply{.known = false, .expires_at = start + 10s}));
  must(run(RegisterWorker{.worker = worker("b"), .ttl = 30s}));
  must(run(RegisterWorker{.worker = worker("c"), .ns = *Namespace::parse("other")}));

  clock_->advance(9s);
  EXPECT_EQ(must(run(HeartbeatWorker{.worker = worker("a")})),
            (RegisterReply{.known = true, .expires_at = start + 19s}));
  clock_->advance(9s);
  const auto both = must(run(core::LiveWorkers{default_namespace()}));
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].worker, worker("a"));
  EXPECT_EQ(both[0].capabilities.csv(), "gpu");
  EXPECT_EQ(both[0].registered_at, start);
  EXPECT_EQ(both[0].last_seen_at, start + 9s);

  clock_->advance(1s);
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("a")}), Errc::worker_not_found);
  EXPECT_THAT(must(run(core::LiveWorkers{default_namespace()})), SizeIs(1));
  EXPECT_FALSE(must(run(RegisterWorker{.worker = worker("a")})).known);
  must(run(DeregisterWorker{.worker = worker("b")}));
  must(run(DeregisterWorker{.worker = worker("b")}));
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("b")}), Errc::worker_not_found);
  EXPECT_THAT(must(run(core::LiveWorkers{default_namespace()})), SizeIs(1));
}

TEST_F(WorkersTest, RemembersThatAWorkerDrains) {
  open();
  must(run(RegisterWorker{.worker = worker("a"), .ttl = 10s}));
  EXPECT_TRUE(must(run(DrainWorker{.worker = worker("a")})).draining);
  EXPECT_TRUE(must(run(HeartbeatWorker{.worker = worker("a")})).draining);
  const auto again = must(run(RegisterWorker{.worker = worker("a"), .ttl = 10s}));
  EXPECT_TRUE(again.known);
  EXPECT_TRUE(again.draining);
  EXPECT_FALSE(must(run(DrainWorker{.worker = worker("a"), .draining = false})).draining);
  must(run(DrainWorker{.worker = worker("a")}));
  clock_->advance(10s);
  EXPECT_EQ(error_of(DrainWorker{.worker = worker("a")}), Errc::worker_not_found);
  EXPECT_FALSE(must(run(RegisterWorker{.worker = worker("a")})).draining) << "it is a new one";
}

TEST_F(WorkersTest, HasRoomForSoManyWorkersThatAreAlive) {
  auto& store = open();
  std::vector<std::future<Result<RegisterReply>>> replies;
  for (std::size_t i = 0; i < limits::workers_max; ++i)
    replies.push_back(
        start(store, RegisterWorker{.worker = *WorkerId::parse(fmt::format("w{}", i)), .ttl = 9s}));
  for (auto& reply : replies) ASSERT_TRUE(reply.get());
  EXPECT_EQ(error_of(RegisterWorker{.worker = worker("one-more")}), Errc::resource_exhausted);
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("w7"), .ttl = 9s}));
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("one-more"), .ns = *Namespace::parse("other")}));
  clock_->advance(9s);
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("one-more")}));
}

}  // namespace
}  // namespace ff::embedded
