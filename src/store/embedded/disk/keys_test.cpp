#include "store/embedded/disk/keys.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::embedded::keys {
namespace {

using test::t0;

ExecutionId id_of(PartitionIndex partition, std::uint8_t last) {
  Uuid::Bytes bytes{};
  bytes[15] = last;
  return {partition, Uuid{bytes}};
}
Namespace ns(const char* text) { return *Namespace::parse(text); }
LaneId lane(const char* text) { return *LaneId::parse(text); }
IdempotencyKey key(const char* text) { return *IdempotencyKey::parse(text); }

TEST(Keys, OfDifferentThingsAreDifferent) {
  std::vector<std::string> all{std::string(store)};
  for (const auto& id : {id_of(1, 2), id_of(2, 1), id_of(258, 1), id_of(0xffff, 0xff)}) {
    for (auto* make : {&live, &ended, &payload, &result}) all.push_back(make(id));
    for (const std::uint32_t index : {0u, 1u, 256u, 0xffffffffu})
      for (auto* make : {&attempt, &signal, &signal_payload}) all.push_back(make(id, index));
    all.push_back(belonging(id, core::Belonging::waits));
    for (const char* text : {"a", "ab"}) {
      all.push_back(signal_key(id, *SignalKey::parse(text)));
      all.push_back(step(id, *StepName::parse(text)));
    }
    for (const auto& at : {t0, t0 + Millis{1}}) {
      all.push_back(retention(at, id));
      for (const char* name : {"a", "ab", "b"}) {
        all.push_back(by_time(ns(name), at, id));
        for (const char* tag : {"c", "cd", ""})
          for (const char* value : {"d", "", "dd"})
            all.push_back(by_tag(ns(name), tag, value, at, id));
      }
    }
  }
  for (const char* name : {"a", "ab", "b"}) {
    for (const char* text : {"b", "bc", "c"}) {
      all.push_back(idempotency(ns(name), key(text)));
      for (const auto shard : std::to_array<std::uint16_t>({0, 1, 256}))
        all.push_back(ended_count(shard, ns(name), lane(text)));
    }
  }
  for (const auto& uuid : {id_of(0, 1).uuid(), id_of(0, 2).uuid()}) {
    const BudgetId a_budget{uuid};
    const QuotaId a_quota{uuid};
    all.push_back(budget(a_budget));
    all.push_back(quota(a_quota));
    for (const auto& id : {id_of(1, 2), id_of(2, 1)}) all.push_back(ledger(a_budget, id));
    for (const auto& at : {t0, t0 + Millis{1}}) {
      all.push_back(place(a_quota, {.at = at, .token = QuotaTokenId{uuid}}));
      for (const char* text : {"a", "ab"})
        all.push_back(dedup_until(at, {.budget = a_budget, .key = *DedupKey::parse(text)}));
    }
    for (const char* text : {"a", "ab"})
      all.push_back(dedup({.budget = a_budget, .key = *DedupKey::parse(text)}));
  }
  const std::set<std::string> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
}

TEST(Keys, OfOneGroupAreNeverInTheRangeOfAnother) {
  const auto id = id_of(1, 2);
  EXPECT_FALSE(by_time(ns("ab"), t0, id).starts_with(by_time_of(ns("a"))));
  EXPECT_FALSE(by_tag(ns("n"), "kk", "v", t0, id).starts_with(by_tag_of(ns("n"), "k", "kv")));
  EXPECT_FALSE(by_tag(ns("n"), "k", "vv", t0, id).starts_with(by_tag_of(ns("n"), "k", "v")));
  EXPECT_FALSE(live(id_of(258, 0)).starts_with(live_of(1)));
  EXPECT_TRUE(live(id).starts_with(live_of(1)));
  EXPECT_TRUE(by_tag(ns("n"), "k", "v", t0, id).starts_with(by_tag_of(ns("n"), "k", "v")));
  EXPECT_TRUE(attempt(id, 3).starts_with(attempts_of(id)));
}

TEST(Keys, SayWhichExecutionTheyAreAbout) {
  const auto id = id_of(513, 7);
  for (const auto& text : {live(id), ended(id), payload(id), result(id), attempt(id, 77)})
    EXPECT_EQ(execution_id(text), id);
}

TEST(Keys, OfAnUnknownFormAreDamage) {
  const auto id = id_of(1, 2);
  const auto damaged = [](const auto& parsed) {
    return !parsed && parsed.error().code == Errc::store_damaged;
  };
  EXPECT_TRUE(damaged(execution_id("x")));
  EXPECT_TRUE(damaged(execution_id(live(id) + "?")));
  EXPECT_TRUE(damaged(execution_id(attempts_of(id))));
  EXPECT_TRUE(damaged(parse_moment("too short")));
  const auto count = ended_count(1, ns("n"), lane("l"));
  for (std::size_t size = 0; size < count.size(); ++size)
    EXPECT_TRUE(damaged(parse_ended_count(count.substr(0, size)))) << size;
  EXPECT_TRUE(damaged(parse_ended_count(count + "?")));
}

TEST(Keys, OfMomentsSortByTimeAndAreReadBack) {
  const Moment moment{.at = t0, .id = id_of(9, 1)};
  const Moment later{.at = t0 + Millis{1}, .id = id_of(1, 1)};
  EXPECT_LT(embedded::keys::moment(moment), embedded::keys::moment(later));
  for (const auto& text : {by_time(ns("n"), moment.at, moment.id), retention(moment.at, moment.id),
                           by_tag(ns("n"), "t", "v", moment.at, moment.id)}) {
    const auto parsed = parse_moment(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->at, moment.at);
    EXPECT_EQ(parsed->id, moment.id);
  }
}

TEST(Keys, OfCountersAreReadBack) {
  const auto parsed = parse_ended_count(ended_count(300, ns("tenant"), lane("a lane")));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->shard, 300);
  EXPECT_EQ(parsed->ns, ns("tenant"));
  EXPECT_EQ(parsed->lane, lane("a lane"));
}

TEST(Keys, OfBudgetsAndQuotasAreReadAsTheyWereMade) {
  const auto execution = id_of(7, 9);
  const BudgetId a_budget{id_of(0, 1).uuid()};
  const QuotaId a_quota{id_of(0, 2).uuid()};
  EXPECT_EQ(parse_budget(budget(a_budget)), a_budget);
  EXPECT_EQ(parse_quota(quota(a_quota)), a_quota);
  const auto spent = must(parse_ledger(ledger(a_budget, execution)));
  EXPECT_EQ(spent.budget, a_budget);
  EXPECT_EQ(spent.execution, execution);
  const DedupEntry entry{.budget = a_budget, .key = *DedupKey::parse("k")};
  EXPECT_EQ(must(parse_dedup(dedup(entry))).key.str(), "k");
  const auto timed = must(parse_dedup_until(dedup_until(t0, entry)));
  EXPECT_EQ(timed.until, t0);
  EXPECT_EQ(timed.entry.budget, a_budget);
  const core::WindowEntry start{.at = t0, .token = QuotaTokenId{execution.uuid()}};
  const auto parsed = must(parse_place(place(a_quota, start)));
  EXPECT_EQ(parsed.quota, a_quota);
  EXPECT_EQ(parsed.place, start);
}

}  // namespace
}  // namespace ff::embedded::keys
