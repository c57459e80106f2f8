// The approval page in a real browser: a person opens a link, reads the question and answers with a click.
#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <fmt/format.h>

#include "tests/browser/browser.hpp"
#include "tests/end_to_end/cli_test.hpp"
#include "tests/support/blocking.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ApprovalTest : public CliTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(chromium))
      GTEST_SKIP() << "Chromium is not installed: scripts/setup packages-browser";
    // A server with tokens: the page has none but that of its link.
    server_ = serve("server", {}, {"FF_LOG_LEVEL=debug", "FF_API_TOKEN=" + api_token_});
    engine_ = must(open(url_, {.token = api_token_}));
    browser_ = std::make_unique<Browser>(temp_.path() / "profile");
  }

  template <class Op>
  typename Op::Reply run(Op operation) {
    return must(start(*engine_, std::move(operation)).get());
  }

  // An execution that waits for an answer by any of the approvers, and its tokens.
  void ask(std::vector<std::string> approvers, std::uint32_t needed) {
    id_ = run(Submit{.kind = must(Kind::parse("deploy"))}).id;
    const auto claimed = run(ClaimExecution{.id = id_, .worker = must(WorkerId::parse("w"))});
    const auto approved = must(SignalName::parse("approved"));
    const auto key = must(WaitpointKey::parse("deploy"));
    Question question{
        .title = "Deploy version 2?",
        .text = "The canary is <b>healthy</b>.",
        .choices = {{approved, "Approve"}, {must(SignalName::parse("rejected")), "Reject"}},
        .approvers = std::move(approvers)};
    const auto suspended = run(
        Suspend{.id = id_,
                .fence = claimed.fence,
                .condition = {CountOf{
                    .n = needed, .of = Counted::sources, .name = approved, .waitpoints = {key}}},
                .waitpoints = {{.key = key, .question = std::move(question)}},
                .reason = SuspendReason::waiting_for_approval});
    tokens_ = suspended.waitpoints.at(0).tokens;
  }

  std::string link(std::size_t approver) const {
    return url_ + "/approve#" + tokens_.at(approver).token;
  }
  void click(const std::string& label) {
    browser_->evaluate(fmt::format(
        "[...document.querySelectorAll('button')].find((b) => b.textContent === '{}').click()",
        label));
  }
  ExecutionInfo info() { return run(GetExecution{id_}); }

  const std::string api_token_ = "api-token-0123456789";
  std::unique_ptr<Process> server_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Browser> browser_;
  ExecutionId id_;
  std::vector<WaitpointToken> tokens_;
};

TEST_F(ApprovalTest, APersonOpensTheLinkReadsTheQuestionAndAnswersWithAClick) {
  ask({"Ada"}, 1);
  browser_->open(link(0));
  EXPECT_THAT(browser_->wait_for_state("open"),
              AllOf(HasSubstr("Deploy version 2?"), HasSubstr("<b>healthy</b>"),
                    HasSubstr("For Ada"), HasSubstr("Approve"), HasSubstr("Reject")));
  browser_->evaluate("document.getElementById('comment').value = 'go ahead'");
  click("Approve");
  EXPECT_THAT(browser_->wait_for_state("answered-by-you"),
              HasSubstr("Your answer was sent: Approve"));
  EXPECT_EQ(browser_->evaluate("document.activeElement.id"), "title");
  if (const auto* file = std::getenv("FF_SCREENSHOT")) browser_->save_screenshot(file);
  EXPECT_EQ(info().state, ExecutionState::waiting);
  const auto signals = run(GetSignals{.id = id_}).signals;
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_EQ(signals[0].name.str(), "approved");
}

TEST_F(ApprovalTest, OpeningTheLinkChangesNothing) {
  ask({}, 1);
  const auto before = info();
  browser_->open(link(0));
  browser_->wait_for_state("open");
  browser_->open(link(0));
  browser_->wait_for_state("open");
  EXPECT_EQ(info(), before);
  EXPECT_TRUE(run(GetSignals{.id = id_}).signals.empty());
}

TEST_F(ApprovalTest, APageThatIsOpenedAgainShowsTheAnswer) {
  ask({"Ada", "Grace"}, 2);
  browser_->open(link(0));
  browser_->wait_for_state("open");
  click("Approve");
  browser_->wait_for_state("answered-by-you");
  browser_->open(link(0));
  EXPECT_THAT(browser_->wait_for_state("answered-by-you"), HasSubstr("You have answered: Approve"));
  browser_->open(link(1));
  EXPECT_THAT(browser_->wait_for_state("open"),
              AllOf(HasSubstr("For Grace"), Not(HasSubstr("Ada"))));
}

TEST_F(ApprovalTest, LinksThatAreWrongOrOverSaySo) {
  ask({}, 1);
  for (const auto& wrong : {std::string("#x"), std::string(), "#" + tokens_[0].token + "x"}) {
    browser_->open(url_ + "/approve" + wrong);
    EXPECT_THAT(browser_->wait_for_state("unknown"), HasSubstr("Unknown link"));
  }
  run(Cancel{.id = id_});
  browser_->open(link(0));
  EXPECT_THAT(browser_->wait_for_state("over"), HasSubstr("closed"));
}

TEST_F(ApprovalTest, AServerThatIsDownCanBeTriedAgain) {
  ask({}, 1);
  browser_->open(link(0));
  browser_->wait_for_state("open");
  server_.reset();
  click("Approve");
  EXPECT_THAT(browser_->evaluate(R"js(new Promise((done) => {
    const status = document.getElementById("status");
    const look = () => { if (status.dataset.kind === "bad") done(status.textContent); };
    new MutationObserver(look).observe(status, {attributes: true, childList: true});
    look();
  }))js"),
              HasSubstr("cannot be reached"));
}

TEST_F(ApprovalTest, TheTokenIsInNoLogOfTheServer) {
  ask({}, 1);
  browser_->open(link(0));
  browser_->wait_for_state("open");
  click("Reject");
  EXPECT_THAT(server_->wait_for_output("POST /v1/waitpoint"),
              AllOf(HasSubstr("GET /v1/waitpoint 200"), Not(HasSubstr(tokens_[0].token))));
}

}  // namespace
}  // namespace ff::test
