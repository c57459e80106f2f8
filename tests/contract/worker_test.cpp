#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

class Workers : public Contract {
 protected:
  const std::string alive = "ff:worker:default:w1-i1:alive";
  const std::string caps = "ff:worker:default:w1-i1:caps";

  std::int64_t ttl(const std::string& key) { return *command({"PTTL", key}).as_int(); }
};

TEST_F(Workers, Register) {
  EXPECT_EQ(run(register_worker()), "1 OK registered");
  auto stored = store();
  EXPECT_EQ(stored[alive][""], "1");
  EXPECT_EQ(stored["ff:idx:default:workers"].count("w1-i1"), 1U);
  stored[caps].erase("(expires)");
  EXPECT_EQ(stored[caps], (std::map<std::string, std::string>{{"caps_csv", "cpu,gpu"},
                                                              {"lanes_csv", "main"},
                                                              {"last_heartbeat_ms", "1234"},
                                                              {"registered_at_ms", "1234"},
                                                              {"ttl_ms", "60000"},
                                                              {"worker_id", "w1"}}));
  for (const auto& key : {alive, caps}) {
    EXPECT_GT(ttl(key), 50000);
    EXPECT_LE(ttl(key), 60000);
  }
}

TEST_F(Workers, RegisterAgain) {
  run(register_worker());
  EXPECT_EQ(run(register_worker().with(5, "1000").with(6, "99")), "1 OK refreshed");
  EXPECT_LE(ttl(alive), 1000);
  EXPECT_LE(ttl(caps), 1000);
  EXPECT_EQ(store()[caps]["registered_at_ms"], "99");
}

TEST_F(Workers, RegisterRefusesATtlOfNothing) {
  for (const std::string none : {"0", "-1", "0.5"})
    expect_refused(register_worker().with(5, none),
                   "0 invalid_input ttl_ms must be from 1 to 315569520000, got: " + none);
  expect_refused(register_worker().with(5, "x").with(6, "y"),
                 "0 invalid_input ttl_ms must be a number, got: x");
  expect_refused(register_worker().with(6, "y"), "0 invalid_input now_ms must be a number, got: y");
}

TEST_F(Workers, HeartBeat) {
  run(register_worker());
  command({"PEXPIRE", alive, "5000"});
  command({"PEXPIRE", caps, "5000"});
  EXPECT_EQ(run(heartbeat()), "1 OK refreshed 60000");
  EXPECT_GT(ttl(alive), 50000);
  EXPECT_GT(ttl(caps), 50000);
  EXPECT_EQ(store()[caps]["last_heartbeat_ms"], "5678");
}

TEST_F(Workers, HeartBeatOfAnUnknownWorker) {
  expect_refused(heartbeat(), "1 OK not_registered");
  expect_refused(heartbeat().with(1, "x"), "0 invalid_input now_ms must be a number, got: x");
  run(register_worker());
  command({"HSET", caps, "ttl_ms", "soon"});
  EXPECT_EQ(run(heartbeat()), "1 OK not_registered");
  run(register_worker());
  command({"DEL", alive});
  EXPECT_EQ(run(heartbeat()), "1 OK not_registered");
}

// A hash tag in their names lets the three keys stand on one node of a cluster.
TEST_F(Workers, MayHaveAnyKeys) {
  const auto named = register_worker().key(1, "{w}:alive").key(2, "{w}:caps").key(3, "{w}:all");
  EXPECT_EQ(run(named), "1 OK registered");
  EXPECT_EQ(run(heartbeat().key(1, "{w}:alive").key(2, "{w}:caps")), "1 OK refreshed 60000");
}

}  // namespace
}  // namespace ff::test
