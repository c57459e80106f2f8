#include "store/embedded/disk/migration.hpp"

#include "records.pb.h"
#include "store/embedded/disk/format.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::IsEmpty;

std::string bytes_of(const Uuid& uuid) { return {uuid.bytes().begin(), uuid.bytes().end()}; }

const Fence held{.lease_id = LeaseId{random_uuid()},
                 .lease_epoch = LeaseEpoch{1},
                 .attempt_id = AttemptId{random_uuid()}};

void set_fence(proto::Fence& fence) {
  fence.set_lease_id(bytes_of(held.lease_id.uuid()));
  fence.set_lease_epoch(std::to_underlying(held.lease_epoch));
  fence.set_attempt_id(bytes_of(held.attempt_id.uuid()));
}

// A data directory as the first version left it.
class MigrationTest : public StoreTest {
 protected:
  MigrationTest() {
    edit([&](Database&, Changes& changes) {
      proto::Store store;
      store.set_format_version(1);
      store.set_partition_count(64);
      changes.put(keys::store, store.SerializeAsString());
      for (const auto& [id, record] : {std::pair{waiting_, record_of(0)},
                                       {running_, running()},
                                       {interrupted_, interrupted()},
                                       {completed_, completed()},
                                       {failed_, failed()}}) {
        const bool ended = record.has_completed_v1() || record.has_failed_v1();
        changes.put(ended ? keys::ended(id) : keys::live(id), record.SerializeAsString());
        changes.put(keys::payload(id), "payload of " + id.str());
      }
      changes.put(keys::result(completed_), "the result");
    });
  }

  proto::Execution record_of(std::uint32_t attempts) {
    proto::Execution record;
    record.set_namespace_("default");
    record.set_lane("default");
    record.set_kind("k");
    record.set_created_at_ms(ms(0));
    record.set_attempt_count(attempts);
    record.set_last_epoch(attempts);
    if (attempts > 0) record.set_started_at_ms(ms(1'000));
    record.mutable_waiting();
    return record;
  }
  proto::Execution running() {
    auto record = record_of(1);
    auto& lease = *record.mutable_active()->mutable_lease();
    set_fence(*lease.mutable_fence());
    lease.set_worker("w1");
    lease.set_expires_at_ms(ms(60'000));
    return record;
  }
  proto::Execution interrupted() {
    auto record = record_of(1);
    record.mutable_interrupted();
    return record;
  }
  proto::Execution completed() {
    auto record = record_of(1);
    record.mutable_completed_v1()->set_at_ms(ms(2'000));
    set_fence(*record.mutable_completed_v1()->mutable_by());
    return record;
  }
  proto::Execution failed() {
    auto record = record_of(1);
    record.mutable_failed_v1()->set_at_ms(ms(3'000));
    record.mutable_failed_v1()->set_reason("broke");
    set_fence(*record.mutable_failed_v1()->mutable_by());
    return record;
  }
  Millis::rep ms(Millis::rep since_start) const {
    return clock_->now().time_since_epoch().count() + since_start;
  }
  static ExecutionId new_id(PartitionIndex partition) { return {partition, random_uuid()}; }

  ExecutionId waiting_ = new_id(1), running_ = new_id(2), interrupted_ = new_id(3),
              completed_ = new_id(4), failed_ = new_id(63);
};

TEST_F(MigrationTest, KeepsEveryExecutionWithItsBytes) {
  EXPECT_EQ(open().partition_count(), 64);
  for (const auto& [id, state] : {std::pair{waiting_, ExecutionState::waiting},
                                  {running_, ExecutionState::active},
                                  {interrupted_, ExecutionState::active},
                                  {completed_, ExecutionState::completed},
                                  {failed_, ExecutionState::failed}}) {
    EXPECT_EQ(state_of(id), state) << id.str();
    EXPECT_EQ(must(run(GetPayload{id})).bytes, "payload of " + id.str());
  }
  EXPECT_EQ(must(run(store::ReadResult{completed_})).bytes, "the result");
  EXPECT_EQ(must(run(GetExecution{failed_})).failure_reason, "broke");
}

TEST_F(MigrationTest, ListsCountsAndRetainsThem) {
  open();
  EXPECT_EQ(must(run(ListExecutions{})).executions.size(), 5u);
  EXPECT_EQ(counts(), "waiting 1, active 2, completed 1, failed 1");
  clock_->advance(limits::retention_default + 3s);
  EXPECT_THAT(must(run(store::RetentionDue{.max = 10})).due,
              ::testing::ElementsAre(completed_, failed_));
  for (const auto& id : {completed_, failed_}) EXPECT_TRUE(must(run(core::Remove{id})).removed);
  EXPECT_EQ(counts(), "waiting 1, active 2");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(MigrationTest, LetsAWorkerGoOnUnderItsLease) {
  open();
  clock_->advance(58s);  // it began a second after its submit, so time goes on from there
  EXPECT_TRUE(run(Renew{.id = running_, .fence = held, .lease_ttl = 10s}));
  EXPECT_TRUE(run(Complete{.id = running_, .fence = held, .result = "done"}));
  EXPECT_EQ(must(run(store::ReadResult{running_})).bytes, "done");
  EXPECT_EQ(must(run(GetLeaseHistory{running_})).events.size(), 2u);
}

TEST_F(MigrationTest, LetsOthersClaimWhatIsFree) {
  open();
  const auto first = must(run(lease_grant(waiting_)));
  EXPECT_EQ(first.attempt_type, AttemptType::initial);
  const auto reclaimed = must(run(lease_grant(interrupted_)));
  EXPECT_EQ(reclaimed.attempt_type, AttemptType::reclaim);
  EXPECT_EQ(reclaimed.fence.lease_epoch, LeaseEpoch{(1 << 20) + 1})
      << "epochs that a power cut may have cost are skipped: older versions did not note their end";
  EXPECT_EQ(must(run(GetAttempts{interrupted_})).attempts.size(), 2u);
}

TEST_F(MigrationTest, AnswersARepeatedEndAsBefore) {
  open();
  EXPECT_EQ(must(run(Complete{.id = completed_, .fence = held})).state, ExecutionState::completed);
  EXPECT_EQ(must(run(Fail{.id = failed_, .fence = held, .reason = "broke"})).state,
            ExecutionState::failed);
}

TEST_F(MigrationTest, AnswersARepeatedSubmit) {
  open();
  EXPECT_TRUE(must(run(create({.id = waiting_}))).duplicate);
}

TEST_F(MigrationTest, LeavesNothingForTheCheckToFind) {
  open();
  const auto report = check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.live, 3u);
  EXPECT_EQ(report.ended, 2u);
}

TEST_F(MigrationTest, MayBeRepeated) {
  // Cut short before the store's own record was written, it begins again over its own work.
  for (int time = 0; time < 2; ++time)
    edit([](Database& database, Changes&) { must(migrate(database, 1)); });
  open();
  EXPECT_EQ(must(run(ListExecutions{})).executions.size(), 5u);
  EXPECT_EQ(counts(), "waiting 1, active 2, completed 1, failed 1");
  EXPECT_TRUE(run(Complete{.id = running_, .fence = held}));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(MigrationTest, IsNotForTheCheckToDo) {
  const auto report = embedded::check(directory());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, ::testing::HasSubstr("open it once"));
}

TEST_F(MigrationTest, StopsAtADamagedRecordAndLeavesTheFormatAsItWas) {
  put(keys::live(new_id(5)), "rubbish");
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
  const auto database = must(Database::open({.directory = database_directory(directory())}));
  EXPECT_EQ(must(read_format(*database))->version, 1u);
}

}  // namespace
}  // namespace ff::embedded
