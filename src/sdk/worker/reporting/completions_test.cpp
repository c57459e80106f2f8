#include "sdk/worker/reporting/completions.hpp"

#include <boost/asio/strand.hpp>

#include "base/async/wakeup.hpp"
#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

// An engine that answers only when the test lets it, and writes down how many ended in each call.
class SlowEngine final : public Engine {
 public:
  explicit SlowEngine(asio::any_io_executor strand)
      : strand_(std::move(strand)), let_go_(strand_) {}

  asio::any_io_executor executor() override { return strand_; }
  void let_one_go() { let_go_.wake(); }

  asio::awaitable<void> perform(EngineCall& call) override {
    auto* one = call.get_if<Complete>();
    auto* many = call.get_if<CompleteMany>();
    sizes.push_back(many ? many->operation.executions.size() : 1);
    co_await let_go_.wait_until(std::chrono::steady_clock::time_point::max());
    const EndReply completed{ExecutionState::completed};
    if (one) one->reply.emplace(completed);
    if (many)
      many->reply.emplace(CompleteManyReply{
          std::vector<Result<EndReply>>(many->operation.executions.size() - lost, completed)});
  }

  std::vector<std::size_t> sizes;
  std::size_t lost = 0;  // results that a reply to many leaves out

 private:
  asio::any_io_executor strand_;
  Wakeup let_go_;
};

class CompletionsTest : public ::testing::Test {
 protected:
  // All that can be done without a new call of the test.
  void run() {
    context_.restart();
    context_.poll();
  }
  void complete(std::size_t bytes = 0) {
    coroutines_.spawn(strand_, [this, bytes]() -> asio::awaitable<void> {
      Complete completion;
      completion.result = std::string(bytes, 'x');
      replies_.push_back(co_await completions_.complete(std::move(completion)));
    });
  }

  asio::io_context context_;
  asio::any_io_executor strand_ = asio::make_strand(context_);
  SlowEngine engine_{strand_};
  CoroutineGroup coroutines_;
  Completions completions_{engine_, strand_, coroutines_};
  std::vector<Result<EndReply>> replies_;
};

TEST_F(CompletionsTest, OneAloneGoesAtOnce) {
  complete();
  run();
  EXPECT_THAT(engine_.sizes, ElementsAre(1));
  engine_.let_one_go();
  run();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_EQ(replies_[0], (EndReply{ExecutionState::completed}));
}

TEST_F(CompletionsTest, CompletionsDuringACallAreSentTogether) {
  complete();
  run();
  for (int i = 0; i < 3; ++i) complete();
  run();
  EXPECT_THAT(engine_.sizes, ElementsAre(1));
  engine_.let_one_go();
  run();
  EXPECT_THAT(engine_.sizes, ElementsAre(1, 3));
  EXPECT_THAT(replies_, SizeIs(1));
  engine_.let_one_go();
  run();
  EXPECT_THAT(replies_, SizeIs(4));
}

TEST_F(CompletionsTest, OneCallHoldsNoMoreThanTheEngineTakes) {
  complete();
  run();
  for (int i = 0; i < 17; ++i) complete(1024 * 1024);
  for (int i = 0; i < 3; ++i) {
    run();
    engine_.let_one_go();
  }
  run();
  EXPECT_THAT(engine_.sizes, ElementsAre(1, 16, 1));
  EXPECT_THAT(replies_, SizeIs(18));
}

TEST_F(CompletionsTest, ItemWithoutAnAnswerIsAnError) {
  engine_.lost = 1;
  for (int i = 0; i < 3; ++i) complete();
  for (int i = 0; i < 2; ++i) {
    run();
    engine_.let_one_go();
  }
  run();
  EXPECT_THAT(engine_.sizes, ElementsAre(1, 2));
  ASSERT_THAT(replies_, SizeIs(3));
  EXPECT_TRUE(replies_[1]);
  EXPECT_EQ(replies_[2].error().code, Errc::malformed_response);
}

}  // namespace
}  // namespace ff
