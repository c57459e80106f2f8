#include "store/valkey/caches/ready_cache.hpp"

#include <flowfabric/limits.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const IndexName eligible{
    .queue = default_lane().str(), .partition = 7, .index = ReadyIndex::eligible};
const IndexName reclaimable{
    .queue = default_lane().str(), .partition = 7, .index = ReadyIndex::reclaimable};

// The higher its number, the newer it is.
IndexedReady waiting(std::uint8_t number, std::int32_t priority = 0) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  const TimePoint queued_at{Millis{1'800'000'000'000 + number}};
  return {.ready = {.id = ExecutionId{eligible.partition, Uuid{bytes}},
                    .ns = default_namespace(),
                    .lane = default_lane(),
                    .priority = priority,
                    .queued_at = queued_at},
          .index = eligible,
          .score = core::ready_score(priority, queued_at)};
}

IndexedReady of(core::Needs needs, IndexedReady ready) {
  ready.ready.needs = std::move(needs);
  return ready;
}
Kind kind(const char* name) { return *Kind::parse(name); }
IndexedReady of_kind(const char* name, IndexedReady ready) {
  ready.ready.kind = kind(name);
  return ready;
}
IndexedReady lost(IndexedReady ready) {
  ready.index = reclaimable;
  return ready;
}

const core::Needs none{};
const core::Needs gpu{.capabilities = *CapabilitySet::parse({"gpu"})};
const core::Needs costly{.budgets = {*BudgetId::parse("aaaaaaaa-0000-4000-8000-000000000000")}};

IndexEntry entry(const IndexedReady& ready) { return {ready.score, ready.ready.id}; }
IndexLook::Traits plain(core::Needs needs) {
  return {.ns = default_namespace(), .needs = std::move(needs), .kind = {}};
}

store::TakeReady up_to(std::size_t max) {
  return {.ns = default_namespace(), .lanes = {default_lane()}, .capabilities = {}, .max = max};
}
store::TakeReady with_gpu() {
  auto query = up_to(1);
  query.capabilities = gpu.capabilities;
  return query;
}

store::TakeReady for_kind(const char* name) {
  auto query = up_to(1);
  query.kinds = {kind(name)};
  return query;
}

std::vector<int> take(ReadyCache& cache, const store::TakeReady& query) {
  std::vector<int> numbers;
  for (const auto& [id, needs] : cache.take(query)) numbers.push_back(id.uuid().bytes()[15]);
  return numbers;
}
std::vector<int> take(ReadyCache& cache, std::size_t max) { return take(cache, up_to(max)); }

std::size_t look(ReadyCache& cache, const IndexLook& found) {
  ReadyCache::Look looking(cache);
  return looking.take_in(found).size();
}

TEST(ReadyCache, GivesTheBestFirst) {
  ReadyCache cache;
  for (const auto& ready : {waiting(2), waiting(1), waiting(3, 5)}) cache.put(ready);
  EXPECT_THAT(take(cache, 3), ElementsAre(3, 1, 2));
  EXPECT_THAT(take(cache, 3), IsEmpty());
}

TEST(ReadyCache, LateKnowledgeDoesNotEraseNewer) {
  ReadyCache cache;
  cache.put(waiting(1), 5);
  cache.erase(waiting(1).ready.id, 4);
  cache.put(waiting(1, 9), 3);
  cache.put(waiting(2));
  EXPECT_THAT(take(cache, 3), ElementsAre(1, 2)) << "with the priority of the newer version";
  cache.put(waiting(3), 5);
  cache.erase(waiting(3).ready.id, 6);
  EXPECT_THAT(take(cache, 3), IsEmpty());
}

// A refusal tells of the time when the call was sent.
TEST(ReadyCache, ARefusalDoesNotEraseWhatBecameReadyMeanwhile) {
  ReadyCache cache;
  cache.put(waiting(1), 3);
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  const auto sent = cache.version_of(waiting(1).ready.id);
  cache.put(waiting(1), 5);
  cache.erase(waiting(1).ready.id, sent);
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
}

TEST(ReadyCache, AfterAGapEveryVersionCounts) {
  ReadyCache cache;
  cache.put(waiting(1), 5);
  cache.forget_versions();
  cache.erase(waiting(1).ready.id, 0);
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

TEST(ReadyCache, MessagesOfAnOlderVersionAlwaysCount) {
  ReadyCache cache;
  cache.put(waiting(1), 5);
  cache.erase(waiting(1).ready.id);
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

TEST(ReadyCache, FollowsAChangedPriority) {
  ReadyCache cache;
  cache.put(waiting(1));
  cache.put(waiting(2));
  cache.put(waiting(2, 9));
  EXPECT_THAT(take(cache, 3), ElementsAre(2, 1));
}

TEST(ReadyCache, OffersAgainWhatIsPutBack) {
  ReadyCache cache;
  cache.put(waiting(1));
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  cache.put_back(waiting(1).ready.id);
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  cache.erase(waiting(1).ready.id);
  cache.put_back(waiting(1).ready.id);
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

TEST(ReadyCache, ShowsAGroupOfWhichValkeyHasMoreThanIsKnown) {
  ReadyCache cache(/*group_max=*/2);
  for (std::uint8_t number = 1; number <= 3; ++number) cache.put(of(costly, waiting(number)));
  for (std::uint8_t number = 1; number <= 2; ++number) cache.erase(waiting(number).ready.id);
  const auto groups = cache.peek({.members_max = 1, .needing = {costly.budgets[0]}});
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].needs, costly);
  EXPECT_THAT(groups[0].best, SizeIs(1));
}

TEST(ReadyCache, EventsDuringALookAreNewerThanItsAnswer) {
  ReadyCache cache;
  cache.put(waiting(1));
  const IndexLook found{.index = eligible, .found = {waiting(1), waiting(2)}};
  {
    ReadyCache::Look looking(cache);
    cache.erase(waiting(1).ready.id);
    EXPECT_THAT(looking.take_in(found), ElementsAre(waiting(2).ready));
    EXPECT_THAT(looking.take_in(found), IsEmpty());
  }
  EXPECT_THAT(take(cache, 2), ElementsAre(2));
}

TEST(ReadyCache, KeepsTheBestOfALongBacklogAndLooksForTheRest) {
  ReadyCache cache(/*group_max=*/2);
  for (std::uint8_t number = 1; number <= 5; ++number) cache.put(waiting(number));
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
  EXPECT_THAT(take(cache, 5), ElementsAre(1, 2));
  const auto gaps = cache.gaps(up_to(1));
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(gaps[0].index, eligible);
  EXPECT_EQ(gaps[0].after, entry(waiting(2)));
}

TEST(ReadyCache, LooksNoMoreWhenTheEndWasSeen) {
  ReadyCache cache;
  look(cache, {.index = eligible, .stopped_at = entry(waiting(1)), .totals = {{{none, 9}}}});
  EXPECT_THAT(cache.gaps(up_to(1)), SizeIs(1));
  look(cache, {.index = eligible, .after = entry(waiting(1)), .totals = {{{none, 9}}}});
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
}

TEST(ReadyCache, LooksNoMoreWhenAllThatAreCountedAreKnown) {
  ReadyCache cache;
  look(cache, {.index = eligible,
               .stopped_at = entry(waiting(9)),
               .found = {waiting(1)},
               .totals = {{{none, 1}, {gpu, 1'000}}}});
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
}

TEST(ReadyCache, WorkThatAWorkerMayNotHaveCausesNoLook) {
  ReadyCache cache;
  look(cache, {.index = eligible,
               .stopped_at = entry(waiting(2)),
               .found = {of(gpu, waiting(1))},
               .totals = {{{gpu, 3'000}, {costly, 3'000}}}});
  auto broke = up_to(1);
  broke.closed.budgets = {costly.budgets.front()};
  EXPECT_THAT(cache.gaps(broke), IsEmpty());
  EXPECT_THAT(cache.gaps(up_to(1)), SizeIs(1));  // for the costly ones
  broke.capabilities = gpu.capabilities;
  EXPECT_THAT(cache.gaps(broke), IsEmpty());  // it knows one with gpu
  EXPECT_THAT(cache.take(broke), SizeIs(1));
  EXPECT_THAT(cache.gaps(broke), SizeIs(1));
}

TEST(ReadyCache, ALookGoesOnWhereTheLastOneStopped) {
  ReadyCache cache;
  const std::map<core::Needs, std::uint64_t> totals{{gpu, 3'000}, {none, 1}};
  look(cache, {.index = eligible, .stopped_at = entry(waiting(10)), .totals = totals});
  EXPECT_EQ(cache.gaps(up_to(1)).at(0).after, entry(waiting(10)));
  look(cache, {.index = eligible,
               .after = entry(waiting(10)),
               .stopped_at = entry(waiting(20)),
               .totals = totals});
  EXPECT_EQ(cache.gaps(up_to(1)).at(0).after, entry(waiting(20)));
  look(cache, {.index = eligible,
               .after = entry(waiting(20)),
               .stopped_at = entry(waiting(30)),
               .found = {waiting(25)},
               .totals = totals});
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
  EXPECT_THAT(take(cache, 1), ElementsAre(25));
}

// A look that began further on says nothing of what stands before it.
TEST(ReadyCache, ALookDoesNotPassOverOthersOfAGroup) {
  ReadyCache cache;
  const std::map<core::Needs, std::uint64_t> totals{{gpu, 3'000}, {none, 1}};
  look(cache, {.index = eligible,
               .stopped_at = entry(waiting(10)),
               .found = {of(gpu, waiting(1))},
               .cut = {{plain(gpu), entry(waiting(1))}},
               .totals = totals});
  EXPECT_EQ(look(cache, {.index = eligible,
                         .after = entry(waiting(10)),
                         .stopped_at = entry(waiting(20)),
                         .found = {of(gpu, waiting(11))},
                         .totals = totals}),
            0u);
  EXPECT_THAT(cache.take(with_gpu()), SizeIs(1));
  EXPECT_EQ(cache.gaps(with_gpu()).at(0).after, entry(waiting(1)));
}

// ---- Kinds

// Three of the first kind were seen, of ten executions.
IndexLook start_of_backlog() {
  return {.index = eligible,
          .stopped_at = entry(waiting(3)),
          .found = {of_kind("a", waiting(1)), of_kind("a", waiting(2)), of_kind("a", waiting(3))},
          .totals = {{{none, 10}}}};
}

TEST(ReadyCache, AKindBehindOthersIsLookedForByAClaimThatNamesIt) {
  ReadyCache cache;
  look(cache, start_of_backlog());
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty()) << "the kind that is known is better";
  EXPECT_THAT(cache.gaps(for_kind("a")), IsEmpty());
  ASSERT_THAT(cache.gaps(for_kind("b")), SizeIs(1));
  EXPECT_EQ(cache.gaps(for_kind("b"))[0].after, entry(waiting(3)));
  look(cache, {.index = eligible,
               .after = entry(waiting(3)),
               .stopped_at = entry(waiting(7)),
               .found = {of_kind("a", waiting(4)), of_kind("b", waiting(6))},
               .totals = {{{none, 10}}}});
  EXPECT_THAT(cache.gaps(for_kind("b")), IsEmpty());
  EXPECT_THAT(take(cache, for_kind("b")), ElementsAre(6));
  EXPECT_EQ(cache.gaps(for_kind("b")).at(0).after, entry(waiting(7)));
}

TEST(ReadyCache, AKindThatWasLookedForToTheEndCausesNoMoreLooks) {
  ReadyCache cache;
  look(cache, start_of_backlog());
  look(cache, {.index = eligible, .after = entry(waiting(3)), .totals = {{{none, 10}}}});
  EXPECT_THAT(cache.gaps(for_kind("b")), IsEmpty());
  look(cache, start_of_backlog());
  EXPECT_THAT(cache.gaps(for_kind("b")), IsEmpty()) << "a sweep saw less than was known";
  cache.put(of_kind("b", waiting(9)));
  EXPECT_THAT(take(cache, for_kind("b")), ElementsAre(9));
}

TEST(ReadyCache, AfterAGapAKindIsLookedForAgain) {
  for (const bool gap : {true, false}) {
    ReadyCache cache;
    look(cache, start_of_backlog());
    look(cache, {.index = eligible, .after = entry(waiting(3)), .totals = {{{none, 10}}}});
    gap ? cache.forget_versions() : cache.forget_extents();
    look(cache, start_of_backlog());
    EXPECT_THAT(cache.gaps(for_kind("b")), SizeIs(1));
  }
}

// There may be older ones of its kind that nobody saw.
TEST(ReadyCache, AnArrivalOfAnUnseenKindIsLeftToALook) {
  ReadyCache cache;
  look(cache, start_of_backlog());
  cache.put(of_kind("b", waiting(9)));
  EXPECT_THAT(take(cache, for_kind("b")), IsEmpty());
  EXPECT_THAT(cache.gaps(for_kind("b")), SizeIs(1));
  cache.put(of_kind("b", waiting(10, 5)));
  EXPECT_THAT(take(cache, for_kind("b")), ElementsAre(10)) << "it stands before those";
  EXPECT_THAT(cache.gaps(for_kind("b")), SizeIs(1));
}

TEST(ReadyCache, ALookForOneKindKeepsWhereAnotherIsLookedFor) {
  ReadyCache cache;
  look(cache, start_of_backlog());
  look(cache, {.index = eligible,
               .after = entry(waiting(3)),
               .stopped_at = entry(waiting(8)),
               .totals = {{{none, 10}}}});
  EXPECT_THAT(take(cache, 3), ElementsAre(1, 2, 3));
  look(cache, {.index = eligible,
               .after = entry(waiting(3)),
               .stopped_at = entry(waiting(5)),
               .found = {of_kind("a", waiting(4)), of_kind("a", waiting(5))},
               .totals = {{{none, 10}}}});
  EXPECT_EQ(cache.gaps(for_kind("b")).at(0).after, entry(waiting(8)));
}

TEST(ReadyCache, ShowsGroupsOfWhichNotEvenTheKindIsKnown) {
  ReadyCache cache;
  look(cache, {.index = eligible, .stopped_at = entry(waiting(3)), .totals = {{{costly, 10}}}});
  const auto groups = cache.peek({.members_max = 1, .needing = {costly.budgets[0]}});
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].kind, std::nullopt);
  EXPECT_THAT(groups[0].best, SizeIs(1));
}

TEST(ReadyCache, AnArrivalBehindOthersIsLeftToALook) {
  ReadyCache cache;
  look(cache, {.index = eligible,
               .stopped_at = entry(waiting(5)),
               .found = {waiting(5)},
               .totals = {{{none, 100}}}});
  cache.put(waiting(9));
  cache.put(waiting(2));
  EXPECT_THAT(take(cache, 9), ElementsAre(2, 5));
  EXPECT_THAT(cache.gaps(up_to(1)), SizeIs(1));
}

// The look may have passed the place of one that came after it.
TEST(ReadyCache, AnArrivalDuringALookIsKept) {
  ReadyCache cache;
  const IndexLook start{
      .index = eligible, .stopped_at = entry(waiting(5)), .totals = {{{none, 1}}}};
  look(cache, start);
  {
    ReadyCache::Look looking(cache);
    cache.put(waiting(9));
    looking.take_in({.index = eligible, .after = entry(waiting(5))});
  }
  EXPECT_THAT(take(cache, 1), ElementsAre(9));
}

TEST(ReadyCache, LostWorkThatWasNotSeenIsForAnyWorker) {
  ReadyCache cache;
  look(cache, {.index = reclaimable,
               .stopped_at = entry(waiting(1)),
               .found = {of(gpu, lost(waiting(1)))}});
  const auto gaps = cache.gaps(up_to(1));
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(gaps[0].index, reclaimable);
  look(cache, {.index = reclaimable, .after = gaps[0].after, .found = {lost(waiting(2))}});
  EXPECT_THAT(take(cache, 1), ElementsAre(2));
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
}

// Programs of the contract put executions of all namespaces into a lane's own queue.
TEST(ReadyCache, WorkOfOtherNamespacesInAQueueIsFoundThere) {
  ReadyCache cache;
  auto other = waiting(1);
  other.ready.ns = *Namespace::parse("acme");
  const IndexLook::Traits theirs{.ns = other.ready.ns, .needs = {}, .kind = {}};
  look(cache, {.index = eligible,
               .stopped_at = entry(waiting(2)),
               .found = {other},
               .cut = {{theirs, entry(other)}},
               .totals = {{{none, 100}}}});
  auto query = up_to(1);
  query.ns = other.ready.ns;
  EXPECT_THAT(cache.take(query), SizeIs(1));
  const auto gaps = cache.gaps(query);
  ASSERT_THAT(gaps, SizeIs(1));
  EXPECT_EQ(gaps[0].index, eligible);
  EXPECT_EQ(gaps[0].after, entry(other));
}

// ---- The oldest ----------------------------------------------------------------------------------

// A cache that knows two of an index and has dropped others, up to the turn of the oldest.
void claim_until_the_oldest_is_due(ReadyCache& cache) {
  std::uint8_t number = 100;
  for (std::uint32_t i = 1; i < limits::oldest_first_every; ++i) {
    cache.put(waiting(number, 9));
    take(cache, 1);
    cache.erase(waiting(number, 9).ready.id);
    ++number;
  }
}

TEST(ReadyCache, AsksForTheOldestWhenItIsDueAndMoreWaitsThanIsKnown) {
  ReadyCache cache(2);
  claim_until_the_oldest_is_due(cache);
  EXPECT_FALSE(cache.index_of_oldest(up_to(1))) << "nothing else waits";
  for (const auto& ready : {waiting(1), waiting(2, 5), waiting(3, 5)}) cache.put(ready);
  EXPECT_EQ(cache.index_of_oldest(up_to(1)), eligible);
  take(cache, 1);
  EXPECT_FALSE(cache.index_of_oldest(up_to(1))) << "it had its turn";
}

TEST(ReadyCache, TheOldestBehindTheKnownGetItsTurn) {
  ReadyCache cache(2);
  claim_until_the_oldest_is_due(cache);
  for (const auto& ready : {waiting(1), waiting(2, 5), waiting(3, 5)}) cache.put(ready);
  {
    ReadyCache::Look looking(cache, false);
    looking.take_in_oldest({.index = eligible, .found = {waiting(1)}});
  }
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  cache.put_back(waiting(1).ready.id);
  EXPECT_THAT(take(cache, 3), ElementsAre(2, 3, 1));
}

TEST(ReadyCache, AnArrivalWhileTheOldestAreAskedForIsLeftToALook) {
  ReadyCache cache(2);
  for (std::uint8_t i = 1; i < 4; ++i) cache.put(waiting(i));
  const ReadyCache::Look looking(cache, false);
  cache.put(waiting(9));
  EXPECT_THAT(take(cache, 3), ElementsAre(1, 2));
}

TEST(ReadyCache, TheOldestThatAreBeingClaimedAreNotOfferedAgain) {
  ReadyCache cache(2);
  cache.put(waiting(1));
  ReadyCache::Look looking(cache, false);
  take(cache, 1);
  cache.erase(waiting(1).ready.id);
  looking.take_in_oldest({.index = eligible, .found = {waiting(1)}});
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

// ---- Fairness keys -------------------------------------------------------------------------------

core::Needs share(const char* key) {
  return {.share = core::FairShare{.key = *FairnessKey::parse(key)}};
}

TEST(ReadyCache, ABacklogOfOneKeyDoesNotFillIt) {
  ReadyCache cache(2);
  for (std::uint8_t i = 1; i < 10; ++i) cache.put(of(share("big"), waiting(i)));
  cache.put(of(share("small"), waiting(20)));
  EXPECT_THAT(take(cache, 2), ElementsAre(1, 20));
}

TEST(ReadyCache, AKeyThatNobodySawYetIsLookedForAlthoughOthersAreKnown) {
  ReadyCache cache;
  const auto big = of(share("big"), waiting(1));
  look(cache, {.index = eligible,
               .stopped_at = entry(big),
               .found = {big},
               .totals = {{{share("big"), 1}, {share("small"), 1}}}});
  EXPECT_THAT(cache.gaps(up_to(1)), SizeIs(1));
  const auto small = of(share("small"), waiting(9));
  look(cache, {.index = eligible, .after = entry(big), .found = {small}});
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
  EXPECT_THAT(take(cache, 2), ElementsAre(1, 9));
}

TEST(ReadyCache, AKeyOfWhichSomethingIsKnownCausesNoLook) {
  ReadyCache cache;
  const auto big = of(share("big"), waiting(1));
  look(cache, {.index = eligible,
               .stopped_at = entry(big),
               .found = {big},
               .totals = {{{share("big"), 5}}}});
  EXPECT_THAT(cache.gaps(up_to(1)), IsEmpty());
}

// ---- Shares of several processes -------------------------------------------------------------------

// Two processes that claim, and the cache of one of them.
class SharedCaches : public ::testing::Test {
 protected:
  std::shared_ptr<const Division> division_of(const char* process) {
    return std::make_shared<Division>(process, members_);
  }
  void SetUp() override {
    first_.divide(division_of("one"));
    second_.divide(division_of("two"));
    for (std::uint8_t i = 1; i <= 200; ++i) put(waiting(i));
  }
  void put(const IndexedReady& ready) {
    first_.put(ready);
    second_.put(ready);
  }

  const std::vector<Member> members_{{.process = "one", .sweeps = true, .claims = true},
                                     {.process = "two", .sweeps = true, .claims = true}};
  ReadyCache first_;
  ReadyCache second_;
};

TEST_F(SharedCaches, DoNotTakeTheSameWhileBothHaveTheirOwn) {
  std::set<int> taken;
  for (int i = 0; i < 8; ++i) {
    for (auto* cache : {&first_, &second_})
      for (const int number : take(*cache, 8))
        EXPECT_TRUE(taken.insert(number).second) << number << " is taken by both";
  }
  EXPECT_THAT(taken, SizeIs(128));
}

TEST_F(SharedCaches, TakeOfTheOthersWhenTheirOwnIsUsedUp) {
  std::set<int> taken;
  while (true) {
    const auto numbers = take(first_, 32);
    if (numbers.empty()) break;
    taken.insert(numbers.begin(), numbers.end());
  }
  EXPECT_THAT(taken, SizeIs(200));
}

TEST_F(SharedCaches, LeaveMostOfTheOthersShareToIt) {
  std::size_t own = 0;
  for (std::size_t taken = 32; taken == 32; own += taken) taken = take(first_, 32).size();
  EXPECT_THAT(take(first_, 32), SizeIs((200 - own + 3) / 4));
}

// The other one may have no worker for it.
TEST_F(SharedCaches, PreferBetterWorkOfTheOtherNowAndThen) {
  put(waiting(201, 9));
  put(waiting(202, 9));
  put(waiting(203, 9));
  put(waiting(204, 9));
  std::set<int> taken;
  for (int i = 0; i < 40; ++i) taken.merge(std::set<int>{take(first_, 1).front()});
  for (const int urgent : {201, 202, 203, 204}) EXPECT_TRUE(taken.contains(urgent)) << urgent;
}

TEST_F(SharedCaches, GetTheShareOfAProcessThatIsGone) {
  first_.divide(std::make_shared<Division>("one", std::vector{members_.front()}));
  EXPECT_THAT(take(first_, 200), SizeIs(200));
}

TEST_F(SharedCaches, DoNotOfferAgainWhatIsTakenWhenTheSharesChange) {
  const auto taken = take(first_, 32);
  ASSERT_THAT(taken, SizeIs(32));
  first_.divide(std::make_shared<Division>());
  EXPECT_THAT(take(first_, 200), SizeIs(168));
}

TEST(ReadyCache, OffersWhatIsHeldWhenItIsPutBack) {
  ReadyCache cache;
  EXPECT_TRUE(cache.put(waiting(1), {}, true));
  EXPECT_THAT(take(cache, 1), IsEmpty());
  cache.divide(std::make_shared<Division>());
  EXPECT_THAT(take(cache, 1), IsEmpty());
  EXPECT_TRUE(cache.put_back(waiting(1).ready.id));
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
}

TEST(ReadyCache, ForgetsWhatIsHeldAndTakenElsewhere) {
  ReadyCache cache;
  cache.put(waiting(1), {}, true);
  cache.erase(waiting(1).ready.id);
  EXPECT_FALSE(cache.put_back(waiting(1).ready.id));
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

}  // namespace
}  // namespace ff::valkey_store
