// Functions check, then write, then publish. A call by a user who may not publish does all that it should; a call
// that is refused writes nothing.
#include <regex>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

struct Case {
  std::string state;
  Call call;
};

Call of_engine(const std::string& name, Texts argv) {
  argv.insert(argv.begin(), {"", "me"});
  return {name, {exec_key("core")}, std::move(argv)};
}

Call submit(const std::string& payload = "=in", const std::string& digest = "digest",
            const std::string& idempotency_key = "") {
  return of_engine("ff_submit",
                   {"default", "main", "job", "0", payload, digest, "", "", idempotency_key, "", "",
                    "", "", "", "", "", "", std::string(16, '\x11')});
}

std::vector<Case> changes_of_executions() {
  return {
      {"none", create()},
      {"waiting", change_priority("0.001")},
      {"waiting", set_tags({"a.b", "c"})},
      {"waiting", block()},
      {"blocked", unblock()},
      {"waiting", issue_claim_grant()},
      {"waiting", grant_and_claim()},
      {"granted", claim()},
      {"active", progress()},
      {"active", complete()},
      {"active", fail()},
      {"active", fail(1, R"({"max_retries":1})")},
      {"active", delay()},
      {"active", wait_for_children()},
      {"active", cancel()},
      {"active", revoke()},
      {"active", expire()},
      {"overdue", mark_expired()},
      {"overdue", complete()},
      {"expired", issue_reclaim_grant()},
      {"lost_granted", reclaim()},
      {"lost_granted", reclaim().with(9, "0")},
      {"resumable_granted", claim_resumed()},
      {"completed", replay()},
      {"none", submit()},
      {"waiting", of_engine("ff_grant", {"w1", "", "5000", "", ""})},
      {"waiting", of_engine("ff_lease", {"ready", "w9", "", "L1", "A1", "30000"})},
      {"active", of_engine("ff_progress", {"L1", "1", "A1", "50", "half"})},
      {"active", of_engine("ff_complete", {"L1", "1", "A1", "1", "done", ""})},
      {"active", of_engine("ff_fail", {"L1", "1", "A1", "oops", "transient"})},
      {"active", of_engine("ff_pause", {"L1", "1", "A1", "handed_back", "", ""})},
      {"active", of_engine("ff_cancel", {"not needed"})},
      {"active", of_engine("ff_revoke", {"", "operator"})},
      {"overdue", of_engine("ff_fire_timer", {"lease_expiry"})},
      {"completed", of_engine("ff_replay", {"again", "me"})},
      {"waiting", of_engine("ff_set_priority", {"0.001"})},
      {"waiting", of_engine("ff_set_tags", {"10", "1", "a", "b"})},
      {"waiting", of_engine("ff_block", {"waiting_for_quota", "full"})},
      {"blocked", of_engine("ff_unblock", {"waiting_for_budget"})},
  };
}

class Publishing : public Contract {
 protected:
  ~Publishing() override { permit(); }

  void permit() {
    command({"ACL", "SETUSER", "default", "+publish", "+spublish", "+info", "allchannels"});
  }
  void forbid(const Texts& rights) {
    Texts rule{"ACL", "SETUSER", "default"};
    rule.insert(rule.end(), rights.begin(), rights.end());
    ASSERT_EQ(valkey::to_text(command(rule)), "\"OK\"");
  }
  void bring_member_to(const std::string& state) {
    bring_to(state);
    if (state != "none") command({"HSET", exec_key("core"), "flow_id", "f1"});
  }
  // Changes made by the call, with every later time shown as `later`.
  std::string change_of(const Call& call) {
    return std::regex_replace(change(call), std::regex(R"(t\+\d+)"), "later");
  }
  // The reply without the name of the server's run.
  std::string ask(const Call& call) {
    const auto text = run(call);
    return text.substr(0, text.rfind(' '));
  }
  void expect_no_change(const Call& call, const std::string& reply) {
    const auto before = store();
    EXPECT_EQ(ask(call), reply);
    EXPECT_EQ(store(), before);
  }
};

TEST_F(Publishing, IsNotNeededToCompleteAnExecution) {
  bring_member_to("active");
  forbid({"-publish", "-spublish"});
  EXPECT_EQ(run(complete()), "1 OK completed");
  auto stored = store();
  EXPECT_EQ(stored["core"]["lifecycle_phase"], "terminal");
  EXPECT_EQ(stored["core"]["public_state"], "completed");
  EXPECT_EQ(stored["result"][""], "done");
  EXPECT_EQ(stored["attempt:0"]["attempt_state"], "ended_success");
  EXPECT_EQ(stored["idx:lane:main:terminal"].count("<E>"), 1U);
  for (const auto* index : {"idx:lane:main:active", "idx:lease_expiry", "idx:worker:w1-i1:leases"})
    EXPECT_FALSE(stored.contains(index)) << index;
}

TEST_F(Publishing, ItsFailureChangesNothingElse) {
  for (const auto& [state, call] : changes_of_executions()) {
    bring_member_to(state);
    const auto expected = change_of(call);
    for (const auto& rights : std::vector<Texts>{{"-publish", "-spublish"}, {"resetchannels"}}) {
      bring_member_to(state);
      forbid(rights);
      EXPECT_EQ(change_of(call), expected) << call.name << " of " << state << " with " << rights[0];
      permit();
    }
  }
}

TEST_F(Publishing, IsNotNeededToRemoveAnExecution) {
  run(create().with(7, R"({"stream_policy":{"retention_ttl_ms":0}})"));
  run(cancel());
  forbid({"-spublish"});
  await("the end of its retention",
        [&] { return ask(of_engine("ff_remove", {})).ends_with(" 1"); });
  EXPECT_TRUE(store().empty());
}

TEST_F(Publishing, IsNotNeededToChangeBudgetsAndQuotas) {
  forbid({"-spublish"});
  const auto budget_call = [](const std::string& name, Texts argv) {
    return Call{name, {budget}, std::move(argv)};
  };
  EXPECT_EQ(ask(budget_call("ff_budget_create", {"1000", "1", "default", "tenant", "t1", "strict",
                                                 "fail", "warn", "60000", "hard:tokens", "10"})),
            "1 OK");
  EXPECT_EQ(ask(budget_call("ff_budget_report", {"2000", "", E, "tokens", "9"})), "1 OK applied");
  EXPECT_EQ(ask(budget_call("ff_budget_release", {"3000", E})), "1 OK tokens 9");
  EXPECT_EQ(ask(budget_call("ff_budget_reset", {"4000", "0"})), "1 OK 61000");
  EXPECT_EQ(ask(budget_call("ff_budget_delete", {"5000"})), "1 OK");

  const auto quota_call = [](const std::string& name, Texts argv) {
    return Call{name, {quota}, std::move(argv)};
  };
  EXPECT_EQ(ask(quota_call("ff_quota_create", {"1000", "1", "default", "60000", "0", "1", "0"})),
            "1 OK");
  EXPECT_EQ(ask(quota_call("ff_quota_admit", {"2000", "token", E})), "1 OK admitted 2000");
  EXPECT_EQ(ask(quota_call("ff_quota_release", {"3000", "token", "0"})), "1 OK");
  EXPECT_EQ(store()[quota + ":concurrency"][""], "0");
  EXPECT_EQ(ask(quota_call("ff_quota_delete", {"4000"})), "1 OK");
}

// ---- Checks before writes --------------------------------------------------------------------------

using Refusals = Publishing;

TEST_F(Refusals, AReportThatCannotBeCountedResetsNothing) {
  ask({"ff_budget_create",
       {budget},
       {"1000", "1", "default", "tenant", "t1", "strict", "fail", "warn", "60000", "soft:tokens",
        "10"}});
  ask({"ff_budget_report", {budget}, {"2000", "", E, "tokens", "9"}});
  expect_no_change({"ff_budget_report", {budget}, {"70000", "", E, "tokens", "1e300"}},
                   "0 invalid_input tokens");
  EXPECT_EQ(ask({"ff_budget_report", {budget}, {"70000", "", E, "tokens", "9"}}), "1 OK applied");
  EXPECT_EQ(store()[budget + ":usage"]["tokens"], "9");
}

TEST_F(Refusals, AStartBeyondTheRateForgetsNoPastOnes) {
  ask({"ff_quota_create", {quota}, {"1000", "1", "default", "1000", "2", "0", "0"}});
  for (const std::string at : {"1000", "1900"})
    ask({"ff_quota_admit", {quota}, {at, "token" + at, E}});
  const auto full = Call{"ff_quota_admit", {quota}, {"2100", "token3", E}};
  EXPECT_EQ(ask(full), "1 OK admitted 2100") << "the first is past";
  expect_no_change(full.with(2, "token4"), "1 OK rate 2900 2 1000 0");
  command({"ZADD", quota + ":window:requests_per_window", "100", "past"});
  expect_no_change(full.with(2, "past"), "1 OK rate 2900 2 1000 0");
}

TEST_F(Refusals, AWorkerTooManyRemovesNoExpiredOnes) {
  const auto workers = "ff:workers:{w:default}";
  const auto add = [&](const std::string& now, const std::string& worker,
                       const std::string& ttl_ms) {
    return Call{"ff_worker_register", {workers}, {now, worker, "main", "", ttl_ms, "2"}};
  };
  ask(add("1000", "w1", "1000"));
  ask(add("1000", "w2", "5000"));
  expect_no_change(add("3000", "w3", "1000").with(6, "1"), "0 resource_exhausted");
  EXPECT_EQ(ask(add("3000", "w3", "1000")), "1 OK 0 0 4000");
  EXPECT_FALSE(store()[workers].contains("w1")) << "it made room";
}

TEST_F(Refusals, ASubmissionIsNoRepeatOfWhatAContractProgramCreatedElsewhere) {
  ask(create());
  EXPECT_EQ(ask(submit()), "1 DUPLICATE \"\" waiting <E>");
  constexpr std::size_t namespace_at = 3, lane_at = 4, kind_at = 5;
  for (const auto at : {namespace_at, lane_at, kind_at})
    expect_no_change(submit().with(at, "other"), "0 duplicate_mismatch <E>");
}

TEST_F(Refusals, APayloadOfASubmissionThatIsNotNewIsNotKept) {
  ask(submit("=in", "digest", "once"));
  const auto expires = [&](const std::string& id) {
    return *command({"PTTL", exec_key("payload", id)}).as_int() > 0;
  };
  const auto set_payload = [&](const std::string& id) {
    command({"SET", exec_key("payload", id), "large", "EX", "600"});
  };
  set_payload(other_E);
  EXPECT_EQ(ask(submit("#", "digest", "once").of(other_E)), "1 DUPLICATE \"\" waiting <E>");
  EXPECT_TRUE(expires(other_E));
  EXPECT_EQ(ask(submit("#", "other", "once").of(other_E)), "0 duplicate_mismatch <E>");
  EXPECT_TRUE(expires(other_E));
  EXPECT_EQ(ask(submit("#", "digest").of(numbered(1))), "0 payload_missing");
  set_payload(E);
  EXPECT_EQ(ask(submit("#")), "1 DUPLICATE \"\" waiting <E>");
  EXPECT_FALSE(expires(E)) << "it is the payload of an execution";
}

TEST_F(Refusals, AUserWhoMayNotAskForTheRunChangesNothing) {
  const auto library = *command({"FUNCTION", "DUMP"}).as_text();
  command({"FUNCTION", "RESTORE", library, "REPLACE"});  // it asks again
  forbid({"-info"});
  EXPECT_TRUE(run(submit()).starts_with("(error)"));
  EXPECT_TRUE(store().empty());
}

}  // namespace
}  // namespace ff::test
