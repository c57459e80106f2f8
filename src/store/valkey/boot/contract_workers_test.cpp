#include "store/valkey/boot/contract_workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

constexpr TimePoint now{Millis{1'800'000'000'000}};

std::optional<WorkerInfo> read(const ContractWorkerRecord& record) {
  return worker_of(record, default_namespace(), now);
}

ContractWorkerRecord registered() {
  return {.instance = "w1-i1",
          .capabilities = "cpu,gpu",
          .lanes = "mail,main",
          .ttl = Millis{60'000},
          .registered_at = now - Millis{900},
          .last_seen_at = now - Millis{100},
          .alive_for = Millis{59'900}};
}

TEST(ContractWorkers, RegisteredOneIsAliveUntilItsTtlIsOver) {
  const auto worker = read(registered());
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->worker.str(), "w1-i1");
  EXPECT_EQ(worker->capabilities.csv(), "cpu,gpu");
  EXPECT_THAT(worker->lanes, testing::ElementsAre(*LaneId::parse("mail"), *LaneId::parse("main")));
  EXPECT_EQ(worker->registered_at, now - Millis{900});
  EXPECT_EQ(worker->last_seen_at, now - Millis{100});
  EXPECT_EQ(worker->expires_at, now + Millis{59'900});
}

TEST(ContractWorkers, RegisteredOneWithoutSignOfLifeIsDead) {
  auto record = registered();
  record.alive_for = std::nullopt;
  EXPECT_FALSE(read(record));
}

// Its sign of life is never renewed.
TEST(ContractWorkers, AdvertisedOneNeedsNoSignOfLife) {
  const auto worker = read({.instance = "w2", .capabilities = "gpu", .lanes = ""});
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->capabilities.csv(), "gpu");
  EXPECT_GT(worker->expires_at, now);
}

TEST(ContractWorkers, NamesThatWorkersCannotHaveAreLeftOut) {
  auto record = registered();
  record.instance = "";
  EXPECT_FALSE(read(record));
}

}  // namespace
}  // namespace ff::valkey_store
