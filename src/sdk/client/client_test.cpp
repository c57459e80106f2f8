#include <flowfabric/client.hpp>

#include <flowfabric/wait.hpp>

#include <latch>

#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

class ClientTest : public SdkTest {
 protected:
  // Runs what is submitted from now on.
  void work() {
    worker_.emplace(engine());
    worker_->handle("echo", [](Task& task) { return task.payload(); });
    worker_->handle("fails", [](Task&) -> Outcome { throw std::runtime_error("no"); });
    must(worker_->start());
  }

  std::optional<Worker> worker_;
};

INSTANTIATE_TEST_SUITE_P(On, ClientTest, everywhere(), home_name);

// ---- Submitting ---------------------------------------------------------------------------------

TEST_P(ClientTest, SubmitSaysEverythingThatAnEngineTakes) {
  Client client(engine());
  const auto now = home_.clock().now();
  const NewExecution all{.kind = "k",
                         .payload = "bytes",
                         .lane = "fast",
                         .ns = "tenant",
                         .priority = 7,
                         .idempotency_key = "order-1",
                         .delay_until = now + 1h,
                         .deadline = now + 2h,
                         .tags = {{"app.a", "b"}},
                         .policy = {.retention = 1h},
                         .content_type = "text/plain",
                         .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  const auto submitted = must(client.submit(all));
  EXPECT_TRUE(must(client.submit(all)).duplicate);
  const auto info = must(client.get(submitted.id));
  EXPECT_EQ(info.lane.str() + "/" + info.ns.str() + "/" + info.kind.str(), "fast/tenant/k");
  EXPECT_EQ(info.priority, 7);
  EXPECT_EQ(info.idempotency_key.value().str(), "order-1");
  EXPECT_EQ(info.delay_until, now + 1h);
  EXPECT_EQ(info.deadline, now + 2h);
  EXPECT_EQ(info.tags, (Tags{{"app.a", "b"}}));
  EXPECT_EQ(info.policy.retention, 1h);
  EXPECT_EQ(info.content_type.value().str(), "text/plain");
  EXPECT_EQ(info.traceparent.value().str(), all.traceparent);
  EXPECT_EQ(client.payload(submitted.id), "bytes");
}

TEST_P(ClientTest, SubmitWhoseReplyIsLostIsRepeatedAndMakesOneExecution) {
  FaultyEngine faulty(engine());
  Client client(faulty);
  faulty.fail_next<Submit>(2, Errc::unreachable, true);
  const auto one = must(client.submit({.kind = "k"}));
  EXPECT_FALSE(one.duplicate);
  faulty.fail_next<SubmitMany>(1, Errc::timed_out, true);
  const auto many = client.submit_many({{.kind = "k"}, {.kind = "k", .idempotency_key = "a"}});
  EXPECT_FALSE(must(many[0]).duplicate);
  EXPECT_THAT(must(client.list()).executions, SizeIs(3));
  EXPECT_EQ(must(client.get(one.id)).id, one.id);
}

TEST_P(ClientTest, SubmitIsRepeatedNoLongerThanItMayTake) {
  FaultyEngine faulty(engine());
  faulty.fail_next<Submit>(1'000'000, Errc::unreachable);
  EXPECT_EQ(Client(faulty, {.submit_retry = 0ms}).submit({.kind = "k"}).error().code,
            Errc::unreachable);
  EXPECT_EQ(faulty.calls<Submit>(), 1);
  EXPECT_EQ(Client(faulty, {.timeout = 300ms}).submit({.kind = "k"}).error().code,
            Errc::unreachable);
  EXPECT_GT(faulty.calls<Submit>(), 2);
}

TEST_P(ClientTest, RefusedSubmitIsNotRepeated) {
  FaultyEngine faulty(engine());
  faulty.fail_next<Submit>(1, Errc::permission_denied);
  EXPECT_EQ(Client(faulty).submit({.kind = "k"}).error().code, Errc::permission_denied);
  EXPECT_EQ(faulty.calls<Submit>(), 1);
}

TEST_P(ClientTest, ContentTypesComeBack) {
  Worker worker(engine());
  worker.handle("k", [](Task&) { return Outcome::completed("{}", "application/json"); });
  must(worker.start());
  Client client(engine());
  const auto id = submit({.kind = "k", .payload = "x", .content_type = "text/plain"});
  const auto result = must(client.result_bytes(id, wait_max));
  EXPECT_EQ(result.bytes + " " + result.content_type.value().str(), "{} application/json");
  EXPECT_EQ(must(client.payload_bytes(id)).content_type.value().str(), "text/plain");
}

TEST_P(ClientTest, WrongInputIsRefusedWithAReason) {
  Client client(engine());
  const auto refused = [&](NewExecution execution) {
    return client.submit(std::move(execution)).error().message;
  };
  EXPECT_THAT(refused({.kind = ""}), HasSubstr("kind"));
  EXPECT_THAT(refused({.kind = "k", .lane = "a\nb"}), HasSubstr("lane"));
  EXPECT_THAT(refused({.kind = "k", .ns = "a b"}), HasSubstr("namespace"));
  EXPECT_THAT(refused({.kind = "k", .id = "7"}), HasSubstr("id"));
  EXPECT_THAT(refused({.kind = "k", .idempotency_key = "a b"}), HasSubstr("idempotency_key"));
  EXPECT_THAT(refused({.kind = "k", .content_type = "\n"}), HasSubstr("content_type"));
  EXPECT_THAT(refused({.kind = "k", .traceparent = "00"}), HasSubstr("traceparent"));
}

TEST_P(ClientTest, ManyAreAcceptedOrRefusedEachOnItsOwn) {
  Client client(engine());
  std::vector<NewExecution> many(1200, {.kind = "k", .payload = std::string(100, 'x')});
  many[3].kind = "";
  many[1100].payload = std::string(2 * 1024 * 1024, 'x');
  const auto replies = client.submit_many(many);
  ASSERT_THAT(replies, SizeIs(1200));
  EXPECT_EQ(replies[3].error().code, Errc::invalid_input);
  EXPECT_EQ(replies[1100].error().code, Errc::payload_too_large);
  EXPECT_EQ(std::ranges::count_if(replies, [](const auto& reply) { return reply.has_value(); }),
            1198);
  EXPECT_EQ(must(client.counts()).at(0).count, 1198u);
  EXPECT_THAT(client.submit_many({}), IsEmpty());
}

// ---- Waiting ------------------------------------------------------------------------------------

TEST_P(ClientTest, WaitingHasAnEnd) {
  Client client(engine());
  const auto id = submit({.kind = "k"});
  EXPECT_EQ(client.result(id, 1ms).error().code, Errc::execution_not_terminal);
  EXPECT_EQ(client.wait(id, 1ms).error().code, Errc::execution_not_terminal);
}

TEST_P(ClientTest, WaitTellsHowItEnded) {
  work();
  Client client(engine());
  const auto completed = must(client.wait(submit({.kind = "echo"}), wait_max));
  EXPECT_EQ(completed.state, ExecutionState::completed);
  const auto failed = must(client.wait(submit({.kind = "fails"}), wait_max));
  EXPECT_EQ(failed.failure_reason, "no");
  EXPECT_EQ(client.result(failed.id, wait_max).error().code, Errc::execution_failed);
}

TEST_P(ClientTest, CoroutinesWaitTheSameWay) {
  work();
  const auto id = submit({.kind = "echo", .payload = "x"});
  const auto on_engine = [&](auto call) {
    return test::run_blocking(engine().executor(), std::move(call));
  };
  EXPECT_EQ(on_engine(wait_for_result(engine(), id, wait_max)), "x");
  EXPECT_EQ(must(on_engine(wait_for_end(engine(), id, wait_max))).state, ExecutionState::completed);
}

TEST(ClientTimeout, CallThatNobodyAnswersEnds) {
  const auto silent = must(http::Listener::bind("127.0.0.1:0"));
  const auto engine = must(open("http://" + silent.address()));
  Client client(*engine, {.timeout = 30ms});
  const auto id = must(ExecutionId::parse("{fp:1}:01920000-0000-7000-8000-000000000001"));
  EXPECT_EQ(client.get(id).error().code, Errc::timed_out);
  EXPECT_EQ(client.submit({.kind = "k"}).error().code, Errc::timed_out);
  EXPECT_EQ(client.result(id, 1ms).error().code, Errc::timed_out);
  EXPECT_EQ(client.submit_many({{.kind = "k"}}).at(0).error().code, Errc::timed_out);
}

// ---- Reading and operating ----------------------------------------------------------------------

TEST_P(ClientTest, GoesThroughAllPages) {
  Client client(engine());
  for (int i = 0; i < 5; ++i) submit({.kind = i == 2 ? "other" : "k"});
  std::size_t seen = 0;
  must(client.for_each({.limit = 2}, [&](const ExecutionInfo&) { return ++seen < 100; }));
  EXPECT_EQ(seen, 5u);
  seen = 0;
  must(client.for_each({.limit = 2}, [&](const ExecutionInfo&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3u);
  const auto others = must(client.list({.kind = must(Kind::parse("other"))}));
  EXPECT_THAT(others.executions, SizeIs(1));
  EXPECT_FALSE(client.for_each({.limit = 0}, [](const ExecutionInfo&) { return true; }));
}

TEST_P(ClientTest, OperatesOnAnExecution) {
  Client client(engine());
  const auto id = submit({.kind = "echo", .tags = {{"app.a", "1"}}});
  EXPECT_EQ(must(client.change_priority(id, 9)).after, 9);
  EXPECT_EQ(client.set_tags(id, {{"app.b", "2"}}, {"app.a"}), (Tags{{"app.b", "2"}}));
  EXPECT_EQ(client.cancel(id, "not wanted"), ExecutionState::cancelled);
  EXPECT_EQ(must(client.get(id)).cancel_reason, "not wanted");
  EXPECT_EQ(client.replay(id, "wanted after all", "ada"), ExecutionState::waiting);
  EXPECT_EQ(client.state(id), ExecutionState::waiting);
  work();
  must(client.result(id, wait_max));
  EXPECT_THAT(must(client.attempts(id)), SizeIs(1));
  EXPECT_EQ(must(client.lease_history(id)).back().type, LeaseEventType::released);
  EXPECT_EQ(must(client.counts()).at(0).state, ExecutionState::completed);
  EXPECT_FALSE(client.revoke_lease(id)) << "nobody has a lease";
}

// ---- Events -------------------------------------------------------------------------------------

TEST_P(ClientTest, SubscriberHearsOfEveryEventUntilItHasEnough) {
  Client client(engine());
  const auto place = must(client.events()).next;
  const auto id = submit({.kind = "echo"});
  work();
  std::vector<EventType> heard;
  must(client.subscribe({.id = id, .after = place}, {.on_event = [&](const Event& event) {
                          heard.push_back(event.type);
                          return event.type != EventType::completed;
                        }}));
  EXPECT_THAT(heard, ElementsAre(EventType::submitted, EventType::claimed, EventType::completed));
}

TEST_P(ClientTest, SubscriptionEndsWhenItIsStopped) {
  Client client(engine());
  std::stop_source stop;
  auto place = must(client.events()).next;
  submit({.kind = "k"});
  std::latch heard(1);
  std::jthread subscriber([&] {
    must(client.subscribe({.after = place},
                          {.on_event =
                               [&](const Event&) {
                                 heard.count_down();
                                 return true;
                               }},
                          stop.get_token()));
  });
  heard.wait();
  stop.request_stop();
}

TEST_P(ClientTest, SubscriptionThatCannotBeginSaysWhy) {
  Client client(engine());
  const auto refused =
      client.subscribe({.after = "nonsense"}, {.on_event = [](const Event&) { return true; }});
  EXPECT_EQ(refused.error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace ff
