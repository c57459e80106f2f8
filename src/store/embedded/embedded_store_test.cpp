#include "store/embedded/embedded.hpp"

#include "store/embedded/disk/keys.hpp"
#include "store/embedded/test_support.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

class EmbeddedStoreTest : public StoreTest {
 protected:
  std::vector<ExecutionId> take(std::size_t max = 1000) {
    std::vector<ExecutionId> ids;
    for (const auto& each : must(run(store::TakeReady{.ns = default_namespace(),
                            .lanes = {default_lane()},
                            .capabilities = {},
                            .max = max})))
      ids.push_back(each.id);
    return ids;
  }
  std::vector<ExecutionId> submit_many(int count) {
    std::vector<ExecutionId> ids;
    for (int i = 0; i < count; ++i) ids.push_back(submit());
    return ids;
  }
};

TEST_F(EmbeddedStoreTest, OpensWhatItMade) {
  open();
  EXPECT_EQ(open().partition_count(), 256);
}

TEST_F(EmbeddedStoreTest, RefusesASecondOpening) {
  open();
  const auto second = embedded::open(options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::store_locked);
}

TEST_F(EmbeddedStoreTest, RefusesADamagedRecord) {
  open();
  put(keys::live(create().id), "rubbish");
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
}

TEST_F(EmbeddedStoreTest, RefusesADamagedCounter) {
  open();
  put(keys::ended_count(0, default_namespace(), default_lane()), "rubbish");
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
}

TEST_F(EmbeddedStoreTest, FindsEverythingAgainAfterARestart) {
  open();
  const auto ids = submit_many(50);
  open();
  EXPECT_THAT(take(), UnorderedElementsAreArray(ids));
  for (const auto& id : ids) EXPECT_EQ(must(run(GetExecution{id})).id, id);
}

TEST_F(EmbeddedStoreTest, BringsBackALifeInFull) {
  open();
  const auto id = submit({.payload = "in",
                          .tags = {{"app.a", "1"}},
                          .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  must(run(Fail{.id = id, .fence = claim(id), .reason = "first"}));
  complete(id, "out");
  must(run(Replay{.id = id, .reason = "again", .requested_by = "ops"}));
  complete(id, std::string("\0bytes", 6));
  const auto info = must(run(GetExecution{id}));
  const auto attempts = must(run(GetAttempts{id})).attempts;
  const auto leases = must(run(GetLeaseHistory{id})).events;

  open();
  EXPECT_EQ(must(run(GetExecution{id})), info);
  EXPECT_EQ(must(run(GetAttempts{id})).attempts, attempts);
  EXPECT_EQ(must(run(GetLeaseHistory{id})).events, leases);
  EXPECT_EQ(must(run(GetPayload{id})).bytes, "in");
  EXPECT_EQ(must(run(store::ReadResult{id})).bytes, std::string("\0bytes", 6));
  EXPECT_EQ(attempts.size(), 3u);
}

TEST_F(EmbeddedStoreTest, KeepsALeaseOverARestart) {
  open();
  const auto id = submit();
  const auto fence = claim(id, 10s);
  open();
  EXPECT_THAT(take(), IsEmpty());
  clock_->advance(9s);
  EXPECT_EQ(must(run(store::TimersDue{.kind = core::TimerKind::lease_expiry, .max = 9})).next,
            clock_->now() + 1s);
  EXPECT_TRUE(run(Complete{.id = id, .fence = fence}));
}

TEST_F(EmbeddedStoreTest, RemembersIdempotencyKeysOverARestart) {
  open();
  const Work keyed{.idempotency_key = *IdempotencyKey::parse("once"), .payload = "p"};
  const auto id = submit(keyed);
  open();
  const auto again = must(run(create(keyed)));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.id, id);
  auto other = keyed;
  other.payload = "other";
  EXPECT_EQ(run(create(other)).error().code, Errc::duplicate_mismatch);
}

// One batch holds them all: what the first of them did is not in the database yet.
TEST_F(EmbeddedStoreTest, SeesWhatTheSameBatchDidBefore) {
  auto& store = open();
  const auto command = create({.idempotency_key = *IdempotencyKey::parse("once"), .payload = "in"});
  auto again = command;
  again.id = {command.id.partition(), random_uuid()};
  const auto lease = lease_grant(command.id);
  const Fence fence{
      .lease_id = lease.lease_id, .lease_epoch = LeaseEpoch{1}, .attempt_id = lease.attempt_id};
  std::vector<std::string> told;
  std::promise<void> last;
  std::vector<store::AnyCall> calls;
  const auto add = [&]<class Op>(Op operation, auto show) {
    calls.push_back(store::Call<Op>{std::move(operation), [&, show](auto reply) {
                                      told.push_back(reply ? show(*reply)
                                                           : std::string(reply.error().name()));
                                      if (told.size() == 7) last.set_value();
                                    }});
  };
  const auto submitted = [](const SubmitReply& r) {
    return std::string(r.duplicate ? "duplicate" : "new");
  };
  const auto bytes = [](const Bytes& r) { return r.bytes; };
  add(command, submitted);
  add(again, submitted);
  add(lease, [](const ClaimedExecution& r) { return r.payload; });
  add(GetPayload{command.id}, bytes);
  add(Complete{.id = command.id, .fence = fence, .result = "out"},
      [](const EndReply& r) { return std::string(to_string(r.state)); });
  add(store::ReadResult{command.id}, bytes);
  add(GetAttempts{command.id}, [](const Attempts& r) { return std::to_string(r.attempts.size()); });
  store.start(std::move(calls));
  last.get_future().wait();
  EXPECT_THAT(told, ElementsAre("new", "duplicate", "in", "in", "completed", "out", "1"));
}

TEST_F(EmbeddedStoreTest, ServesMoreThanMemoryMayHold) {
  auto small = options();
  small.hot_bytes_max = 20'000;
  open(small);
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(submit({.payload = std::string(2'000, static_cast<char>('a' + i % 26))}));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto claimed = must(run(lease_grant(ids[i])));
    EXPECT_EQ(claimed.payload, std::string(2'000, static_cast<char>('a' + i % 26)));
    must(run(Complete{.id = ids[i], .fence = claimed.fence, .result = ids[i].str()}));
  }
  for (const auto& id : ids) EXPECT_EQ(must(run(store::ReadResult{id})).bytes, id.str());
  EXPECT_EQ(counts(), "completed 100");
}

TEST_F(EmbeddedStoreTest, ForgetsWhatIsRemoved) {
  open();
  const Work keyed{.idempotency_key = *IdempotencyKey::parse("once"),
                   .tags = {{"app.a", "1"}},
                   .policy = {.dedup_window = 1s, .retention = 1s}};
  const auto id = submit_and_complete(keyed);
  EXPECT_FALSE(must(run(core::Remove{id})).removed);
  clock_->advance(1s);
  EXPECT_TRUE(must(run(core::Remove{id})).removed);
  EXPECT_EQ(run(GetExecution{id}).error().code, Errc::execution_not_found);
  EXPECT_EQ(run(GetPayload{id}).error().code, Errc::execution_not_found);
  EXPECT_THAT(must(run(ListExecutions{})).executions, IsEmpty());
  EXPECT_EQ(counts(), "");
  EXPECT_FALSE(must(run(create(keyed))).duplicate);
}

TEST_F(EmbeddedStoreTest, KeepsNoCounterOfALaneThatIsGone) {
  open();
  const auto lane = *LaneId::parse("once");
  const auto id = submit_and_complete({.lane = lane, .policy = {.retention = 1s}});
  clock_->advance(1s);
  EXPECT_TRUE(must(run(core::Remove{id})).removed);
  std::size_t counters = 0;
  edit([&](Database& database, Changes&) {
    const Range all{.prefix = std::string(keys::ended_count_prefix)};
    must(database.for_each(all, [&](auto, auto) -> Result<Database::Next> {
      ++counters;
      return Database::Next::go_on;
    }));
  });
  EXPECT_EQ(counters, 0u);
}

// Looks for executions to forget do not begin among the tombstones of those that are gone, and miss none.
TEST_F(EmbeddedStoreTest, FindsWhatIsToBeForgottenWhateverWasForgottenBefore) {
  open();
  const auto due = [this] { return must(run(store::RetentionDue{.max = 100})).due; };
  const auto forget = [&] {
    for (const auto& id : due()) must(run(core::Remove{id}));
  };
  for (int round = 0; round < 3; ++round) {
    const auto late = submit_and_complete({.policy = {.retention = 3s}});
    const auto soon = submit_and_complete({.policy = {.retention = 1s}});
    EXPECT_THAT(due(), IsEmpty());
    clock_->advance(1s);
    EXPECT_THAT(due(), ElementsAre(soon));
    forget();
    const auto at_once = submit_and_complete({.policy = {.retention = 1ms}});
    clock_->advance(1ms);
    EXPECT_THAT(due(), ElementsAre(at_once)) << "it ended later and is forgotten before";
    clock_->advance(2s);
    EXPECT_THAT(due(), ElementsAre(at_once, late));
    forget();
  }
}

TEST_F(EmbeddedStoreTest, CountsRightWithAnotherNumberOfShards) {
  for (const std::size_t shards : {5u, 1u, 4u, 2u, 3u}) {
    auto with = options();
    with.shards = shards;
    open(with);
    for (int i = 0; i < 20; ++i)
      submit_and_complete({.lane = *LaneId::parse(i % 2 ? "a" : "b"), .policy = {.retention = 1s}});
    EXPECT_EQ(counts(), fmt::format("completed {}", 20)) << shards << " shards";
    clock_->advance(2s);
    // All but the last ones go, whichever shard counted them when they ended.
    const auto due = must(run(store::RetentionDue{.max = 100})).due;
    ASSERT_EQ(due.size(), 20u);
    for (const auto& id : due) ASSERT_TRUE(must(run(core::Remove{id})).removed);
    EXPECT_EQ(counts(), "");
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(EmbeddedStoreTest, ForgetsWithOtherShardsWhatSomeShardsCounted) {
  std::string expected;
  for (const std::size_t shards : {4u, 1u, 3u, 7u, 2u}) {
    auto with = options();
    with.shards = shards;
    open(with);
    EXPECT_EQ(counts(), expected) << "reopened with " << shards << " shards";
    for (int i = 0; i < 30; ++i) submit_and_complete({.policy = {.retention = 1s}});
    clock_->advance(1s);
    auto due = must(run(store::RetentionDue{.max = 20})).due;
    for (const auto& id : due) ASSERT_TRUE(must(run(core::Remove{id})).removed);
    expected = counts();
    EXPECT_THAT(problems(), IsEmpty());
  }
  EXPECT_EQ(expected, "completed 50");
}

TEST_F(EmbeddedStoreTest, EmitsEventsOfWhatChangedAndNoOthers) {
  auto& store = open();
  std::vector<std::string> events;
  std::mutex mutex;
  store.set_sinks({.on_events = [&](std::span<const core::ExecutionChange> batch) {
    const std::lock_guard lock(mutex);
    for (const auto& change : batch) events.emplace_back(to_string(change.event.type));
  }});
  const auto command = create();
  run(command);
  run(command);
  run(GetExecution{command.id});
  complete(command.id);
  const std::lock_guard lock(mutex);
  EXPECT_THAT(events, ElementsAre("submitted", "claimed", "completed"));
}

TEST_F(EmbeddedStoreTest, OffersAgainWhatIsPutBack) {
  open();
  const auto id = submit();
  EXPECT_THAT(take(), ElementsAre(id));
  EXPECT_THAT(take(), IsEmpty());
  must(run(store::PutBack{id}));
  EXPECT_THAT(take(), ElementsAre(id));
  claim(id);
  must(run(store::PutBack{id}));
  EXPECT_THAT(take(), IsEmpty()) << "a worker has it";
}

TEST_F(EmbeddedStoreTest, HasNothingToReconcileByItself) {
  open();
  const auto ids = submit_many(20);
  for (std::size_t i = 0; i < 10; ++i) claim(ids[i]);
  take(5);
  std::size_t checked = 0;
  for (PartitionIndex partition = 0; partition < 256; ++partition) {
    const auto reply = must(run(store::Reconcile{partition}));
    EXPECT_EQ(reply.repaired, 0u);
    checked += reply.checked;
  }
  EXPECT_EQ(checked, 20u);
}

TEST_F(EmbeddedStoreTest, AnswersManyCallersAtOnce) {
  open();
  constexpr int callers = 8, calls = 100;
  std::atomic<int> accepted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < calls; ++n)
          if (run(create())) ++accepted;
      });
  }
  EXPECT_EQ(accepted, callers * calls);
}

TEST_F(EmbeddedStoreTest, AnswersWhatWasStartedBeforeItClosed) {
  std::vector<std::future<Result<SubmitReply>>> replies;
  auto& store = open();
  for (int i = 0; i < 100; ++i) replies.push_back(start(store, create()));
  auto listed = start(store, ListExecutions{});
  close();
  for (auto& reply : replies) EXPECT_TRUE(reply.get());
  EXPECT_TRUE(listed.get());
}

// ---- Time ----------------------------------------------------------------------------------------

TEST_F(EmbeddedStoreTest, NeverLetsTimeRunBackwards) {
  auto one_shard = options();
  one_shard.shards = 1;
  open(one_shard);
  const auto id = submit();
  const auto leased = must(run(lease_grant(id, 1s)));
  clock_->advance(-1h);
  const auto later = submit();
  EXPECT_GE(must(run(GetExecution{later})).created_at, must(run(GetExecution{id})).created_at);
  const auto renewed = must(run(Renew{.id = id, .fence = leased.fence, .lease_ttl = 1s}));
  EXPECT_EQ(renewed.lease_expires_at, leased.lease_expires_at);
}

TEST_F(EmbeddedStoreTest, KeepsALeaseAsLongAsItIsWhenTheClockGoesBackAndForth) {
  open();
  const auto id = submit();
  const auto leased = must(run(lease_grant(id, 10s)));
  const store::TimersDue due{.kind = core::TimerKind::lease_expiry, .max = 10};
  clock_->advance(-1h);
  EXPECT_THAT(must(run(due)).due, IsEmpty());
  EXPECT_EQ(must(run(GetExecution{id})).lease_expires_at, leased.lease_expires_at);
  clock_->advance(1h + 9s);
  EXPECT_THAT(must(run(due)).due, IsEmpty());
  clock_->advance(1s);
  EXPECT_THAT(must(run(due)).due, ElementsAre(id));
  clock_->advance(-5s);
  EXPECT_EQ(run(Complete{.id = id, .fence = leased.fence}).error().code, Errc::lease_expired)
      << "what has run out does not come back to life";
}

TEST_F(EmbeddedStoreTest, TimeGoesOnFromTheStoredOneWhenTheClockWasSetBackMeanwhile) {
  open();
  const auto id = submit();
  const auto leased = must(run(lease_grant(id, 10s)));
  close();
  clock_->advance(-1h);
  const test::LogCapture log;
  open();
  EXPECT_THAT(log.text(), HasSubstr("clock is 3600 s behind"));
  EXPECT_GE(must(run(GetExecution{submit()})).created_at, must(run(GetExecution{id})).created_at);
  const store::TimersDue due{.kind = core::TimerKind::lease_expiry, .max = 10};
  clock_->advance(9s);
  EXPECT_THAT(must(run(due)).due, IsEmpty());
  clock_->advance(1s);
  EXPECT_THAT(must(run(due)).due, ElementsAre(id)) << "at the time that the lease was given for";
}

TEST_F(EmbeddedStoreTest, KnowsTheTimeOfAnEmptyStore) {
  open();
  const auto before = store_->now();
  close();
  clock_->advance(-1h);
  open();
  EXPECT_EQ(store_->now(), before);
}

TEST_F(EmbeddedStoreTest, RefusesAClockThatIsFarBehind) {
  open();
  submit();
  close();
  clock_->advance(-25h);
  EXPECT_EQ(error_at_open(), Errc::store_unavailable);
  EXPECT_THAT(last_message_, HasSubstr("clock is 90000 s behind"));
  clock_->advance(25h);
  open();
  EXPECT_EQ(counts(), "waiting 1");
}

TEST_F(EmbeddedStoreTest, CountsWaitingExecutionsByTheirNeedsOverAllShards) {
  open();
  const BudgetId budget{random_uuid()};
  for (int i = 0; i < 7; ++i) submit({.policy = {.budgets = {budget}}});
  submit();
  const auto counts = [&] { return must(run(store::CountWaiting{.ns = default_namespace()})); };
  const store::WaitingCount seven{.ns = default_namespace(),
                                  .lane = default_lane(),
                                  .needs = {.budgets = {budget}},
                                  .count = 7};
  EXPECT_THAT(counts(), ElementsAre(seven));
  open();
  EXPECT_THAT(counts(), ElementsAre(seven));
}

}  // namespace
}  // namespace ff::embedded
