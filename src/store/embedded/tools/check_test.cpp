#include "store/embedded/tools/check.hpp"

#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/records.hpp"
#include "store/embedded/disk/resource_records.hpp"
#include "store/embedded/test_support.hpp"
#include "store/schedule_record.hpp"

namespace ff::embedded {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckTest : public StoreTest {
 protected:
  CheckTest() { open(); }

  core::Execution record_of(const ExecutionId& id) {
    close();
    const auto database = must(Database::open({.directory = database_directory(directory())}));
    for (const auto& key : {keys::live(id), keys::ended(id)})
      if (const auto bytes = must(database->get(key))) return must(decode(id, *bytes));
    throw std::runtime_error("there is no record of " + id.str());
  }
};

TEST_F(CheckTest, FindsNothingInANewStore) {
  const auto report = check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.live + report.ended + report.index_entries, 0u);
}

TEST_F(CheckTest, FindsNothingAfterAllThatCanHappen) {
  const Policy retrying{.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}, .retention = 1s};
  const auto retried = submit({.tags = {{"app.a", "1"}}, .policy = retrying});
  must(run(Fail{.id = retried, .fence = claim(retried), .reason = "once"}));
  complete(retried);
  const auto replayed = submit_and_complete({.tags = {{"app.a", "2"}}, .policy = retrying});
  must(run(SetTags{.id = replayed, .set = {{"app.b", "1"}}, .remove = {"app.a"}}));
  must(run(Replay{.id = replayed}));
  must(run(Cancel{.id = submit({.delay_until = clock_->now() + 1h}), .reason = "not needed"}));
  const auto lapsed = submit();
  claim(lapsed, 1ms);
  clock_->advance(1ms);
  must(run(core::TimerFire{.id = lapsed, .kind = core::TimerKind::lease_expiry}));
  claim(lapsed);
  const auto removed = submit_and_complete({.idempotency_key = *IdempotencyKey::parse("key"),
                                            .tags = {{"app.c", "1"}},
                                            .policy = {.dedup_window = 1s, .retention = 1s}});
  clock_->advance(2s);
  ASSERT_TRUE(must(run(core::Remove{removed})).removed);
  submit({.idempotency_key = *IdempotencyKey::parse("key")});
  must(run(ChangePriority{.id = submit(), .priority = 7}));

  const auto report = check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.live, 4u);
  EXPECT_EQ(report.ended, 2u);
  EXPECT_GT(report.index_entries, 6u);
}

TEST_F(CheckTest, ChangesNothing) {
  const auto id = submit_and_complete();
  check();
  check();
  open();
  EXPECT_EQ(state_of(id), ExecutionState::completed);
}

TEST_F(CheckTest, ReportsAMissingPayload) {
  const auto id = submit();
  erase(keys::payload(id));
  EXPECT_THAT(problems(), Contains(HasSubstr("its payload is missing")));
}

TEST_F(CheckTest, ReportsARecordInTheWrongPlace) {
  const auto id = submit_and_complete();
  const auto bytes = encode(record_of(id));
  edit([&](Database&, Changes& changes) {
    changes.erase(keys::ended(id));
    changes.put(keys::live(id), bytes);
  });
  EXPECT_THAT(problems(), Contains(HasSubstr("stored among those that have not ended")));
}

TEST_F(CheckTest, ReportsAnExecutionThatIsThereTwice) {
  const auto id = submit_and_complete();
  put(keys::live(id), encode(record_of(id)));
  EXPECT_THAT(problems(), Contains(HasSubstr("is stored as live and as ended")));
}

TEST_F(CheckTest, ReportsADamagedRecord) {
  const auto id = submit();
  put(keys::live(id), "rubbish");
  EXPECT_THAT(problems(), Contains(HasSubstr("the record of execution " + id.str())));
}

TEST_F(CheckTest, ReportsARecordWithAnOddKey) {
  put("x?", "rubbish");
  EXPECT_THAT(problems(), Contains(HasSubstr("key of an unknown form")));
}

TEST_F(CheckTest, ReportsWhatBelongsToNobody) {
  const auto gone = create().id;
  for (const auto& key : {keys::payload(gone), keys::result(gone), keys::attempt(gone, 0)}) {
    put(key, "rest");
    EXPECT_THAT(problems(), Contains(HasSubstr("is gone, but its data")));
    erase(key);
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(CheckTest, ReportsAMissingIndexEntry) {
  const auto id = submit_and_complete({.tags = {{"app.a", "1"}}});
  const auto record = record_of(id);
  for (const auto& [key, name] :
       {std::pair{keys::by_time(record.ns, record.created_at, id), "index by time"},
        {keys::by_tag(record.ns, "app.a", "1", record.created_at, id), "index by tag"},
        {keys::retention(core::retained_until(record), id), "index by retention"}}) {
    erase(key);
    EXPECT_THAT(problems(), Contains(HasSubstr(name)));
    put(key, "");
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(CheckTest, ReportsAnIndexEntryThatIsNotTrue) {
  const auto ended = submit_and_complete({.tags = {{"app.a", "1"}}});
  const auto live = submit();
  const auto record = record_of(ended);
  const auto gone = create().id;
  for (const auto& key : {keys::by_time(record.ns, record.created_at + 1ms, ended),
                          keys::by_time(*Namespace::parse("other"), record.created_at, ended),
                          keys::by_time(record.ns, record.created_at, gone),
                          keys::by_tag(record.ns, "app.a", "2", record.created_at, ended),
                          keys::retention(record.created_at, ended),
                          keys::retention(record.created_at, live), std::string("n?")}) {
    put(key, "");
    EXPECT_EQ(check().problem_count, 1u);
    erase(key);
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(CheckTest, ReportsAnIdempotencyKeyThatNamesAnother) {
  const auto keyed = submit({.idempotency_key = *IdempotencyKey::parse("mine")});
  const auto plain = submit();
  const auto key = keys::idempotency(default_namespace(), *IdempotencyKey::parse("other"));
  for (const auto& named : {plain, keyed, create().id}) {
    put(key, encode(IdempotencyEntry{.id = named, .until = clock_->now()}));
    EXPECT_THAT(problems(), Contains(HasSubstr("an idempotency key names it"))) << named.str();
  }
  put(key, "rubbish");
  EXPECT_EQ(check().problem_count, 1u);
}

TEST_F(CheckTest, ReportsAWrongCount) {
  submit_and_complete();
  const auto key = keys::ended_count(0, default_namespace(), default_lane());
  CountByState wrong{};
  wrong[static_cast<std::size_t>(ExecutionState::completed)] = 7;
  put(key, encode_ended(wrong));
  EXPECT_THAT(problems(), Contains(HasSubstr("the count of ended executions is wrong")));
  put(keys::ended_count(1, default_namespace(), *LaneId::parse("empty")), encode_ended(wrong));
  EXPECT_THAT(problems(), Contains(HasSubstr("lane 'empty'")));
  put(key, "rubbish");
  EXPECT_THAT(problems(), Contains(HasSubstr("a counter is damaged")));
}

TEST_F(CheckTest, FailsWhereThereIsNothingToCheck) {
  const auto nothing = embedded::check(temp_.path() / "nothing");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Errc::invalid_input);
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "nothing"));

  const auto busy = embedded::check(directory());
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Errc::store_locked);
}

TEST_F(CheckTest, LooksAtBudgetsAndQuotas) {
  const BudgetId budget{random_uuid()};
  const QuotaId quota{random_uuid()};
  must(run(CreateBudget{.id = budget, .spec = {.reset_interval = 1s}}));
  must(run(ReportUsage{.id = budget,
                       .amounts = {{"t", 1}},
                       .dedup_key = *DedupKey::parse("d"),
                       .execution = submit()}));
  must(run(CreateQuota{.id = quota, .spec = {.max_per_window = 1}}));
  must(run(
      core::Admit{.quota = quota, .token = QuotaTokenId{random_uuid()}, .execution = submit()}));
  const auto report = check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.budgets, 1u);
  EXPECT_EQ(report.quotas, 1u);

  put(keys::budget(budget), "rubbish");
  put(keys::quota(quota), "rubbish");
  EXPECT_THAT(problems(), Contains(HasSubstr("budget " + budget.str() + " is damaged")));
  EXPECT_THAT(problems(), Contains(HasSubstr("quota " + quota.str() + " is damaged")));
  erase(keys::budget(budget));
  erase(keys::quota(quota));
  EXPECT_THAT(problems(), Contains(HasSubstr("what an execution spent of it is not")));
  EXPECT_THAT(problems(), Contains(HasSubstr("a usage report to it is not")));
  EXPECT_THAT(problems(), Contains(HasSubstr("a start in its window is not")));
}

TEST_F(CheckTest, LooksAtSchedules) {
  core::Schedule schedule{
      .key = {.ns = default_namespace(), .name = *ScheduleName::parse("nightly")},
      .spec = {.cron = "@daily", .execution = Submit{.kind = *Kind::parse("k")}},
      .incarnation = random_uuid(),
      .anchor = clock_->now(),
      .next = clock_->now() + 1h,
      .created_at = clock_->now(),
      .updated_at = clock_->now()};
  core::SwapSchedule swap{
      .key = schedule.key,
      .next = core::StoredSchedule{.record = store::encode(schedule), .version = random_uuid()},
      .due = core::due_at(schedule)};
  must(run(swap));
  const auto report = check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.schedules, 1u);

  auto wrong = StoredScheduleRecord{.schedule = *swap.next, .due = clock_->now()};
  put(keys::schedule(schedule.key), encode(wrong));
  EXPECT_THAT(problems(), Contains(HasSubstr("it is not due when its record says")));
  put(keys::schedule({.ns = default_namespace(), .name = *ScheduleName::parse("other")}),
      encode(wrong));
  EXPECT_THAT(problems(), Contains(HasSubstr("its record is of default/nightly")));
  wrong.schedule.record = "rubbish";
  put(keys::schedule(schedule.key), encode(wrong));
  EXPECT_THAT(problems(), Contains(HasSubstr("the record of a schedule is damaged")));
}

TEST_F(CheckTest, ReportsAUsageReportThatIsNotIndexedByTimeAndTheOtherWayRound) {
  const BudgetId budget{random_uuid()};
  const keys::DedupEntry entry{.budget = budget, .key = *DedupKey::parse("d")};
  must(run(CreateBudget{.id = budget, .spec = {}}));
  const KnownReport known{.amounts = {}, .until = clock_->now()};
  put(keys::dedup(entry), encode(known));
  EXPECT_THAT(problems(), Contains(HasSubstr("would never be forgotten")));
  put(keys::dedup_until(known.until, entry), "");
  EXPECT_THAT(problems(), IsEmpty());
  put(keys::dedup_until(known.until + 1s, entry), "");
  EXPECT_THAT(problems(), Contains(HasSubstr("is not true of it")));
}

TEST_F(CheckTest, ReportsKeysOfAnUnknownFormOfBudgetsAndQuotas) {
  for (const auto prefix : {keys::budget_prefix, keys::ledger_prefix, keys::dedup_prefix,
                            keys::dedup_until_prefix, keys::quota_prefix, keys::place_prefix})
    put(std::string(prefix) + "short", "");
  EXPECT_EQ(check().problem_count, 6u);
}

}  // namespace
}  // namespace ff::embedded
