// The example page that shows a stream, in a real browser: through a restart of the server, with a ticket and no token.
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "tests/browser/browser.hpp"
#include "tests/browser/page_server.hpp"
#include "tests/end_to_end/cli_test.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StreamPageTest : public CliTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(chromium))
      GTEST_SKIP() << "Chromium is not installed: scripts/setup packages-browser";
    std::ifstream file(source_dir() / "examples/live_page/stream.html");
    std::ostringstream page;
    page << file.rdbuf();
    pages_ = std::make_unique<PageServer>(page.str());
    start_server("127.0.0.1:0");
    browser_ = std::make_unique<Browser>(temp_.path() / "profile");
    id_ = call(Submit{.kind = must(Kind::parse("tell"))}).id;
    claimed_ = call(ClaimExecution{
        .id = id_, .worker = must(WorkerId::parse("w")), .lease_ttl = std::chrono::minutes{5}});
  }

  std::string origin() const { return fmt::format("http://127.0.0.1:{}", pages_->port()); }
  void start_server(const std::string& address) {
    server_ = serve("server", {},
                    {"FF_LISTEN_ADDR=" + address, "FF_API_TOKEN=" + api_token_,
                     "FF_CORS_ORIGINS=" + origin(), "FF_LOG_LEVEL=debug"});
    engine_ = must(open(url_, {.token = api_token_}));
  }
  template <class Op>
  typename Op::Reply call(Op operation) {
    return must(start(*engine_, std::move(operation)).get());
  }
  void write(std::uint64_t written, const std::string& text) {
    call(AppendFrames{.id = id_,
                      .fence = claimed_.fence,
                      .written = written,
                      .frames = {{.bytes = text}},
                      .durability = StreamClass::durable});
  }
  void open_page(const std::string& ticket) {
    browser_->open(
        fmt::format("{}/#server={}&id={}&ticket={}", origin(), url_, short_id_of(id_), ticket));
  }
  static std::string short_id_of(const ExecutionId& id) {
    return fmt::format("{}-{}", id.partition(), id.uuid().str());
  }
  // Once the page shows this text.
  std::string shown(const std::string& text) {
    return browser_->evaluate(fmt::format(
        R"js(new Promise((done) => {{
          const look = () => {{
            const text = document.getElementById("output")?.textContent ?? "";
            if (text.includes("{}")) done(text);
          }};
          // The document: its body may not be there yet.
          new MutationObserver(look).observe(document, {{subtree: true, childList: true}});
          look();
        }}))js",
        text));
  }

  const std::string api_token_ = "browser-test-token-0123456789";
  std::unique_ptr<PageServer> pages_;
  std::unique_ptr<Process> server_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Browser> browser_;
  ExecutionId id_;
  ClaimedExecution claimed_;
};

TEST_F(StreamPageTest, GoesOnBehindARestartOfTheServer) {
  write(0, "once ");
  open_page(call(CreateStreamTicket{id_}).ticket);
  shown("once ");
  const auto address = url_.substr(7);
  server_->signal(SIGKILL);
  server_->wait();
  start_server(address);
  write(1, "upon ");
  call(Complete{.id = id_, .fence = claimed_.fence});
  EXPECT_EQ(shown("upon "), "once upon ");
  EXPECT_THAT(browser_->wait_for_state("completed"), HasSubstr("once upon"));
  EXPECT_THAT(server_->wait_for_output("/streams/output"), Not(HasSubstr("fft1.")));
}

TEST_F(StreamPageTest, IsRefusedWithoutAValidTicket) {
  open_page("nonsense");
  EXPECT_THAT(browser_->wait_for_state("refused"), Not(HasSubstr("once")));
}

}  // namespace
}  // namespace ff::test
