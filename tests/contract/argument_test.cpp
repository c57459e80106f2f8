// No argument, however bad, leaves anything half written.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Arguments = Contract;

const Texts no_numbers{"abc", "nan", "-nan", "1x"};
const Texts no_finite_numbers{"inf", "-inf", "1e300", "-1e300"};

Texts joined(std::initializer_list<Texts> lists) {
  Texts all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const Texts bad_number = joined({{""}, no_numbers, no_finite_numbers});
const Texts bad_time = joined({bad_number, {"-1", "99999999999999"}});
const Texts bad_ttl = joined({bad_time, {"0", "0.5", "9007199254740993"}});
const Texts bad_optional = joined({no_numbers, {"inf", "1e300", "-inf", "-1"}});
const Texts bad_dedup = joined({no_numbers, {"inf", "1e300"}});
const Texts bad_priority = joined({{""}, no_numbers});
const Texts bad_name{"", "a\nb", std::string("a\0b", 3)};

struct Row {
  std::string state;
  Call call;
  std::size_t position;
  std::string name;
  Texts bad;
};

TEST_F(Arguments, InvalidArgumentsChangeNothing) {
  const std::vector<Row> rows{
      {"none", create(), 2, "namespace", bad_name},
      {"none", create(), 3, "lane_id", bad_name},
      {"none", create(), 4, "execution_kind", bad_name},
      {"none", create(), 5, "priority", bad_priority},
      {"none", create(), 9, "delay_until", bad_optional},
      {"none", create(), 10, "dedup_ttl_ms", bad_dedup},
      {"none", create(), 12, "execution_deadline_at", bad_optional},
      {"waiting", issue_claim_grant(), 2, "worker_id", bad_name},
      {"waiting", issue_claim_grant(), 3, "worker_instance_id", bad_name},
      {"waiting", issue_claim_grant(), 6, "grant_ttl_ms", bad_ttl},
      {"granted", claim(), 2, "worker_id", bad_name},
      {"granted", claim(), 3, "worker_instance_id", bad_name},
      {"granted", claim(), 6, "lease_id", bad_name},
      {"granted", claim(), 7, "lease_ttl_ms", bad_ttl},
      {"granted", claim(), 8, "renew_before_ms", bad_time},
      {"granted", claim(), 9, "attempt_id", bad_name},
      {"granted", claim(), 11, "attempt_timeout_ms", bad_optional},
      {"granted", claim(), 12, "execution_deadline_at", bad_optional},
      {"resumable_granted", claim_resumed(), 6, "lease_id", bad_name},
      {"resumable_granted", claim_resumed(), 7, "lease_ttl_ms", bad_ttl},
      {"resumable_granted", claim_resumed(), 8, "remaining_attempt_timeout_ms", bad_optional},
      {"waiting", grant_and_claim(), 6, "lease_id", bad_name},
      {"waiting", grant_and_claim(), 7, "lease_ttl_ms", bad_ttl},
      {"waiting", grant_and_claim(), 8, "attempt_id", bad_name},
      {"waiting", grant_and_claim(), 10, "attempt_timeout_ms", bad_optional},
      {"waiting", grant_and_claim(), 11, "execution_deadline_at", bad_optional},
      {"expired", issue_reclaim_grant(), 6, "grant_ttl_ms", bad_ttl},
      {"lost_granted", reclaim(), 5, "lease_id", bad_name},
      {"lost_granted", reclaim(), 6, "lease_ttl_ms", bad_ttl},
      {"lost_granted", reclaim(), 7, "attempt_id", bad_name},
      {"lost_granted", reclaim(), 9, "default_max_reclaim_count", bad_optional},
      {"active", delay(), 5, "delay_until", bad_time},
      {"delayed", promote(), 2, "now_ms", bad_number},
      {"active", renew(), 6, "lease_ttl_ms", bad_ttl},
      {"active", renew(), 7, "lease_history_grace_ms", bad_time},
      {"active", progress(), 4, "progress_pct", joined({bad_optional, {"256"}})},
      {"waiting", change_priority("1"), 2, "new_priority", bad_priority},
      {"waiting", block(), 4, "now_ms", bad_number},
      {"blocked", unblock(), 2, "now_ms", bad_number},
      {"none", register_worker(), 1, "instance_id", bad_name},
      {"none", register_worker(), 2, "worker_id", bad_name},
      {"none", register_worker(), 5, "ttl_ms", bad_ttl},
      {"none", register_worker(), 6, "now_ms", bad_time},
      {"none", heartbeat(), 1, "now_ms", bad_time}};
  for (const auto& row : rows) {
    bring_to(row.state);
    const auto before = store();
    for (const auto& bad : row.bad) {
      const auto reply = run(row.call.with(row.position, bad));
      EXPECT_TRUE(reply.starts_with("0 invalid_input " + row.name + " must "))
          << row.call.name << " " << row.name << "=" << bad << ": " << reply;
      EXPECT_EQ(store(), before) << row.call.name << " " << row.name << "=" << bad;
    }
    EXPECT_TRUE(run(row.call).starts_with("1 ")) << row.call.name;
  }
}

TEST_F(Arguments, MissingArgumentsChangeNothing) {
  const std::vector<std::pair<std::string, Call>> rows{{"none", create()},
                                                       {"waiting", issue_claim_grant()},
                                                       {"granted", claim()},
                                                       {"resumable_granted", claim_resumed()},
                                                       {"waiting", grant_and_claim()},
                                                       {"expired", issue_reclaim_grant()},
                                                       {"lost_granted", reclaim()},
                                                       {"active", complete()},
                                                       {"active", fail()},
                                                       {"active", delay()},
                                                       {"active", wait_for_children()},
                                                       {"active", renew()},
                                                       {"active", progress()},
                                                       {"delayed", promote()},
                                                       {"waiting", block()},
                                                       {"blocked", unblock()},
                                                       {"waiting", change_priority("1")},
                                                       {"overdue", mark_expired()},
                                                       {"active", revoke()},
                                                       {"active", expire()},
                                                       {"active", cancel()},
                                                       {"failed", replay()},
                                                       {"none", register_worker()},
                                                       {"none", heartbeat()}};
  for (const auto& [state, call] : rows) {
    bring_to(state);
    const auto before = store();
    for (std::size_t count = 0; count < 2 && count < call.argv.size(); ++count) {
      const auto reply = run(call.cut(count));
      if (reply.starts_with("1 ")) break;  // what is missing is not needed
      EXPECT_TRUE(reply.starts_with("0 ")) << call.name << ": " << reply;
      EXPECT_EQ(store(), before) << call.name;
    }
  }
}

TEST_F(Arguments, MustNameTheExecutionOfTheCore) {
  const std::vector<std::pair<std::string, Call>> rows{{"none", create()},
                                                       {"waiting", issue_claim_grant()},
                                                       {"granted", claim()},
                                                       {"resumable_granted", claim_resumed()},
                                                       {"waiting", grant_and_claim()},
                                                       {"expired", issue_reclaim_grant()},
                                                       {"lost_granted", reclaim()},
                                                       {"active", complete()},
                                                       {"active", fail()},
                                                       {"active", delay()},
                                                       {"active", wait_for_children()},
                                                       {"active", renew()},
                                                       {"active", progress()},
                                                       {"delayed", promote()},
                                                       {"waiting", block()},
                                                       {"blocked", unblock()},
                                                       {"waiting", change_priority("1")},
                                                       {"overdue", mark_expired()},
                                                       {"active", revoke()},
                                                       {"active", expire()},
                                                       {"active", cancel()},
                                                       {"failed", replay()}};
  for (const auto& [state, call] : rows) {
    bring_to(state);
    expect_refused(call.with(1, other_E),
                   "0 invalid_input execution_id must be the one in the core key, got: <F>");
  }
}

// The grant is not used up, and no attempt begins.
TEST_F(Arguments, MustHoldAnAttemptPolicyThatIsOne) {
  for (const std::string bad : {"{", "5", "null", "\"a\""}) {
    bring_to("granted");
    expect_refused(claim().with(10, bad), "0 invalid_policy_json malformed");
    EXPECT_EQ(run(claim()), "1 OK L1 1 X A1 0 initial");
    bring_to("waiting");
    expect_refused(grant_and_claim().with(9, bad), "0 invalid_policy_json malformed");
  }
}

TEST_F(Arguments, SayWhatIsExpected) {
  expect_refused(create().with(5, "abc"), "0 invalid_input priority must be a number, got: abc");
  expect_refused(create().with(5, "nan"), "0 invalid_input priority must be a number, got: nan");
  bring_to("granted");
  expect_refused(claim().with(7, "0"),
                 "0 invalid_input lease_ttl_ms must be from 1 to 315569520000, got: 0");
  expect_refused(claim().with(7, "inf"),
                 "0 invalid_input lease_ttl_ms must be from 1 to 315569520000, got: inf");
}

}  // namespace
}  // namespace ff::test
