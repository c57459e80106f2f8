// Programs that were written for the contract share a store with engines of our own.
#include <regex>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

namespace asio = boost::asio;

// Collects the messages on a channel during its lifetime.
class Listener {
 public:
  Listener(std::uint16_t port, const std::string& command, const std::string& channel)
      : socket_(context_) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    send(command + " " + channel + "\r\n");
    read_until(":1\r\n");
  }

  std::string heard() {
    send("PING the-end\r\n");
    return read_until("the-end\r\n");
  }

 private:
  void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
  std::string read_until(const std::string& end) {
    const auto size = asio::read_until(socket_, asio::dynamic_buffer(buffer_), end);
    auto text = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return text;
  }

  asio::io_context context_;
  asio::ip::tcp::socket socket_;
  std::string buffer_;
};

class Sharing : public Contract {
 protected:
  // Words, state and whether a worker may have it, of all events while `calls` are made.
  std::string told(const std::vector<Call>& calls) {
    Listener listener(port(), "SSUBSCRIBE", "ff:events:" + tag);
    for (const auto& call : calls) {
      const auto reply = run(call);
      EXPECT_TRUE(reply.starts_with("1 ")) << call.name << ": " << reply;
    }
    const auto text = listener.heard();
    static const std::regex event(
        "\r\n\x1f(\\w+)\x1f(?:[^\x1f]*\x1f){5}(\\w+)\x1f[^\x1f]*\x1f([01])\x1f");
    std::string words;
    for (std::sregex_iterator it(text.begin(), text.end(), event), end; it != end; ++it)
      words += it->str(1) + ":" + it->str(2) + (it->str(3) == "1" ? "! " : " ");
    return words;
  }

  // Reply of an engine's own function, without the name of the server's run at the end.
  std::string ask(const Call& call) {
    const auto text = run(call);
    return text.substr(0, text.rfind(' '));
  }
  Call engine_call(const std::string& name, Texts argv) {
    return {name, {exec_key("core")}, std::move(argv)};
  }
  Call lease(int number) {
    return engine_call("ff_lease", {"", "", "ready", "w9", "", "L" + std::to_string(number),
                                    "A" + std::to_string(number), "30000"});
  }
};

TEST_F(Sharing, EveryChangeIsTold) {
  EXPECT_EQ(
      told({create(), change_priority("2"), set_tags({"a.b", "c"}), block(), unblock(),
            issue_claim_grant(), claim(), progress(), renew()}),
      "submitted:waiting! priority_changed:waiting! tags_changed:waiting! blocked:rate_limited! "
      "unblocked:waiting! granted:waiting claimed:active progressed:active ");
  EXPECT_EQ(told({revoke(), issue_reclaim_grant(), reclaim(), delay(2)}),
            "lease_revoked:active! granted:active claimed:active delayed:delayed ");
  rewind_delay();
  EXPECT_EQ(told({promote(), issue_claim_grant(), claim_resumed(3),
                  fail(2, R"({"max_retries":1})").with(2, "L3").with(3, "3")}),
            "promoted:waiting! granted:waiting claimed:active retry_scheduled:delayed ");
  EXPECT_EQ(
      told({cancel(), replay(), expire(), replay(), grant_and_claim(4), complete(4)}),
      "cancelled:cancelled replayed:waiting! expired:expired replayed:waiting! claimed:active "
      "completed:completed ");
}

TEST_F(Sharing, AnExpiredLeaseIsToldByWhoeverFindsIt) {
  bring_to("overdue");
  EXPECT_EQ(told({mark_expired()}), "lease_expired:active! ");
  bring_to("active");
  EXPECT_EQ(told({fail()}), "failed:failed ");
}

TEST_F(Sharing, FlowsHearOfEnds) {
  const auto outcome = [&](const std::string& state, const Call& call) {
    bring_to(state);
    command({"HSET", exec_key("core"), "flow_id", "f1"});
    Listener listener(port(), "SUBSCRIBE", "ff:dag:completions");
    run(call);
    const auto text = listener.heard();
    std::smatch found;
    static const std::regex pattern("\"outcome\":\"(\\w+)\"");
    return std::regex_search(text, found, pattern) ? found.str(1) : std::string("none");
  };
  EXPECT_EQ(outcome("active", complete()), "success");
  EXPECT_EQ(outcome("active", fail()), "failed");
  EXPECT_EQ(outcome("active", fail(1, R"({"max_retries":1})")), "none");
  EXPECT_EQ(outcome("active", expire()), "expired");
  EXPECT_EQ(outcome("active", cancel()), "cancelled");
  EXPECT_EQ(outcome("active", cancel("flow_cascade")), "none");
  EXPECT_EQ(outcome("lost_granted", reclaim().with(9, "0")), "failed");
}

// A worker that dies leaves its execution to the next one, without an operator.
TEST_F(Sharing, AnEngineTakesWhatAWorkerLost) {
  for (const std::string state : {"expired", "revoked"}) {
    bring_to(state);
    EXPECT_TRUE(ask(lease(2)).starts_with("1 OK ")) << state;
    EXPECT_EQ(core("current_worker_id"), "w9");
    EXPECT_EQ(attempt("1", "attempt_type"), "reclaim");
  }
}

TEST_F(Sharing, AnEngineRespectsTheCapToo) {
  run(create().with(7, R"({"max_reclaim_count":0})"));
  run(grant_and_claim());
  rewind_lease();
  run(mark_expired());
  EXPECT_EQ(ask(lease(2)), "0 execution_not_leaseable failed");
  EXPECT_EQ(core("public_state"), "failed");
}

TEST_F(Sharing, AnEngineRespectsAGrant) {
  bring_to("granted");
  EXPECT_EQ(ask(lease(1)), "0 grant_already_exists");
  EXPECT_EQ(run(claim()), "1 OK L1 1 X A1 0 initial");
}

TEST_F(Sharing, AGrantOfAnEngineCanBeClaimed) {
  bring_to("waiting");
  ask(engine_call("ff_grant", {"", "", "w1", "", "5000"}));
  EXPECT_EQ(run(claim(1, "w2")), "0 invalid_claim_grant");
  EXPECT_EQ(run(claim()), "1 OK L1 1 X A1 0 initial");
}

Call create_with_quota() {
  return create().with(7, R"({"quota_policy_id":")" + quota_id + R"("})");
}

TEST_F(Sharing, AnEngineStartsWhatHasAQuotaOnlyWithItsAdmission) {
  run(create_with_quota());
  const auto grant = [this](const std::string& token, const std::string& valid_until) {
    return engine_call("ff_grant", {"", "", "w1", "", "5000", token, valid_until});
  };
  const auto refusal = "0 admission_expired " + quota_id;
  EXPECT_EQ(ask(lease(1)), refusal);
  EXPECT_EQ(ask(grant("", "")), refusal);
  EXPECT_EQ(ask(grant("token", "1000")), refusal);
  EXPECT_TRUE(ask(grant("token", far_future)).starts_with("1 OK "));
  EXPECT_EQ(core("admission"), "token");
}

// The token goes from the grant to the lease, and is told of when the work ends.
TEST_F(Sharing, AnAdmissionIsHeldUntilTheWorkEnds) {
  run(create_with_quota());
  ask(engine_call("ff_grant", {"", "", "w1", "", "5000", "token", far_future}));
  run(claim());
  EXPECT_EQ(core("admission"), "token");
  Listener events(port(), "SSUBSCRIBE", "ff:events:" + tag);
  run(complete());
  EXPECT_NE(events.heard().find("\x1f" + quota_id + "\x1ftoken\x1f" + "0"), std::string::npos);
  EXPECT_EQ(core("admission"), "");
}

// The process that caused it may die before it gives the slot back.
TEST_F(Sharing, QuotaReleaseOfAnEndIsKeptUntilItIsDone) {
  run(create_with_quota());
  ask(engine_call("ff_grant", {"", "", "w1", "", "5000", "token", far_future}));
  run(claim());
  const auto effects = [this] { return *command({"SMEMBERS", "ff:effects:" + tag}).as_array(); };
  EXPECT_TRUE(effects().empty());
  run(complete());
  ASSERT_EQ(effects().size(), 1u);
  EXPECT_EQ(*effects().front().as_text(), "release_token " + quota_id + " token");
}

// Programs of version 0.1 take messages of 15 or 19 parts.
TEST_F(Sharing, OlderProgramsUnderstandTheMessages) {
  Listener events(port(), "SSUBSCRIBE", "ff:events:" + tag);
  run(create());
  const auto heard = events.heard();
  EXPECT_EQ(std::ranges::count(heard, '\x1f'), 18);
  run(create_with_quota().of(other_E));
  const auto with_quota = events.heard();
  EXPECT_EQ(std::ranges::count(with_quota, '\x1f'), 18);
}

TEST_F(Sharing, EveryChangeOfAnExecutionRaisesItsVersion) {
  Listener events(port(), "SSUBSCRIBE", "ff:events:" + tag);
  run(create());
  EXPECT_NE(events.heard().find("\x1f"
                                "0 0\r\n"),
            std::string::npos);
  EXPECT_EQ(core("v"), "");
  run(issue_claim_grant());
  EXPECT_NE(events.heard().find("\x1f"
                                "0 1\r\n"),
            std::string::npos);
  run(claim());
  EXPECT_NE(events.heard().find("\x1f"
                                "0 2\r\n"),
            std::string::npos);
  run(renew());
  EXPECT_EQ(core("v"), "3");
  run(complete());
  EXPECT_NE(events.heard().find("\x1f"
                                "0 4\r\n"),
            std::string::npos);
}

TEST_F(Sharing, AGrantThatRanOutLosesItsAdmission) {
  run(create_with_quota());
  ask(engine_call("ff_grant", {"", "", "w1", "", "5000", "token", far_future}));
  rewind("grant_expires_at");
  ask(engine_call("ff_fire_timer", {"", "", "grant_expiry"}));
  EXPECT_EQ(core("admission"), "");
}

TEST_F(Sharing, ABlockedExecutionIsTheEnginesIfItIsNotPaused) {
  bring_to("blocked");
  EXPECT_TRUE(ask(lease(1)).starts_with("1 OK "));
  bring_to("waiting");
  run(block("paused_by_operator"));
  EXPECT_EQ(ask(lease(1)), "0 execution_not_leaseable waiting");
}

TEST_F(Sharing, AnEngineHeedsABudgetOfTheContract) {
  command({"FCALL",
           "ff_create_budget",
           "5",
           budget,
           budget + ":limits",
           budget + ":usage",
           "ff:idx:{b:3}:budget_resets",
           "ff:idx:{b:3}:budget_policies",
           budget_id,
           "tenant",
           "t",
           "hard",
           "reject",
           "warn",
           "0",
           "1000",
           "1",
           "tokens",
           "10",
           "0"});
  const auto check = Call{"ff_budget_check", {budget}, {""}};
  EXPECT_EQ(run(check), "1 OK \"\"");
  command({"FCALL", "ff_report_usage_and_check", "3", budget + ":usage", budget + ":limits", budget,
           "1", "tokens", "10", "2000"});
  EXPECT_EQ(run(check), "1 OK \"\" tokens 10 10");
}

TEST_F(Sharing, SlotsOfBothCountTogether) {
  command({"FCALL", "ff_create_quota_policy", "5", quota, quota + ":window:requests_per_window",
           quota + ":concurrency", quota + ":admitted_set", "ff:idx:{q:4}:quota_policies", quota_id,
           "60", "0", "2", "1000"});
  command({"FCALL", "ff_check_admission_and_record", "5", quota + ":window:requests_per_window",
           quota + ":concurrency", quota, quota + ":admitted:" + E, quota + ":admitted_set", "1000",
           "60", "0", "2", E});
  const auto admit = [&](const std::string& token) {
    return ask({"ff_quota_admit", {quota}, {"", token, other_E}});
  };
  EXPECT_TRUE(admit("t1").starts_with("1 OK admitted"));
  EXPECT_EQ(admit("t2"), "1 OK concurrency 2");
  command({"FCALL", "ff_release_admission", "3", quota + ":admitted:" + E, quota + ":admitted_set",
           quota + ":concurrency", E});
  EXPECT_TRUE(admit("t2").starts_with("1 OK admitted"));
}

TEST_F(Sharing, TimersFireForWhatTheContractWrote) {
  bring_to("delayed");
  rewind_delay();
  EXPECT_TRUE(ask(engine_call("ff_fire_timer", {"", "", "delay"})).ends_with(" 1"));
  EXPECT_EQ(core("public_state"), "waiting");
  bring_to("overdue");
  EXPECT_TRUE(ask(engine_call("ff_fire_timer", {"", "", "lease_expiry"})).ends_with(" 1"));
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
}

TEST_F(Sharing, NothingRemainsOfWhatIsRemoved) {
  run(create()
          .key(6, "ff:idem:" + tag + ":default:once")
          .with(7, R"({"stream_policy":{"retention_ttl_ms":0},"dedup_window_ms":1})")
          .with(8, "in")
          .with(11, R"({"a":"b"})"));
  run(grant_and_claim());
  run(complete());
  await("the end of its retention", [&] {
    return ask(engine_call("ff_remove", {"", ""})).ends_with(" 1");
  });
  EXPECT_TRUE(store().empty());
}

}  // namespace
}  // namespace ff::test
