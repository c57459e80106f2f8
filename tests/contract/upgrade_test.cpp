// Executions that a library before 1.17 wrote: every attempt has a hash, a leased execution is in lane:active, and the
// whole state vector is written.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

class OlderRecords : public Contract {
 protected:
  OlderRecords() {
    write({"namespace",
           "default",
           "lane_id",
           "main",
           "execution_kind",
           "work",
           "digest",
           "12345678",
           "created_at",
           "1700000000000",
           "lifecycle_phase",
           "runnable",
           "ownership_state",
           "unowned",
           "eligibility_state",
           "eligible_now",
           "blocking_reason",
           "waiting_for_worker",
           "terminal_outcome",
           "none",
           "attempt_state",
           "pending_first_attempt",
           "public_state",
           "waiting"});
    command({"HSET", index_key("totals"),
             "main\x1f"
             "all",
             "1"});
    command({"ZADD", lane_key("eligible"), "1700000000000", E});
  }

  void write(const Texts& fields, const std::string& key = exec_key("core")) {
    Texts set{"HSET", key};
    set.insert(set.end(), fields.begin(), fields.end());
    command(set);
  }

  void bring_to_active() {
    command({"ZREM", lane_key("eligible"), E});
    write({"lifecycle_phase",
           "active",
           "ownership_state",
           "leased",
           "eligibility_state",
           "not_applicable",
           "blocking_reason",
           "none",
           "attempt_state",
           "running_attempt",
           "public_state",
           "active",
           "last_transition_at",
           "1700000000001",
           "started_at",
           "1700000000001",
           "current_attempt_index",
           "0",
           "current_attempt_id",
           "A1",
           "total_attempt_count",
           "1",
           "current_lease_id",
           "L1",
           "current_lease_epoch",
           "1",
           "current_worker_id",
           "w1",
           "lease_expires_at",
           far_future,
           "v",
           "1"});
    write({"attempt_id", "A1", "attempt_index", "0", "attempt_type", "initial", "attempt_state",
           "started", "started_at", "1700000000001", "lease_id", "L1", "lease_epoch", "1",
           "worker_id", "w1"},
          "ff:attempt:" + tag + ":" + E + ":0");
    command({"ZADD", lane_key("active"), far_future, E});
    command({"ZADD", index_key("lease_expiry"), far_future, E});
  }

  void bring_to_completed() {
    bring_to_active();
    command({"ZREM", lane_key("active"), E});
    command({"ZREM", index_key("lease_expiry"), E});
    command(
        {"HDEL", exec_key("core"), "current_lease_id", "current_worker_id", "lease_expires_at"});
    write({"lifecycle_phase", "terminal", "ownership_state", "unowned", "terminal_outcome",
           "success", "attempt_state", "attempt_terminal", "public_state", "completed",
           "last_transition_at", "1700000000002", "completed_at", "1700000000002", "v", "2"});
    write({"attempt_state", "ended_success", "ended_at", "1700000000002"},
          "ff:attempt:" + tag + ":" + E + ":0");
    command({"ZADD", lane_key("terminal"), "1700000000002", E});
  }

  std::string ask(const std::string& function, Texts argv) {
    return run({function, {exec_key("core")}, std::move(argv)});
  }
  std::string lease() {
    return ask("ff_lease", {"", "me", "ready", "w1", "", "L2", "A2", "30000", "", ""});
  }
  std::string complete_with(const std::string& number, const std::string& epoch) {
    return ask("ff_complete", {"", "me", "L" + number, epoch, "A" + number, "1", "result", ""});
  }
  std::string count() {
    const auto reply = command({"FCALL_RO", "ff_count", "0", tag});
    std::string text;
    const auto& parts = *reply.as_array();
    for (std::size_t i = 3; i + 2 < parts.size(); i += 3)
      text += *parts[i + 1].as_text() + "=" + *parts[i + 2].as_text() + " ";
    return text;
  }
};

TEST_F(OlderRecords, OneThatWaitsRuns) {
  EXPECT_EQ(count(), "waiting=1 ");
  EXPECT_TRUE(lease().starts_with("1 OK "));
  EXPECT_EQ(core("blocking_reason"), "none");
  EXPECT_EQ(count(), "active=1 ");
  EXPECT_TRUE(complete_with("2", "1").starts_with("1 OK "));
  EXPECT_EQ(core("public_state") + " " + core("terminal_outcome"), "completed success");
  EXPECT_EQ(count(), "completed=1 ");
}

TEST_F(OlderRecords, OneThatRunsEnds) {
  bring_to_active();
  EXPECT_EQ(count(), "active=1 ");
  EXPECT_TRUE(complete_with("1", "1").starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state"), "ended_success");
  EXPECT_EQ(core("current_lease_id") + core("current_worker_id"), "");
  EXPECT_FALSE(store().contains("idx:lane:main:active"));
  EXPECT_EQ(count(), "completed=1 ");
}

TEST_F(OlderRecords, OneThatRunsCanLoseItsWorker) {
  bring_to_active();
  EXPECT_TRUE(ask("ff_revoke", {"", "me", "", "gone"}).starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state"), "interrupted_reclaimed");
  EXPECT_TRUE(store().contains("idx:lane:main:active"));
  EXPECT_EQ(count(), "active=1 reclaimable=1 ");
  EXPECT_TRUE(lease().starts_with("1 OK "));
  EXPECT_EQ(attempt("1", "attempt_type"), "reclaim");
}

TEST_F(OlderRecords, OneThatEndedRunsOnceMore) {
  bring_to_completed();
  EXPECT_TRUE(ask("ff_replay", {"", "me", "again", "ann"}).starts_with("1 OK "));
  EXPECT_TRUE(lease().starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state") + " " + attempt("1", "attempt_type"),
            "ended_success replay");
}

// The first attempt of an execution stays in its core; what happens to it then is written out.
class FoldedAttempt : public OlderRecords {
 protected:
  FoldedAttempt() {
    command({"FLUSHALL"});
    ask("ff_submit", {"", "me", "default", "main", "work", "0", "=", "", "", "",
                      "", "",   "",        "",     "",     "",  "",  "", "", std::string(16, 'u')});
    lease();
  }
  bool has_hash() { return store().contains("attempt:0"); }
  // Field and value of the newest attempt, as ff_get tells it.
  std::string told(const std::string& field) {
    const auto reply = command({"FCALL_RO", "ff_get", "1", exec_key("core"), "newest"});
    const auto& attempts = *(*reply.as_array())[5].as_array();
    const auto& newest = *attempts.back().as_array();
    for (std::size_t i = 0; i + 1 < newest.size(); i += 2)
      if (*newest[i].as_text() == field) return *newest[i + 1].as_text();
    return "";
  }
};

TEST_F(FoldedAttempt, HasNoHashAndIsTold) {
  EXPECT_FALSE(has_hash());
  EXPECT_FALSE(store().contains("idx:lane:main:active"));
  EXPECT_EQ(told("attempt_state") + told("lease_id") + told("worker_id"), "startedL2w1");
  EXPECT_EQ(count(), "active=1 ");
  EXPECT_TRUE(complete_with("2", "1").starts_with("1 OK "));
  EXPECT_FALSE(has_hash());
  EXPECT_EQ(told("attempt_state") + told("lease_id") + told("worker_id"), "ended_successL2w1");
  EXPECT_EQ(told("ended_at"), core("completed_at"));
  EXPECT_TRUE(complete_with("2", "1").starts_with("1 OK \"\" completed")) << "a lost reply";
}

TEST_F(FoldedAttempt, IsWrittenOutWhenItEndsOtherwise) {
  EXPECT_TRUE(ask("ff_fail", {"", "me", "L2", "1", "A2", "broken", ""}).starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state") + attempt("0", "lease_id"), "ended_failureL2");
  EXPECT_EQ(core("current_lease_id"), "");
  EXPECT_EQ(core("current_attempt_index"), "0");
}

TEST_F(FoldedAttempt, IsWrittenOutWhenItPauses) {
  EXPECT_TRUE(
      ask("ff_pause", {"", "me", "L2", "1", "A2", "handed_back", "", "busy"}).starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state") + attempt("0", "started_at"),
            "suspended" + core("started_at"));
}

TEST_F(FoldedAttempt, IsWrittenOutWhenTheExecutionRunsOnceMore) {
  complete_with("2", "1");
  EXPECT_TRUE(ask("ff_replay", {"", "me", "again", "ann"}).starts_with("1 OK "));
  EXPECT_EQ(attempt("0", "attempt_state") + attempt("0", "lease_id"), "ended_successL2");
  EXPECT_EQ(core("current_lease_id") + core("current_worker_id"), "");
}

TEST_F(FoldedAttempt, IsWrittenOutByProgramsOfTheContract) {
  const auto fence = complete().with(2, "L2").with(4, "A2");
  EXPECT_EQ(run(fence), "1 OK completed");
  EXPECT_EQ(attempt("0", "attempt_state") + attempt("0", "lease_id"), "ended_successL2");
  EXPECT_EQ(core("current_lease_id"), "");
}

}  // namespace
}  // namespace ff::test
