// Web pages of other origins, in a real browser, against a server without tokens: they can neither read nor
// change anything.
#include <cstdlib>

#include <fmt/format.h>

#include "tests/browser/browser.hpp"
#include "tests/browser/page_server.hpp"
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A name of the attacker's that leads to loopback, as after DNS rebinding.
constexpr const char* rebound_host = "rebound.example";

// Tries every way in which a page can send a request, one after the other, at SERVER.
constexpr std::string_view attack = R"html(<!doctype html>
<body><img src="/wait"><iframe name="frame"></iframe>
<form method="post" target="frame" enctype="text/plain"><input name="a" value="b"></form>
<script>
const server = "SERVER";
const form = document.forms[0], frame = document.querySelector("iframe");
const say = (line) => document.body.append(line + "; ");
const read = (name, path, options) =>
    fetch(server + path, options).then((reply) => reply.text())
        .then((text) => say(name + " was READ: " + text), () => say(name + " was blocked"));
const send = (name, path, options) =>
    fetch(server + path, {mode: "no-cors", method: "POST", ...options})
        .then(() => say(name + " was sent"), () => say(name + " was blocked"));
const submit = (path) => new Promise((loaded) => {
  frame.onload = loaded;
  form.action = server + path;
  form.submit();
});
const follow = (path) => new Promise((ended) => {
  const events = new EventSource(server + path);
  events.onopen = () => { say("events were READ"); events.close(); ended(); };
  events.onerror = () => { say("events were blocked"); events.close(); ended(); };
});
(async () => {
  await read("list", "/v1/executions");
  await read("metrics", "/metrics");
  await read("JSON", "/v1/executions", {
    method: "POST", body: '{"kind":"json"}', headers: {"Content-Type": "application/json"}});
  await send("text", "/v1/executions?kind=text", {body: "x"});
  await send("query", "/v1/executions?kind=query", {});
  await submit("/v1/executions?kind=form");
  await follow("/v1/events");
  await fetch("/done");
})();
</script>)html";

class BrowserTest : public CliTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(chromium))
      GTEST_SKIP() << "Chromium is not installed: scripts/setup packages-browser";
    server_ = serve("server", {}, {"FF_LOG_LEVEL=debug"});
  }

  std::string port() const { return url_.substr(url_.rfind(':') + 1); }
  std::string rebound() const { return fmt::format("http://{}:{}", rebound_host, port()); }

  // The text of the page once everything in it has been loaded.
  std::string browse(const std::string& url) {
    const auto profile = (temp_.path() / "profile").string();
    const auto finished = run(
        {"/usr/bin/env", "HOME=" + profile, chromium, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--no-first-run",
         fmt::format("--host-resolver-rules=MAP {} 127.0.0.1, MAP *.test 127.0.0.1", rebound_host),
         "--dump-dom", url});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  // The text of the attacking page; `from` is its host.
  std::string attack_from(const std::string& from, const std::string& server) {
    std::string page(attack);
    page.replace(page.find("SERVER"), 6, server);
    const PageServer site(std::move(page));
    const auto shown = browse(fmt::format("http://{}:{}/", from, site.port()));
    return shown.substr(shown.find("</script>") + 9);
  }

  std::unique_ptr<Process> server_;
};

TEST_F(BrowserTest, APageOfAnotherOriginCanNeitherReadNorSubmit) {
  struct Attack {
    std::string from;
    std::string server;
  };
  for (const auto& [from, server] :
       {Attack{"127.0.0.1", url_}, {"evil.test", url_}, {rebound_host, rebound()}}) {
    EXPECT_THAT(attack_from(from, server),
                ::testing::AllOf(HasSubstr("list was blocked"), HasSubstr("metrics was blocked"),
                                 HasSubstr("JSON was blocked"), HasSubstr("text was sent"),
                                 HasSubstr("events were blocked"), Not(HasSubstr("READ"))))
        << from << " to " << server;
  }
  EXPECT_EQ(out({"ls", "--json"}), "");
  EXPECT_THAT(server_->output_so_far(), HasSubstr("POST /v1/executions 403"));
}

TEST_F(BrowserTest, AReboundNameIsNotTheServersOwn) {
  out({"submit", "secret"});
  const auto shown = browse(rebound() + "/v1/executions");
  EXPECT_THAT(shown, ::testing::AllOf(HasSubstr("permission_denied"), Not(HasSubstr("secret"))));
}

TEST_F(BrowserTest, APersonCanLookAtTheServer) {
  out({"submit", "shown"});
  EXPECT_THAT(browse(url_ + "/v1/executions"), HasSubstr("shown"));
}

}  // namespace
}  // namespace ff::test
