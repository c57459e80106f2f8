#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Grant = Contract;

const std::string gpu_policy =
    R"({"routing_requirements":{"required_capabilities":["gpu","cuda"]}})";

TEST_F(Grant, SetsAReadyExecutionAside) {
  bring_to("waiting");
  EXPECT_EQ(change(issue_claim_grant().with(5, "hash").with(7, "{}").with(8, "sum")), R"(1 OK <E>
claim_grant (expires)=t+5000
claim_grant admission_summary=sum
claim_grant capability_hash=hash
claim_grant created_at=t
claim_grant grant_expires_at=t+5000
claim_grant lane_id=main
claim_grant route_snapshot_json={}
claim_grant worker_id=w1
claim_grant worker_instance_id=w1-i1
core grant_expires_at=t+5000
core granted_to=w1
idx:grants <E>=t+5000
)");
}

TEST_F(Grant, RefusesInThisOrder) {
  expect_refused(issue_claim_grant(), "0 execution_not_found");
  expect_refused(issue_claim_grant().with(6, "x"),
                 "0 invalid_input grant_ttl_ms must be a number, got: x");
  for (const std::string state : {"delayed", "active", "completed", "blocked"}) {
    bring_to(state);
    expect_refused(issue_claim_grant(), "0 execution_not_eligible");
  }
  bring_to("granted");
  expect_refused(issue_claim_grant("w2"), "0 grant_already_exists");
  bring_to("waiting");
  command({"ZREM", lane_key("eligible"), E});
  expect_refused(issue_claim_grant(), "0 execution_not_in_eligible_set");
}

TEST_F(Grant, IsIssuedAgainWhenItIsOver) {
  bring_to("granted");
  command({"HSET", exec_key("claim_grant"), "grant_expires_at", "1000"});
  EXPECT_EQ(run(issue_claim_grant("w2")), "1 OK <E>");
}

// Also where a fraction is given.
TEST_F(Grant, AlwaysExpires) {
  bring_to("waiting");
  EXPECT_EQ(run(issue_claim_grant().with(6, "20.5")), "1 OK <E>");
  EXPECT_EQ(store()["claim_grant"].count("(expires)"), 1U);
  await("the grant's end", [&] { return !store().contains("claim_grant"); });
  EXPECT_EQ(run(issue_claim_grant("w2")), "1 OK <E>");
}

TEST_F(Grant, WantsTheCapabilities) {
  run(create().with(7, gpu_policy));
  EXPECT_EQ(change(issue_claim_grant().with(9, "cpu")), R"(0 capability_mismatch cuda,gpu
core last_capability_mismatch_at=t
)");
  EXPECT_EQ(run(issue_claim_grant().with(9, "GPU,cuda,,x")), "0 capability_mismatch gpu");
  EXPECT_EQ(run(issue_claim_grant().cut(8)), "0 capability_mismatch cuda,gpu");
  EXPECT_EQ(run(issue_claim_grant().with(9, "x,gpu,cuda")), "1 OK <E>");
}

TEST_F(Grant, LimitsCapabilities) {
  bring_to("waiting");
  std::string many = "a";
  for (int i = 1; i < 257; ++i) many += ",a";
  expect_refused(issue_claim_grant().with(9, many),
                 "0 invalid_capabilities worker:too_many_tokens");
  expect_refused(issue_claim_grant().with(9, std::string(4097, 'a')),
                 "0 invalid_capabilities worker:too_many_bytes");
  command({"HSET", exec_key("core"), "required_capabilities", std::string(4097, 'a')});
  expect_refused(issue_claim_grant(), "0 invalid_capabilities required:too_many_bytes");
  command({"HSET", exec_key("core"), "required_capabilities", many});
  expect_refused(issue_claim_grant(), "0 invalid_capabilities required:too_many_tokens");
}

TEST_F(Grant, IsNotIssuedInACancelledFlow) {
  bring_to("waiting");
  command({"HSET", exec_key("core"), "flow_id", "f1"});
  command({"HSET", "ff:flow:" + tag + ":f1:core", "public_flow_state", "cancelled"});
  expect_refused(issue_claim_grant(), "0 execution_not_eligible");
}

using ReclaimGrant = Contract;

TEST_F(ReclaimGrant, SetsALostExecutionAside) {
  bring_to("expired");
  EXPECT_EQ(change(issue_reclaim_grant()), R"(1 OK <E> t+5000
claim_grant (expires)=t+5000
claim_grant created_at=t
claim_grant grant_expires_at=t+5000
claim_grant lane_id=main
claim_grant worker_id=w1
claim_grant worker_instance_id=w1-i1
core grant_expires_at=t+5000
core granted_to=w1
idx:grants <E>=t+5000
)");
}

TEST_F(ReclaimGrant, RefusesInThisOrder) {
  expect_refused(issue_reclaim_grant(), "0 execution_not_found");
  expect_refused(issue_reclaim_grant().with(6, "x"),
                 "0 invalid_input grant_ttl_ms must be a number, got: x");
  for (const std::string state : {"waiting", "active", "overdue", "completed"}) {
    bring_to(state);
    expect_refused(issue_reclaim_grant(), "0 execution_not_reclaimable");
  }
  bring_to("lost_granted");
  expect_refused(issue_reclaim_grant("w2"), "0 grant_already_exists");
  bring_to("revoked");
  expect_refused(issue_reclaim_grant().with(9, std::string(4097, 'a')),
                 "0 invalid_capabilities worker:too_many_bytes");
  command({"HSET", exec_key("core"), "required_capabilities", "gpu"});
  EXPECT_EQ(run(issue_reclaim_grant()), "0 capability_mismatch gpu");
  EXPECT_EQ(run(issue_reclaim_grant().with(9, "gpu")), "1 OK <E> X");
}

}  // namespace
}  // namespace ff::test
