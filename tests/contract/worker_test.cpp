#include "tests/contract/fixture.hpp"
#include <cstdio>
namespace ff::test { namespace {
struct Eff : Contract {};
TEST_F(Eff, All) {
  auto show=[&](const char* st, const Call& c){ bring_to(st); printf("---- %s [%s]\n%s", c.name.c_str(), st, change(c).c_str()); };
  show("none", create());
  show("none", create().with(5,"5").with(7,R"({"x":1,"routing_requirements":{"required_capabilities":["gpu","cpu"]},"timeout_policy":{"attempt_timeout_ms":1000,"execution_deadline_ms":5000},"dedup_window_ms":7000,"stream_policy":{"retention_ttl_ms":9000}})").with(8,"input").with(9,far_future).with(10,"60000").with(11,R"({"a":"b","n":5,"f":1.5,"t":true})").with(12,"4000000000000").key(6,"ff:idem:"+tag+":default:once"));
  show("waiting", issue_claim_grant().with(5,"hash").with(7,"{}").with(8,"sum"));
  show("granted", claim());
  show("granted", claim().with(11,"1000").with(12,"4000000000000"));
  show("resumable_granted", claim_resumed());
  show("waiting", grant_and_claim());
  show("paused", grant_and_claim(2));
  show("active", complete());
  show("active", fail(1,R"({"max_retries":2})"));
  show("active", fail());
  show("active", cancel());
  show("waiting", cancel(""));
  show("active", delay());
  show("children", cancel());
  show("active", wait_for_children());
  show("delayed", promote());
  rewind_delay(); printf("due %s", change(promote()).c_str());
  show("active", renew());
  show("overdue", mark_expired());
  show("active", revoke());
  show("expired", issue_reclaim_grant());
  show("lost_granted", reclaim());
  show("active", expire());
  show("waiting", expire());
  show("active", progress());
  show("waiting", change_priority("5"));
  show("waiting", set_tags({"a.b","c"}));
  show("failed", replay());
  show("waiting", block());
  show("blocked", unblock());
  show("none", register_worker());
  printf("%s", change(heartbeat()).c_str());
}
}}
