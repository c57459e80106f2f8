#include "records.pb.h"
#include "store/embedded/disk/format.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/suspension_records.hpp"
#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShardWaitsTest : public StoreTest {
 protected:
  ShardWaitsTest() { open(); }

  // Suspended until two signals arrive, with a question and a state.
  ExecutionId suspended() {
    const auto id = submit();
    must(run(Suspend{.id = id,
                     .fence = claim(id),
                     .suspension_id = SuspensionId{random_uuid()},
                     .condition = {CountOf{.n = 2}},
                     .waitpoints = {{.key = *WaitpointKey::parse("w"),
                                     .id = WaitpointId{random_uuid()},
                                     .question = Question{.title = "Deploy?"}}},
                     .state = "half-way"}));
    return id;
  }
  Result<SignalReply> send(const ExecutionId& id, const char* key = "k") {
    return run(SendSignal{.id = id,
                          .name = *SignalName::parse("go"),
                          .signal_id = SignalId{random_uuid()},
                          .payload = "p",
                          .idempotency_key = *SignalKey::parse(key)});
  }
  static std::string waits_key(const ExecutionId& id) {
    return keys::belonging(id, core::Belonging::waits);
  }
  static std::string details_key(const ExecutionId& id) {
    return keys::belonging(id, core::Belonging::wait_details);
  }
};

TEST_F(ShardWaitsTest, SignalDoesNotRewriteQuestionsAndState) {
  const auto id = suspended();
  put(details_key(id), "untouched");
  open();
  EXPECT_EQ(must(send(id)).effect, SignalEffect::appended_to_waitpoint);
  edit([&](Database& database, Changes&) {
    EXPECT_EQ(must(database.get(details_key(id))), "untouched");
  });
}

TEST_F(ShardWaitsTest, SignalThatChangesNothingDoesNotRewriteTheWaits) {
  const auto id = submit();
  must(send(id, "first"));
  must(send(id, "second"));
  std::string before;
  edit([&](Database& database, Changes& changes) {
    before = *must(database.get(waits_key(id)));
    changes.put(waits_key(id), before + std::string("\x7a\0", 2));  // a field that nobody knows
  });
  open();
  must(send(id, "third"));
  edit([&](Database& database, Changes&) {
    EXPECT_EQ(must(database.get(waits_key(id)))->size(), before.size() + 2);
  });
}

TEST_F(ShardWaitsTest, MissingRecordsAreReportedAsDamage) {
  const auto id = suspended();
  for (const auto& key : {details_key(id), waits_key(id)}) {
    erase(key);
    open();
    const auto read = run(GetSuspension{id});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::store_damaged);
    EXPECT_THAT(read.error().message, HasSubstr(id.str()));
  }
  EXPECT_EQ(send(id).error().code, Errc::store_damaged);
}

TEST_F(ShardWaitsTest, RecordsBeforeFormatSevenKeepTheirQuestionsAndState) {
  const auto id = suspended();
  const auto expected = must(run(GetSuspension{id}));
  edit([&](Database& database, Changes& changes) {
    proto::Waits waits;
    ASSERT_TRUE(waits.ParseFromString(*must(database.get(waits_key(id)))));
    waits.clear_has_details();
    waits.mutable_suspension()->set_state("half-way");
    waits.mutable_waitpoints(0)->mutable_question()->set_title("Deploy?");
    changes.put(waits_key(id), waits.SerializeAsString());
    changes.erase(details_key(id));
    proto::Store store;
    ASSERT_TRUE(store.ParseFromString(*must(database.get(keys::store))));
    store.set_format_version(6);
    changes.put(keys::store, store.SerializeAsString());
  });
  open();
  EXPECT_EQ(must(run(GetSuspension{id})), expected);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(ShardWaitsTest, CheckReadsEveryRecord) {
  const auto id = suspended();
  must(send(id));
  const auto other = submit();
  must(run(PutStep{
      .id = other, .name = *StepName::parse("s"), .fence = claim(other), .result = "kept"}));
  EXPECT_THAT(problems(), IsEmpty());
  const auto damaged = [&](const std::string& key) {
    std::string whole;
    edit([&](Database& database, Changes& changes) {
      whole = must(database.get(key)).value();
      changes.put(key, "\xff");
    });
    const auto found = problems();
    put(key, whole);
    return found;
  };
  for (const auto& key :
       {waits_key(id), details_key(id), keys::signal(id, 0),
        keys::signal_key(id, *SignalKey::parse("k"))})
    EXPECT_THAT(damaged(key), Contains(HasSubstr(id.str())));
  EXPECT_THAT(damaged(keys::step(other, *StepName::parse("s"))), Contains(HasSubstr(other.str())));
  for (const auto& key : {waits_key(id), details_key(id), keys::signal(id, 0)}) {
    std::string whole;
    edit([&](Database& database, Changes&) { whole = must(database.get(key)).value(); });
    erase(key);
    EXPECT_THAT(problems(), Contains(HasSubstr("is missing")));
    put(key, whole);
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(ShardWaitsTest, RemovalLeavesNothing) {
  const auto id = suspended();
  must(send(id));
  must(run(Cancel{.id = id}));
  clock_->advance(limits::retention_default);
  ASSERT_TRUE(must(run(core::Remove{id})).removed);
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace ff::embedded
