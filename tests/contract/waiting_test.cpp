// How many executions wait, by what they need.
#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

const std::string counts_key = lane_key("waiting_by_needs");

class WaitingCounts : public Contract {
 protected:
  void ok(const Call& call) {
    const auto reply = run(call);
    EXPECT_TRUE(reply.starts_with("1 ")) << call.name << ": " << reply;
  }

  // How many wait with these needs; "" if there is no such count.
  std::string count(const std::string& capabilities, const std::string& budgets = "",
                    const std::string& quota = "") {
    const auto reply =
        command({"HGET", counts_key, capabilities + "\x1f" + budgets + "\x1f" + quota});
    return reply.as_text() ? *reply.as_text() : "";
  }
};

Call create_for_gpu(const std::string& more = "") {
  return create().with(7,
                       R"({"routing_requirements":{"required_capabilities":["gpu"]})" + more + "}");
}
Call engine_call(const std::string& name, Texts argv) {
  return {name, {exec_key("core")}, std::move(argv)};
}

TEST_F(WaitingCounts, PlainExecutionsAreNotCounted) {
  ok(create());
  ok(issue_claim_grant());
  EXPECT_EQ(*command({"EXISTS", counts_key}).as_int(), 0);
}

TEST_F(WaitingCounts, AreByAllNeeds) {
  const auto needs =
      fmt::format(R"({{"budget_ids":["{}"],"quota_policy_id":"{}"}})", budget_id, quota_id);
  ok(create().with(7, needs));
  ok(create_for_gpu().of(numbered(1)));
  ok(create_for_gpu().of(numbered(2)));
  EXPECT_EQ(count("", budget_id, quota_id), "1");
  EXPECT_EQ(count("gpu"), "2");
}

TEST_F(WaitingCounts, FollowEveryChange) {
  ok(create_for_gpu());
  EXPECT_EQ(count("gpu"), "1");
  ok(change_priority("5"));
  EXPECT_EQ(count("gpu"), "1");
  ok(block());
  EXPECT_EQ(count("gpu"), "");
  ok(unblock());
  EXPECT_EQ(count("gpu"), "1");
  ok(issue_claim_grant().with(9, "gpu"));
  EXPECT_EQ(count("gpu"), "");
  rewind("grant_expires_at");
  ok(engine_call("ff_fire_timer", {"", "", "grant_expiry"}));
  EXPECT_EQ(count("gpu"), "1");
  ok(grant_and_claim());
  EXPECT_EQ(count("gpu"), "");
  ok(fail(1, R"({"max_retries":2})"));
  EXPECT_EQ(count("gpu"), "");
  rewind_delay();
  ok(promote());
  EXPECT_EQ(count("gpu"), "1");
  ok(cancel());
  EXPECT_EQ(count("gpu"), "");
  ok(replay());
  EXPECT_EQ(count("gpu"), "1");
  ok(grant_and_claim(2));
  ok(revoke());
  EXPECT_EQ(count("gpu"), "");
}

TEST_F(WaitingCounts, FollowTheEnginesFunctions) {
  ok(create_for_gpu());
  ok(engine_call("ff_block", {"", "", "waiting_for_capable_worker", "none"}));
  EXPECT_EQ(count("gpu"), "");
  ok(engine_call("ff_unblock", {"", "", "waiting_for_capable_worker"}));
  EXPECT_EQ(count("gpu"), "1");
  ok(engine_call("ff_lease", {"", "", "ready", "w9", "gpu", "L1", "A1", "30000"}));
  EXPECT_EQ(count("gpu"), "");
  ok(engine_call("ff_pause", {"", "", "L1", "1", "A1", "handed_back", "", ""}));
  EXPECT_EQ(count("gpu"), "1");
  ok(engine_call("ff_cancel", {"", "", "enough"}));
  EXPECT_EQ(count("gpu"), "");
  ok(engine_call("ff_replay", {"", "", "again", "me"}));
  EXPECT_EQ(count("gpu"), "1");
}

TEST_F(WaitingCounts, NothingRemainsOfAnEmptyQueue) {
  ok(create_for_gpu(R"(,"stream_policy":{"retention_ttl_ms":0})"));
  ok(cancel());
  await("the end of its retention", [&] {
    return run(engine_call("ff_remove", {"", ""})).find(" 1 ") != std::string::npos &&
           core("namespace").empty();
  });
  EXPECT_TRUE(store().empty());
}

// A store that was written by an older library has no counts.
TEST_F(WaitingCounts, OfAnOlderStoreAreMadeByTheFirstChange) {
  const auto begin = [this] {
    command({"FLUSHALL"});
    for (int i = 1; i <= 3; ++i) ok(create_for_gpu().of(numbered(i)));
    ok(create().of(numbered(4)));
    ok(issue_claim_grant().of(numbered(3)).with(9, "gpu"));
    command({"DEL", counts_key});
  };
  begin();
  ok(create_for_gpu());
  EXPECT_EQ(count("gpu"), "3");
  begin();
  ok(cancel().of(numbered(1)));
  EXPECT_EQ(count("gpu"), "1");
  begin();
  ok(create().with(7, fmt::format(R"({{"budget_ids":["{}"]}})", budget_id)));
  EXPECT_EQ(count("gpu"), "2");
  EXPECT_EQ(count("", budget_id), "1");
}

TEST_F(WaitingCounts, WrongCountsAreCorrected) {
  ok(create_for_gpu());
  command({"HSET", counts_key, "gpu\x1f\x1f", "7", "cpu\x1f\x1f", "2"});
  const Call recount{"ff_recount_waiting", {index_key("any")}, {"1000"}};
  EXPECT_EQ(run(recount), "1 OK 2");
  EXPECT_EQ(count("gpu"), "1");
  EXPECT_EQ(count("cpu"), "");
  const auto writes = [this] {
    const auto text = *command({"INFO", "persistence"}).as_text();
    const auto at = text.find("rdb_changes_since_last_save:");
    return text.substr(at, text.find('\r', at) - at);
  };
  const auto before = writes();
  EXPECT_EQ(run(recount), "1 OK 0");
  EXPECT_EQ(writes(), before) << "counts that are right are not written";
}

TEST_F(WaitingCounts, OfALongQueueAreNotCountedAgain) {
  ok(create_for_gpu());
  ok(create_for_gpu().of(numbered(1)));
  command({"HSET", counts_key, "gpu\x1f\x1f", "7"});
  EXPECT_EQ(run({"ff_recount_waiting", {index_key("any")}, {"1"}}), "1 OK 0");
  EXPECT_EQ(count("gpu"), "7");
}

TEST_F(WaitingCounts, ALongQueueThatNobodyCountedIsTakenForOneWithoutNeeds) {
  ok(create());
  ok(create().of(numbered(1)));
  EXPECT_EQ(run({"ff_recount_waiting", {index_key("any")}, {"1"}}), "1 OK 0");
  EXPECT_EQ(*command({"HLEN", counts_key}).as_int(), 1);
  ok(create_for_gpu().of(numbered(2)));
  EXPECT_EQ(count("gpu"), "1");
}

TEST_F(WaitingCounts, AreCountedAgainAFewQueuesAtATime) {
  ok(create_for_gpu());
  ok(create_for_gpu().of(numbered(1)));
  ok(create_for_gpu().of(numbered(2)).with(3, "other"));
  const auto other_key = lane_key("waiting_by_needs", "other");
  for (const auto& key : {counts_key, other_key}) command({"HSET", key, "gpu\x1f\x1f", "7"});
  EXPECT_EQ(run({"ff_recount_waiting", {index_key("any")}, {"2"}}), "1 OK 1 main");
  EXPECT_EQ(run({"ff_recount_waiting", {index_key("any")}, {"2", "main"}}), "1 OK 1");
  EXPECT_EQ(count("gpu"), "2");
  EXPECT_EQ(*command({"HGET", other_key, "gpu\x1f\x1f"}).as_text(), "1");
}

// ---- Fairness keys -------------------------------------------------------------------------------

Call create_for_key(const std::string& more = "") {
  return create().with(7, R"({"fairness_key":"acme")" + more + "}");
}

TEST_F(WaitingCounts, AreByFairnessKey) {
  ok(create_for_key());
  EXPECT_EQ(core("fairness"), "1 acme");
  ok(create_for_key(R"(,"fairness_weight":3)").of(numbered(1)));
  EXPECT_EQ(core("fairness", numbered(1)), "3 acme");
  EXPECT_EQ(count("", "", "\x1f" "1 acme"), "1");
  EXPECT_EQ(count("", "", "\x1f" "3 acme"), "1");
  ok(grant_and_claim());
  EXPECT_EQ(count("", "", "\x1f" "1 acme"), "");
}

TEST_F(WaitingCounts, WrongFairnessKeysAreRefused) {
  const auto refuse = [&](const std::string& policy, const std::string& detail) {
    expect_refused(create().with(7, policy), "0 invalid_policy_json " + detail);
  };
  refuse(R"({"fairness_key":7})", "fairness_key:not_text");
  refuse(R"({"fairness_key":""})", "fairness_key:empty");
  refuse(R"({"fairness_key":"a b"})", "fairness_key:control_or_whitespace");
  refuse(R"({"fairness_key":")" + std::string(129, 'k') + "\"}", "fairness_key:too_long");
  refuse(R"({"fairness_weight":2})", "fairness_weight:without_fairness_key");
  refuse(R"({"fairness_key":"a","fairness_weight":0})", "fairness_weight:out_of_range");
  refuse(R"({"fairness_key":"a","fairness_weight":1001})", "fairness_weight:out_of_range");
  refuse(R"({"fairness_key":"a","fairness_weight":"2"})", "fairness_weight:out_of_range");
}

// ---- The oldest ----------------------------------------------------------------------------------

TEST_F(WaitingCounts, TheOldestOfEachPriorityAreFound) {
  const auto submit = [&](int number, int priority) {
    ok(create().of(numbered(number)).with(5, std::to_string(priority)));
  };
  submit(1, 0);
  for (int i = 2; i < 8; ++i) submit(i, 9000);
  for (int i = 8; i < 12; ++i) submit(i, 10);
  const auto reply =
      run({"ff_look_oldest", {index_key("any")}, {std::to_string(now()), "main", "2", "1"}});
  EXPECT_NE(reply.find(numbered(1)), std::string::npos) << reply;
  EXPECT_NE(reply.find(numbered(8)), std::string::npos) << reply;
  EXPECT_EQ(reply.find(numbered(9)), std::string::npos) << reply;
  EXPECT_EQ(reply.find(numbered(2)), std::string::npos) << reply;
}

TEST_F(WaitingCounts, AnEmptyQueueHasNoOldest) {
  EXPECT_EQ(run({"ff_look_oldest", {index_key("any")}, {std::to_string(now()), "main", "2", "1"}}),
            "1 OK main eligible \"\" \"\" 0 0 [] []");
}

}  // namespace
}  // namespace ff::test
