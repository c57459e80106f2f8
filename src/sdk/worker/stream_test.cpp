// Handlers that write to streams.
#include <fmt/format.h>

#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

// Acknowledges an append and forgets it, as a store that loses power does.
class ForgetfulEngine final : public Engine {
 public:
  ForgetfulEngine(Engine& engine, std::string forgotten)
      : engine_(engine), forgotten_(std::move(forgotten)) {}

  asio::any_io_executor executor() override { return engine_.executor(); }

  asio::awaitable<void> perform(EngineCall& call) override {
    auto* append = call.get_if<AppendFrames>();
    if (append && append->operation.frames[0].bytes == forgotten_) {
      append->reply.emplace(AppendReply{});
      co_return;
    }
    co_await engine_.perform(call);
  }

 private:
  Engine& engine_;
  std::string forgotten_;
};

class StreamTest : public SdkTest {
 protected:
  ExecutionId start_and_submit(Handler handler, Policy policy = {}) {
    return start_and_submit(engine(), std::move(handler), std::move(policy));
  }
  ExecutionId start_and_submit(Engine& on, Handler handler, Policy policy = {}) {
    worker_.emplace(on);
    worker_->handle("k", std::move(handler));
    must(worker_->start());
    return submit({.kind = "k", .policy = std::move(policy)});
  }
  // Everything that it writes, until its end.
  std::vector<std::string> tail(const ExecutionId& id, std::string name = "output") {
    std::vector<std::string> texts;
    must(client().tail(
        {.id = id, .stream = must(StreamName::parse(std::move(name)))}, [&](const Frame& frame) {
          texts.push_back(frame.kind == FrameKind::data
                              ? frame.bytes
                              : fmt::format("({})", to_string(frame.kind)));
          return true;
        }));
    return texts;
  }
  Client client() { return Client(engine()); }

  std::optional<Worker> worker_;
};

INSTANTIATE_TEST_SUITE_P(On, StreamTest, everywhere(), home_name);

TEST_P(StreamTest, FramesAreReadableBeforeTheHandlerEnds) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    auto out = task.stream();
    for (int i = 0; i < 200; ++i) out.write(std::to_string(i));
    task.stream("log").write("one line\n", "log");
    return "done";
  });
  const auto texts = tail(id);
  ASSERT_THAT(texts, SizeIs(200));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_THAT(tail(id, "log"), ElementsAre("one line\n"));
}

TEST_P(StreamTest, FramesArriveWhileTheHandlerRuns) {
  std::promise<void> seen;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    task.stream().write("first");
    return seen.get_future().wait_for(wait_max) == std::future_status::ready ? "seen" : "not seen";
  });
  must(client().tail({.id = id}, [](const Frame&) { return false; }));
  seen.set_value();
  EXPECT_EQ(client().result(id, wait_max), "seen");
}

TEST_P(StreamTest, ALaterAttemptWritesBehindTheFirst) {
  const auto id = start_and_submit(
      [](Task& task) -> Outcome {
        task.stream().write("attempt " + std::to_string(task.attempt_index()));
        if (task.attempt_index() == 0) return Outcome::failed({.reason = "once more"});
        return "done";
      },
      {.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{0ms}}});
  EXPECT_THAT(tail(id), ElementsAre("attempt 0", "(attempt)", "attempt 1"));
}

TEST_P(StreamTest, AnAttemptThatPausedGoesOnWriting) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    task.stream().write(task.resumed() ? "after" : "before");
    return task.wait_for("go").text();
  });
  wait_until([&] { return must(client().state(id)) == ExecutionState::suspended; });
  must(client().signal(id, "go", "it"));
  EXPECT_THAT(tail(id), ElementsAre("before", "after"));
}

TEST_P(StreamTest, AWriterWhoseLeaseIsGoneIsTold) {
  std::promise<std::string> told;
  std::promise<void> cancelled;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    auto out = task.stream();
    out.write("a");
    out.flush();
    cancelled.get_future().wait();
    try {
      out.write("b");
      out.flush();
      told.set_value("nothing");
    } catch (const TaskCancelled& reason) {
      told.set_value(reason.what());
    }
    return "done";
  });
  must(client().tail({.id = id}, [](const Frame&) { return false; }));
  must(client().cancel(id));
  cancelled.set_value();
  EXPECT_EQ(told.get_future().get(), "execution_cancelled");
  EXPECT_THAT(tail(id), ElementsAre("a"));
}

TEST_P(StreamTest, AWriterGoesOnBehindFramesThatTheStoreHasLost) {
  ForgetfulEngine forgetful(engine(), "b");
  const auto id = start_and_submit(forgetful, [](Task& task) -> Outcome {
    auto out = task.stream();
    for (const char* text : {"a", "b", "c", "d"}) {
      out.write(text);
      out.flush();
    }
    return "done";
  });
  EXPECT_THAT(tail(id), ElementsAre("a", "(lost)", "c", "d"));
  worker_.reset();
}

TEST_P(StreamTest, ABudgetStopsAWriterThatSpendsTooMuch) {
  const auto budget = must(client().create_budget({.spec = {.on_hard_limit = OnHardLimit::fail,
                                                            .hard_limits = {{"tokens", 10}}}}))
                          .id;
  std::promise<std::string> told;
  const auto id = start_and_submit(
      [&](Task& task) -> Outcome {
        auto out = task.stream();
        try {
          for (int i = 0; i < 1'000; ++i) {
            out.write("word", {}, {{"tokens", 4}});
            out.flush();
          }
          told.set_value("nothing");
        } catch (const TaskCancelled& reason) {
          told.set_value(reason.what());
        }
        return "done";
      },
      {.budgets = {budget}});
  EXPECT_EQ(told.get_future().get(), "budget_exceeded");
  EXPECT_THAT(tail(id), SizeIs(3));
  EXPECT_EQ(must(client().state(id)), ExecutionState::failed);
}

TEST_P(StreamTest, WrittenFramesCanBeTheResult) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    auto out = task.stream();
    for (const char* word : {"once ", "upon ", "a time"}) out.write(word);
    return out.as_result();
  });
  EXPECT_EQ(client().result(id, wait_max), "once upon a time");
  EXPECT_THAT(tail(id), ElementsAre("once ", "upon ", "a time"));
}

TEST_P(StreamTest, TheResultHasWhatTheAttemptWroteBeforeItPaused) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    auto out = task.stream();
    out.write(task.resumed() ? "after" : "before ");
    task.wait_for("go");
    return out.as_result();
  });
  wait_until([&] { return must(client().state(id)) == ExecutionState::suspended; });
  must(client().signal(id, "go", "it"));
  EXPECT_EQ(client().result(id, wait_max), "before after");
}

TEST_P(StreamTest, MoreThanAResultMayHaveFailsForGood) {
  const auto id = start_and_submit([](Task& task) -> Outcome {
    auto out = task.stream();
    for (int i = 0; i < 21; ++i) out.write(std::string(50'000, 'x'));
    return out.as_result();
  });
  EXPECT_EQ(client().result(id, wait_max).error().code, Errc::execution_failed);
}

TEST_P(StreamTest, AWriterOfACancelledTaskStops) {
  std::promise<std::string> told;
  const auto id = start_and_submit([&](Task& task) -> Outcome {
    auto out = task.stream();
    try {
      while (true) {
        out.write("a");
        std::this_thread::yield();
      }
    } catch (const TaskCancelled& reason) {
      told.set_value(reason.what());
    }
    return "done";
  });
  must(client().tail({.id = id}, [](const Frame&) { return false; }));
  must(client().cancel(id));
  EXPECT_EQ(told.get_future().get(), "execution_cancelled");
}

// Which continues where it was, without a frame twice or none.
TEST(StreamRestart, ATailGoesOnBehindARestartOfTheServer) {
  ServerHome home;
  const auto remote = must(open(home.url()));
  Client client(*remote);
  const auto id = must(client.submit({.kind = "k"})).id;
  const auto call = [&](auto operation) {
    return must(test::run_blocking(home.engine().executor(), home.engine().run(std::move(operation))));
  };
  const auto claimed = call(ClaimExecution{.id = id, .worker = must(WorkerId::parse("w"))});
  const auto write = [&](std::uint64_t written, std::string text) {
    call(AppendFrames{.id = id,
                      .fence = claimed.fence,
                      .written = written,
                      .frames = {{.bytes = std::move(text)}},
                      .durability = StreamClass::durable});
  };
  write(0, "a");
  std::promise<void> seen;
  std::vector<std::string> texts;
  std::jthread reader([&] {
    must(client.tail({.id = id}, [&](const Frame& frame) {
      EXPECT_EQ(frame.number, texts.size());
      texts.push_back(frame.bytes);
      if (texts.size() == 1) seen.set_value();
      return true;
    }));
  });
  seen.get_future().wait();
  home.stop();
  home.start();
  write(1, "b");
  call(Complete{.id = id, .fence = claimed.fence});
  reader.join();
  EXPECT_THAT(texts, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace ff
