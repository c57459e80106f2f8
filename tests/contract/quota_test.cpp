// Quotas by the contract's functions.
#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

const std::string window = quota + ":window:requests_per_window";
const std::string concurrency = quota + ":concurrency";
const std::string admitted_set = quota + ":admitted_set";
const std::string quota_policies = "ff:idx:{q:4}:quota_policies";

Call create_quota() {
  return {"ff_create_quota_policy",
          {quota, window, concurrency, admitted_set, quota_policies},
          {quota_id, "60", "2", "2", "1000"}};
}

std::string guard(const std::string& execution) { return quota + ":admitted:" + execution; }

Call admit(const std::string& execution = E, const std::string& now = "1000",
           const std::string& rate = "2", const std::string& cap = "0") {
  return {"ff_check_admission_and_record",
          {window, concurrency, quota, guard(execution), admitted_set},
          {now, "60", rate, cap, execution, "0"}};
}

Call release_admission(const std::string& execution = E) {
  return {"ff_release_admission", {guard(execution), admitted_set, concurrency}, {execution}};
}

using Fields = std::map<std::string, std::string>;

class QuotaContract : public Contract {
 protected:
  std::string counter() { return store()[concurrency][""]; }
};

TEST_F(QuotaContract, CreateStoresWhatItIsGiven) {
  EXPECT_EQ(run(create_quota()), "1 OK " + quota_id);
  EXPECT_EQ(store()[quota], (Fields{{"quota_policy_id", quota_id},
                                    {"requests_per_window_seconds", "60"},
                                    {"max_requests_per_window", "2"},
                                    {"active_concurrency_cap", "2"},
                                    {"created_at", "1000"}}));
  EXPECT_EQ(counter(), "0");
  EXPECT_EQ(store()[quota_policies].count(quota_id), 1U);
  expect_refused(create_quota().with(2, "x"), "1 ALREADY_SATISFIED " + quota_id);
}

TEST_F(QuotaContract, CreateRefusesWords) {
  const auto call = create_quota();
  expect_refused(call.with(2, "x"), "0 invalid_input window_seconds must be a number, got: x");
  expect_refused(call.with(3, "x"),
                 "0 invalid_input max_requests_per_window must be a number, got: x");
  expect_refused(call.with(4, "1.5"),
                 "0 invalid_input max_concurrent must be a whole number, got: 1.5");
  expect_refused(call.with(5, ""), "0 invalid_input now_ms must be a number, got: ");
  expect_refused(
      call.with(1, "other"),
      "0 invalid_input quota_policy_id must be the one in the key of the definition, got: "
      "other");
}

TEST_F(QuotaContract, AdmitRecordsTheStart) {
  EXPECT_EQ(run(admit(E, "1000", "2", "5")), "ADMITTED");
  EXPECT_EQ(store()[window], (Fields{{"<E>", "1000"}}));
  EXPECT_EQ(counter(), "1");
  EXPECT_EQ(store()[admitted_set].count("<E>"), 1U);
  EXPECT_GT(*command({"PTTL", guard(E)}).as_int(), 50'000);
  expect_refused(admit(E, "1001", "2", "5"), "ALREADY_ADMITTED");
}

TEST_F(QuotaContract, AdmitForgetsPastStartsAThousandAtATime) {
  Texts starts{"ZADD", window};
  for (int i = 1; i <= 2'500; ++i) {
    starts.push_back(std::to_string(i));
    starts.push_back(fmt::format("start-{}", i));
  }
  command(starts);
  const std::string later = "100000";
  EXPECT_EQ(run(admit(E, later)), "ADMITTED");
  EXPECT_EQ(*command({"ZCARD", window}).as_int(), 1'501);
  EXPECT_EQ(run(admit(other_E, later)), "ADMITTED");
  EXPECT_EQ(*command({"ZCARD", window}).as_int(), 502);
  EXPECT_EQ(run(admit(numbered(3), later)), "RATE_EXCEEDED 60000");
}

TEST_F(QuotaContract, AdmitIsRefusedByTheRateUntilTheWindowHasRoom) {
  run(admit(E, "1000"));
  EXPECT_EQ(run(admit(other_E, "2000", "1")), "RATE_EXCEEDED 59000");
  EXPECT_EQ(run(admit(other_E, "60999", "1")), "RATE_EXCEEDED 1");
  EXPECT_EQ(run(admit(other_E, "61000", "1")), "ADMITTED");
  EXPECT_EQ(store()[window], (Fields{{"<F>", "61000"}}));
}

TEST_F(QuotaContract, JitterOnlyAddsToTheTimeToWait) {
  run(admit(E, "1000"));
  for (int i = 0; i < 20; ++i) {
    const auto told = reply_of(admit(other_E, "2000", "1").with(6, "10"));
    EXPECT_GE(std::stoi(told.at(1)), 59000);
    EXPECT_LE(std::stoi(told.at(1)), 59010);
  }
}

TEST_F(QuotaContract, AdmitIsRefusedByTheCap) {
  EXPECT_EQ(run(admit(E, "1000", "0", "1")), "ADMITTED");
  expect_refused(admit(other_E, "1000", "0", "1"), "CONCURRENCY_EXCEEDED");
  run(release_admission());
  EXPECT_EQ(run(admit(other_E, "1000", "0", "1")), "ADMITTED");
}

TEST_F(QuotaContract, AnExecutionThatIsLetInAgainHoldsOneSlot) {
  run(admit(E, "1000", "0", "1"));
  command({"DEL", guard(E)});
  EXPECT_EQ(run(admit(E, "1000", "0", "1")), "ADMITTED");
  EXPECT_EQ(counter(), "1");
}

TEST_F(QuotaContract, WithoutACapNoSlotIsHeld) {
  run(admit());
  EXPECT_EQ(store().count(admitted_set), 0U);
  EXPECT_EQ(store().count(concurrency), 0U);
}

TEST_F(QuotaContract, AdmitRefusesWhatIsNoNumberInThisOrder) {
  auto call = admit().with(4, "x");
  expect_refused(call, "0 invalid_input concurrency_cap must be a number, got: x");
  call = call.with(3, "x");
  expect_refused(call, "0 invalid_input rate_limit must be a number, got: x");
  call = call.with(2, "x");
  expect_refused(call, "0 invalid_input window_seconds must be a number, got: x");
  call = call.with(1, "x");
  expect_refused(call, "0 invalid_input now_ms must be a number, got: x");
  for (const std::string bad : {"inf", "1e300", "1.0005"})
    EXPECT_TRUE(run(admit().with(2, bad)).starts_with("0 invalid_input window_seconds")) << bad;
  EXPECT_EQ(store(), Store{});
  EXPECT_EQ(run(admit().with(2, "1.5")), "ADMITTED");
}

TEST_F(QuotaContract, ReleaseGivesBackOnlyWhatWasHeld) {
  run(admit(E, "1000", "5", "5"));
  run(admit(other_E, "1000", "5", "5"));
  EXPECT_EQ(run(release_admission()), "1 OK released");
  EXPECT_EQ(counter(), "1");
  expect_refused(release_admission(), "1 OK released");
  EXPECT_EQ(store()[window].size(), 2U);
  EXPECT_EQ(store().count(guard("<E>")), 0U);
  expect_refused(release_admission().with(1, ""), "0 invalid_input execution_id must not be empty");
}

TEST_F(QuotaContract, ReleaseOfAStartThatWasNotMadeGivesItsPlaceBack) {
  run(admit(E, "1000", "1", "0"));
  auto unused = release_admission();
  unused.argv.push_back("unused");
  EXPECT_EQ(run(unused), "1 OK released");
  EXPECT_EQ(run(admit(other_E, "1000", "1", "0")), "ADMITTED");
}

// The engine's own functions.
TEST_F(QuotaContract, ReleasedTokenThatIsStillInTheWindowTakesNoSecondSlot) {
  run(create_quota());
  const Call admit_token{"ff_quota_admit", {quota}, {"1000", "t1", E}};
  EXPECT_TRUE(run(admit_token).starts_with("1 OK admitted 1000 "));
  EXPECT_EQ(counter(), "1");
  run({"ff_quota_release", {quota}, {"1001", "t1", "0"}});
  EXPECT_EQ(counter(), "0");
  EXPECT_TRUE(run(admit_token.with(1, "1002")).starts_with("1 OK admitted 1000 "));
  EXPECT_EQ(counter(), "0");
}

// ---- The limit of a fairness key -----------------------------------------------------------------

TEST_F(QuotaContract, ALimitOfAKeyIsMadeAndChanged) {
  const auto keep = [](const std::string& has_room, const std::string& max) {
    return Call{"ff_quota_keep", {quota}, {"1000", has_room, "default", max}};
  };
  const auto word = [&](const Call& call) {  // without the server's run, which follows it
    const auto reply = run(call);
    return reply.substr(0, reply.rfind(' '));
  };
  EXPECT_EQ(word(keep("0", "2")), "0 resource_exhausted");
  EXPECT_FALSE(store().contains(quota));
  EXPECT_EQ(word(keep("1", "2")), "1 OK");
  EXPECT_EQ(store()[quota]["active_concurrency_cap"], "2");
  EXPECT_EQ(store()[quota]["namespace"], "default");
  const Call admit_one{"ff_quota_admit", {quota}, {"1000", "t1", E}};
  EXPECT_EQ(run(admit_one).substr(0, 13), "1 OK admitted");
  EXPECT_EQ(word(keep("0", "5")), "1 OK") << "one that is there needs no room";
  EXPECT_EQ(store()[quota]["active_concurrency_cap"], "5");
  EXPECT_EQ(counter(), "1") << "what runs still counts";
  const auto before = store();
  EXPECT_EQ(word(keep("0", "5")), "1 OK");
  EXPECT_EQ(store(), before);
}

}  // namespace
}  // namespace ff::test
