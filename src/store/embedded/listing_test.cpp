#include "store/embedded/listing.hpp"

#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListingTest : public StoreTest {
 protected:
  ListingTest() { open(); }

  // Named by its kind, created a second after the one before.
  ExecutionId add(const char* kind, Work work = {}) {
    clock_->advance(1s);
    work.kind = *Kind::parse(kind);
    return submit(std::move(work));
  }
  std::vector<std::string> kinds(ListExecutions query) {
    const auto page = must(run(std::move(query)));
    next_ = page.next;
    std::vector<std::string> kinds;
    for (const auto& execution : page.executions) kinds.push_back(execution.kind.str());
    return kinds;
  }

  std::optional<std::string> next_;
};

TEST_F(ListingTest, ShowsTheNewestFirst) {
  for (const char* kind : {"a", "b", "c"}) add(kind);
  EXPECT_THAT(kinds({}), ElementsAre("c", "b", "a"));
  EXPECT_EQ(next_, std::nullopt);
}

TEST_F(ListingTest, GoesOnFromItsCursor) {
  for (const char* kind : {"a", "b", "c", "d", "e"}) add(kind);
  EXPECT_THAT(kinds({.limit = 2}), ElementsAre("e", "d"));
  add("f");  // comes too late for this look
  EXPECT_THAT(kinds({.limit = 2, .cursor = next_}), ElementsAre("c", "b"));
  EXPECT_THAT(kinds({.limit = 2, .cursor = next_}), ElementsAre("a"));
  EXPECT_EQ(next_, std::nullopt);
}

TEST_F(ListingTest, EndsWithAnEmptyPageAtTheLatest) {
  for (const char* kind : {"a", "b"}) add(kind);
  kinds({.limit = 2});
  ASSERT_TRUE(next_);
  EXPECT_THAT(kinds({.limit = 2, .cursor = next_}), IsEmpty());
  EXPECT_EQ(next_, std::nullopt);
}

TEST_F(ListingTest, ShowsEachOfOneInstantOnce) {
  for (int i = 0; i < 25; ++i) submit();
  std::set<ExecutionId> seen;
  std::optional<std::string> cursor;
  std::size_t listed = 0;
  do {
    const auto page = must(run(ListExecutions{.limit = 4, .cursor = cursor}));
    for (const auto& execution : page.executions) seen.insert(execution.id);
    listed += page.executions.size();
    cursor = page.next;
  } while (cursor);
  EXPECT_EQ(seen.size(), 25u);
  EXPECT_EQ(listed, 25u);
}

TEST_F(ListingTest, KeepsACursorOverARestart) {
  for (const char* kind : {"a", "b", "c"}) add(kind);
  kinds({.limit = 1});
  open();
  EXPECT_THAT(kinds({.limit = 5, .cursor = next_}), ElementsAre("b", "a"));
}

TEST_F(ListingTest, RefusesACursorThatIsNotOurs) {
  add("a");
  kinds({.limit = 1});
  ASSERT_TRUE(next_);
  for (const auto& cursor : {std::string(), std::string("zz"), next_->substr(2), *next_ + "00",
                             "0" + next_->substr(1) + "g", std::string(200, '0')}) {
    const auto page = run(ListExecutions{.cursor = cursor});
    ASSERT_FALSE(page) << cursor;
    EXPECT_EQ(page.error().code, Errc::invalid_input) << cursor;
  }
}

TEST_F(ListingTest, ShowsOnlyWhatWasCreatedInTheTimesAskedFor) {
  const auto start = clock_->now();
  for (const char* kind : {"a", "b", "c", "d"}) add(kind);  // one to four seconds from the start
  EXPECT_THAT(kinds({.created_from = start + 2s, .created_before = start + 4s}),
              ElementsAre("c", "b"));
  EXPECT_THAT(kinds({.created_before = start + 1s}), IsEmpty());
  EXPECT_THAT(kinds({.created_from = start + 5s}), IsEmpty());
}

TEST_F(ListingTest, LooksForTags) {
  const auto first = add("a", {.tags = {{"app.x", "1"}, {"app.y", "1"}}});
  add("b", {.tags = {{"app.x", "11"}}});
  add("c", {.tags = {{"app.x", "1"}}});
  EXPECT_THAT(kinds({.tag = "app.x=1"}), ElementsAre("c", "a"));
  EXPECT_THAT(kinds({.tag = "app.x="}), IsEmpty());
  must(run(SetTags{.id = first, .set = {{"app.y", "=2"}}, .remove = {"app.x"}}));
  EXPECT_THAT(kinds({.tag = "app.x=1"}), ElementsAre("c"));
  EXPECT_THAT(kinds({.tag = "app.y=1"}), IsEmpty());
  EXPECT_THAT(kinds({.tag = "app.y==2"}), ElementsAre("a"));
}

TEST_F(ListingTest, FiltersByLaneKindAndState) {
  add("a", {.lane = *LaneId::parse("other")});
  const auto done = add("b");
  add("c");
  complete(done);
  EXPECT_THAT(kinds({.lane = *LaneId::parse("other")}), ElementsAre("a"));
  EXPECT_THAT(kinds({.state = ExecutionState::completed}), ElementsAre("b"));
  EXPECT_THAT(kinds({.state = ExecutionState::waiting}), ElementsAre("c", "a"));
  EXPECT_THAT(kinds({.kind = *Kind::parse("c")}), ElementsAre("c"));
  EXPECT_THAT(kinds({.ns = *Namespace::parse("other")}), IsEmpty());
}

TEST_F(ListingTest, KnowsWhoseRetentionHasRunOutAndWhoIsNext) {
  const auto early = submit_and_complete({.policy = {.retention = 1s}});
  const auto late = submit_and_complete({.policy = {.retention = 5s}});
  const auto start = clock_->now();
  EXPECT_EQ(run(store::RetentionDue{.max = 10})->next, start + 1s);
  clock_->advance(5s);
  EXPECT_THAT(run(store::RetentionDue{.max = 10})->due, ElementsAre(early, late));
  EXPECT_THAT(run(store::RetentionDue{.max = 1})->due, ElementsAre(early));
  EXPECT_EQ(run(store::RetentionDue{.max = 1})->next, start + 5s);
}

}  // namespace
}  // namespace ff::embedded
