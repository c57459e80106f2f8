#include "store/embedded/embedded_store.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "records.pb.h"
#include "store/embedded/keys.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::embedded {
namespace {

using ::testing::HasSubstr;

class EmbeddedStoreTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<EmbeddedStore>> open() {
    return EmbeddedStore::open({.directory = temp_.path(), .clock = clock_});
  }

  // What a program of another version, or a bad disk, may have left there.
  void put(std::string_view key, std::string_view value) {
    const auto database = Database::open(temp_.path() / "db");
    ASSERT_TRUE(database);
    Transaction transaction(**database);
    transaction.put(key, value);
    ASSERT_TRUE((*database)->write(transaction));
  }

  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

template <class Op>
Result<typename Op::Reply> run(EmbeddedStore& store, Op operation) {
  std::promise<Result<typename Op::Reply>> promise;
  auto future = promise.get_future();
  store.start(store::Call<Op>{std::move(operation), [&promise](Result<typename Op::Reply> reply) {
                                promise.set_value(std::move(reply));
                              }});
  return future.get();
}

core::Create create(PartitionIndex partition) {
  SystemRandom random;
  return {.id = ExecutionId{partition, make_uuid(TimePoint{}, random)},
          .submit = {.kind = *Kind::parse("k"), .payload = "p"}};
}

TEST_F(EmbeddedStoreTest, OpensWhatItMade) {
  ASSERT_TRUE(open());
  EXPECT_EQ((*open())->partition_count(), 256);
}

TEST_F(EmbeddedStoreTest, RefusesASecondOpening) {
  const auto first = open();
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::store_locked);
}

TEST_F(EmbeddedStoreTest, RefusesANewerFormat) {
  ASSERT_TRUE(open());
  proto::Store newer;
  newer.set_format_version(99);
  newer.set_partition_count(256);
  put(keys::store, newer.SerializeAsString());
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::store_too_new);
  EXPECT_THAT(store.error().message, HasSubstr("format 99"));
}

TEST_F(EmbeddedStoreTest, RefusesADamagedRecord) {
  ASSERT_TRUE(open());
  put(keys::live(create(1).id), "rubbish");
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::store_damaged);
}

TEST_F(EmbeddedStoreTest, FindsEverythingAgainAfterARestart) {
  constexpr int count = 50;
  std::vector<ExecutionId> ids;
  {
    auto store = *open();
    for (PartitionIndex partition = 0; partition < count; ++partition)
      ids.push_back(run(*store, create(partition))->id);
  }
  auto store = *open();
  const auto heads = run(
      *store, store::ReadyHeads{.ns = default_namespace(), .lanes = {default_lane()}, .max = 100});
  EXPECT_EQ(heads->size(), static_cast<std::size_t>(count));
  for (const auto& id : ids) EXPECT_EQ(run(*store, GetExecution{id})->id, id);
}

TEST_F(EmbeddedStoreTest, EmitsEventsOfWhatChangedAndNoOthers) {
  auto store = *open();
  std::vector<std::string> events;
  std::mutex mutex;
  store->set_event_sink([&](std::span<const core::Event> batch) {
    const std::lock_guard lock(mutex);
    for (const auto& event : batch) events.emplace_back(core::to_string(event.type));
  });
  const auto command = create(3);
  run(*store, command);
  run(*store, command);
  run(*store, GetExecution{command.id});
  const std::lock_guard lock(mutex);
  EXPECT_THAT(events, ::testing::ElementsAre("submitted"));
}

TEST_F(EmbeddedStoreTest, NeverLetsTimeRunBackwards) {
  auto store = *open();
  const auto command = create(3);
  run(*store, command);
  const auto leased = run(*store, core::LeaseGrant{.id = command.id,
                                                   .worker = *WorkerId::parse("w"),
                                                   .lease_id = {},
                                                   .attempt_id = {},
                                                   .lease_ttl = Millis{1000}});
  ASSERT_TRUE(leased);
  clock_->advance(Millis{-3'600'000});
  const auto renewed =
      run(*store, Renew{.id = command.id, .fence = leased->fence, .lease_ttl = Millis{1000}});
  ASSERT_TRUE(renewed);
  EXPECT_GE(renewed->lease_expires_at, leased->lease_expires_at);
}

TEST_F(EmbeddedStoreTest, AnswersManyCallersAtOnce) {
  auto store = *open();
  constexpr int callers = 8, calls = 200;
  std::atomic<int> accepted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&, i] {
        for (int n = 0; n < calls; ++n)
          if (run(*store, create(static_cast<PartitionIndex>((i * calls + n) % 256)))) ++accepted;
      });
  }
  EXPECT_EQ(accepted, callers * calls);
}

TEST_F(EmbeddedStoreTest, AnswersWhatWasStartedBeforeItClosed) {
  std::atomic<int> answered = 0;
  {
    auto store = *open();
    for (int i = 0; i < 100; ++i)
      store->start(store::Call<core::Create>{create(1), [&](auto reply) {
                                               if (reply) ++answered;
                                             }});
  }
  EXPECT_EQ(answered, 100);
}

}  // namespace
}  // namespace ff::embedded
