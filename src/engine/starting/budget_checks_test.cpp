#include "engine/starting/budget_checks.hpp"

#include <boost/asio/io_context.hpp>

#include "engine/breaking_store.hpp"

namespace ff {
namespace {

using Asked = std::future<std::vector<BudgetChecks::Reply>>;

// All callers run on this thread, so all of them have asked when it comes to rest.
class BudgetChecksTest : public OnABreakingStore {
 protected:
  BudgetChecksTest() {
    begin();
    checks_.emplace(*store_);
    store_->hold_replies<core::CheckBudget>();
  }

  Asked ask(std::vector<BudgetId> budgets) {
    auto asked = test::start(context_.get_executor(), checks_->ask(std::move(budgets)));
    rest();
    return asked;
  }
  Asked ask() { return ask({budget_}); }
  // The store's answers arrive.
  void arrive() {
    test::await("the answers are held",
                [&] { return store_->held() == static_cast<std::size_t>(checks_made()); });
    store_->let_go();
    rest();
  }
  void rest() {
    context_.restart();
    context_.poll();
  }
  int checks_made() const { return store_->calls<core::CheckBudget>(); }
  static bool has_room(Asked& asked) { return !must(asked.get().at(0)).breach; }

  asio::io_context context_;
  std::optional<BudgetChecks> checks_;
};

TEST_F(BudgetChecksTest, AreSharedByAllWhoAskAtTheSameTime) {
  std::vector<Asked> all;
  for (int i = 0; i < 50; ++i) all.push_back(ask());
  EXPECT_EQ(checks_made(), 1);
  arrive();
  for (auto& each : all) EXPECT_TRUE(has_room(each));
}

TEST_F(BudgetChecksTest, AnswerInTheOrderOfTheBudgets) {
  const auto missing = BudgetId{Uuid{}};
  auto first = ask();
  auto both = ask({missing, budget_});
  EXPECT_EQ(checks_made(), 2);
  arrive();
  EXPECT_TRUE(has_room(first));
  const auto replies = both.get();
  ASSERT_FALSE(replies.at(0));
  EXPECT_EQ(replies.at(0).error().code, Errc::budget_not_found);
  EXPECT_TRUE(replies.at(1));
}

TEST_F(BudgetChecksTest, AreNotSharedAfterTheirEnd) {
  auto first = ask();
  arrive();
  EXPECT_TRUE(has_room(first));
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  auto second = ask();
  EXPECT_EQ(checks_made(), 2);
  test::await("the answer is there", [&] {
    rest();
    return second.wait_for(0s) == std::future_status::ready;
  });
  EXPECT_FALSE(has_room(second));
}

TEST_F(BudgetChecksTest, OfTheTimeBeforeAChangeAreNotShared) {
  auto before = ask();
  test::await("its answer is held", [&] { return store_->held() == 1; });
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  checks_->changed(budget_);
  auto after = ask();
  EXPECT_EQ(checks_made(), 2);
  auto another = ask();
  EXPECT_EQ(checks_made(), 2) << "the one after the change is";
  arrive();
  EXPECT_TRUE(has_room(before));
  EXPECT_FALSE(has_room(after));
  EXPECT_FALSE(has_room(another));
}

}  // namespace
}  // namespace ff
