// Programs of the contract and engines of ours suspend, signal and resume each other's executions.
#include "core/waitpoints/token.hpp"
#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/contract/suspensions/suspension_fixture.hpp"
#include "tests/support/blocking.hpp"

namespace ff::test {
namespace {

using namespace std::chrono_literals;

const std::string lease_id = "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeee1";
const std::string attempt_id = "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeee2";
const auto execution_id = *ExecutionId::parse(E);
const auto a = *SignalName::parse("a");

class SharedSuspensions : public Suspensions {
 protected:
  SharedSuspensions() {
    bring_to("waiting");
    install_ring();
    auto store = must(valkey_store::open({.client = client_options(), .sweep = false}));
    engine_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
  }

  template <class Op>
  typename Op::Reply ask(Op operation) {
    return must(test::run(*engine_, std::move(operation)));
  }
  ClaimedExecution claim_by_engine() {
    return ask(
        ClaimExecution{.id = execution_id, .worker = *WorkerId::parse("w9"), .lease_ttl = 1min});
  }
  // The contract's program suspends it on W1.
  void suspend_by_contract(const std::string& condition) {
    run(issue_claim_grant());
    EXPECT_TRUE(run(claim().with(6, lease_id).with(9, attempt_id)).starts_with("1 OK"));
    EXPECT_TRUE(run(suspend(condition).with(3, attempt_id).with(4, lease_id)).starts_with("1 OK"));
  }
  SuspendReply suspend_by_engine(Suspend suspend) {
    suspend.id = execution_id;
    suspend.fence = claim_by_engine().fence;
    suspend.waitpoints = {{.key = *WaitpointKey::parse("door")}};
    return ask(std::move(suspend));
  }
  // As a program of the contract has it, for a waitpoint of the engine.
  std::string contract_token(const WaitpointInfo& waitpoint) {
    const auto kid = *KeyId::parse("k1");
    core::KeyRing ring{.current = kid};
    ring.keys[kid].secret = *WaitpointSecret::parse(std::string(64, '0'));
    return must(core::mint_contract_token(
        ring, {.id = waitpoint.id.str(),
               .key = waitpoint.key.str(),
               .created_at_ms = waitpoint.created_at.time_since_epoch().count()}));
  }

  std::unique_ptr<LocalEngine> engine_;
};

TEST_F(SharedSuspensions, EngineSeesSignalsAndResumesThoseOfTheContract) {
  suspend_by_contract(condition({"a", "b"}, "all"));
  EXPECT_EQ(ask(GetExecution{execution_id}).state, ExecutionState::suspended);
  const auto suspension = ask(GetSuspension{execution_id}).suspension;
  ASSERT_TRUE(suspension);
  EXPECT_EQ(suspension->progress, "the signal a and the signal b");
  EXPECT_EQ(suspension->waitpoints.at(0).id.str(), W1);

  const auto reply =
      ask(SendSignal{.id = execution_id, .name = a, .waitpoint = *WaitpointId::parse(W1)});
  EXPECT_EQ(reply.effect, SignalEffect::appended_to_waitpoint);
  EXPECT_EQ(of_condition("satisfied_count"), "1");
  EXPECT_EQ(of_condition("matcher:0:signal_id"), reply.signal_id.str());
  EXPECT_EQ(send(1, "c"), "no_op");
  EXPECT_EQ(send(2, "b"), "resume_condition_satisfied");

  const auto claimed = claim_by_engine();
  ASSERT_TRUE(claimed.wake);
  EXPECT_EQ(claimed.wake->cause, WakeCause::signals);
  EXPECT_EQ(claimed.wake->suspension_id.str(), S1);
  EXPECT_EQ(claimed.attempt_index, 0);
  std::string names;
  for (const auto& signal : ask(GetSignals{.id = execution_id}).signals)
    names += signal.name.str() + (signal.counted_for ? "! " : " ") + signal.payload + ";";
  EXPECT_EQ(names, "a! ;c hello;b! hello;");
}

TEST_F(SharedSuspensions, EngineResumesThoseOfTheContract) {
  suspend_by_contract(any_signal);
  EXPECT_EQ(ask(Resume{.id = execution_id, .reason = "by hand"}).state, ExecutionState::waiting);
  EXPECT_EQ(of_suspension("close_reason"), "resumed");
  EXPECT_EQ(of_waitpoint("state"), "closed");
  EXPECT_EQ(of_condition("closed"), "1");
  EXPECT_EQ(claim_by_engine().wake->reason, "by hand");
}

TEST_F(SharedSuspensions, ContractSignalsThoseOfTheEngine) {
  const auto reply =
      suspend_by_engine({.id = {}, .fence = {}, .condition = {OneSignal{.name = a}}});
  const auto& waitpoint = reply.waitpoints.at(0).info;
  const auto id = waitpoint.id.str();
  EXPECT_EQ(run(deliver(1, "b", id).with(18, contract_token(waitpoint))),
            "1 OK " + signal_id(1) + " signal_ignored_matcher_failed");
  EXPECT_EQ(run(deliver(2, "a", id).with(18, contract_token(waitpoint))),
            "1 OK " + signal_id(2) + " resume_condition_satisfied");
  EXPECT_EQ(run(deliver(3, "a", id).with(18, contract_token(waitpoint))),
            "0 target_not_signalable");
  run(issue_claim_grant());
  EXPECT_TRUE(run(claim_resumed()).starts_with("1 OK L2 2"));
}

// The function cannot check such a token; DeliverSignal of an engine does.
TEST_F(SharedSuspensions, ContractsFunctionRefusesTheTokensOfAnEngine) {
  const auto claimed = claim_by_engine();
  const auto reply =
      ask(Suspend{.id = execution_id,
                  .fence = claimed.fence,
                  .waitpoints = {{.key = *WaitpointKey::parse("door"),
                                  .question = Question{.title = "Open?", .approvers = {"ann"}}}}});
  const auto& issued = reply.waitpoints.at(0);
  ASSERT_EQ(issued.tokens.at(0).approver, "ann");
  EXPECT_EQ(run(deliver(1, "a", issued.info.id.str()).with(18, issued.tokens.at(0).token)),
            "0 invalid_token");
  EXPECT_EQ(core("public_state"), "suspended");
}

TEST_F(SharedSuspensions, ContractResumesThoseOfTheEngine) {
  suspend_by_engine({.id = {}, .fence = {}, .condition = {OperatorOnly{}}});
  EXPECT_EQ(run(resume()), "1 OK waiting");
  EXPECT_EQ(claim_by_engine().wake->cause, WakeCause::operator_);
  EXPECT_EQ(ask(GetSuspension{execution_id}).suspension->close_reason, "resumed");
}

TEST_F(SharedSuspensions, ContractLetsThoseOfTheEngineTimeOut) {
  suspend_by_engine({.id = {},
                     .fence = {},
                     .condition = {TimeoutOnly{}},
                     .timeout = 1h,
                     .on_timeout = TimeoutAction::auto_resume});
  EXPECT_EQ(run(expire_suspension()), "1 OK not_yet_due");
  rewind("suspension_timeout_at");
  EXPECT_EQ(run(expire_suspension()), "1 OK auto_resume waiting");
  EXPECT_EQ(claim_by_engine().wake->cause, WakeCause::timeout);
}

TEST_F(SharedSuspensions, NothingIsLeftOfARemovedExecution) {
  const auto reply = suspend_by_engine(
      {.id = {}, .fence = {}, .condition = {OneSignal{.name = a}}, .state = "kept"});
  ask(SendSignal{.id = execution_id,
                 .name = a,
                 .waitpoint = reply.waitpoints.at(0).info.id,
                 .payload = "yes",
                 .idempotency_key = *SignalKey::parse("once")});
  ask(SendSignal{.id = execution_id, .name = *SignalName::parse("noise")});
  const auto second = claim_by_engine();
  ask(Suspend{.id = execution_id, .fence = second.fence, .condition = {OneSignal{.name = a}}});
  ask(SendSignal{.id = execution_id, .name = a});
  const auto claimed = claim_by_engine();
  ask(PutStep{.id = execution_id,
              .name = *StepName::parse("mail"),
              .fence = claimed.fence,
              .result = "sent"});
  ask(Complete{.id = execution_id, .fence = claimed.fence});
  command({"HSET", exec_key("core"), "completed_at", "1000", "retention_ms", "1"});
  command({"FCALL", "ff_remove", "1", exec_key("core"), "", "test"});
  for (const auto& [key, fields] : store())
    EXPECT_TRUE(key.starts_with("ff:sec:") || key.starts_with("ff:config") ||
                key.starts_with("ff:workers"))
        << key;
}

// ---- The engine's own functions ---------------------------------------------------------------------

class EngineFunctions : public Suspensions {
 protected:
  // A call that is sent again because its reply was lost: it changes nothing, and replies the same but for the
  // event.
  void expect_repeatable(const std::string& name, Texts argv) {
    argv.insert(argv.begin(), {"", "origin-" + name});
    const Call call{name, {exec_key("core")}, argv};
    auto first = reply_of(call);
    ASSERT_EQ(first.at(1), "OK") << name;
    const auto before = store();
    auto second = reply_of(call);
    first.at(2) = second.at(2);
    EXPECT_EQ(second, first) << name;
    EXPECT_EQ(store(), before) << name;
  }
};

TEST_F(EngineFunctions, AnswerARepeatedCallAsTheFirst) {
  const Texts fence{"L1", "1", "A1"};
  const auto suspend = [&](const std::string& condition) {
    return Texts{"L1",    "1",    "A1", S1,  "waiting_for_signal",
                 "",      "fail", "0",  "1", condition,
                 "state", W1,     "k1", "",  ""};
  };
  const auto signal = [](int number) {
    return Texts{signal_id(number), "a", W1, "yes", "", "", "", "", "", "", "1000"};
  };
  bring_to("active");
  expect_repeatable("ff_suspend", suspend(R"({"count":2,"of":"signals"})"));
  expect_repeatable("ff_send_signal", signal(1));
  expect_repeatable("ff_send_signal", signal(2));
  EXPECT_EQ(core("public_state"), "waiting");
  EXPECT_EQ(core("signal_count"), "2");
  bring_to("active");
  expect_repeatable("ff_suspend", suspend(R"({"operator":true})"));
  expect_repeatable("ff_shut_waitpoint", {W1, ""});
  expect_repeatable("ff_resume", {"by hand", "0"});
}

// Signals of one millisecond keep their order, and so do those after the clock went back.
TEST_F(EngineFunctions, SignalsKeepTheirOrder) {
  bring_to("active");
  for (int number = 50; number > 0; --number) {
    const auto now = number % 3 == 0 ? "1794000000000" : "1794000005000";
    reply_of({"ff_send_signal",
              {exec_key("core")},
              {now, "", signal_id(number), "a", "", "", "", "", "", "", "", "", "1000"}});
  }
  const auto ids = command({"ZRANGE", exec_key("signals"), "0", "-1"});
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(*ids.as_array()->at(static_cast<std::size_t>(i)).as_text(), signal_id(50 - i));
}

}  // namespace
}  // namespace ff::test
