// The pages as files; tests/browser and tests/web open them in a browser.
#include "http/server/pages.hpp"

#include <gmock/gmock.h>

#include "http/server/test_support.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Field = beast::http::field;

class PagesTest : public HttpTest {};

TEST_F(PagesTest, AreOpenToEverybodyAndAllowNothingFromElsewhere) {
  serve({.credentials = {.access = must(Access::load("a-token-0123456789", ""))}});
  for (const auto& page : pages()) {
    const auto answer = get(std::string(page.path));
    EXPECT_EQ(answer.result_int(), page.location.empty() ? 200u : 302u) << page.path;
    EXPECT_EQ(answer.body(), page.text);
    EXPECT_EQ(answer[Field::content_type], page.content_type);
    EXPECT_EQ(answer[Field::location], page.location);
    EXPECT_THAT(std::string(answer["Content-Security-Policy"]),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"),
                      HasSubstr("require-trusted-types-for 'script'"), Not(HasSubstr("unsafe"))));
    EXPECT_EQ(answer["Referrer-Policy"], "no-referrer");
    EXPECT_EQ(answer["X-Content-Type-Options"], "nosniff");
  }
}

TEST_F(PagesTest, AreFoundWhateverAMailProgramAddsToTheLink) {
  serve();
  EXPECT_EQ(get("/approve?utm_source=mail").result_int(), 200u);
  EXPECT_EQ(ask({.method = "HEAD", .target = "/approve"}).result_int(), 200u);
  EXPECT_EQ(post("/approve", "{}").result_int(), 405u);
}

TEST_F(PagesTest, HaveNoScriptOrStyleOfTheirOwnAndOnlyRelativeUrls) {
  for (const auto& page : pages()) {
    auto text = page.text;
    // The name of a kind of document, which nobody loads.
    const std::string svg = "http://www.w3.org/2000/svg";
    if (const auto at = text.find(svg); at != text.npos) text.erase(at, svg.size());
    for (const char* forbidden : {"innerHTML", "://", "style=", "=\"/"})
      EXPECT_THAT(text, Not(HasSubstr(forbidden))) << page.path;
  }
}

TEST_F(PagesTest, OfTheDashboardAreOneDocumentWhereverItIsOpened) {
  serve();
  EXPECT_EQ(get("/")[Field::location], "ui/");
  EXPECT_EQ(get("/ui")[Field::location], "ui/");
  const auto overview = get("/ui/").body();
  EXPECT_THAT(overview, HasSubstr("\"assets/"));
  EXPECT_EQ(get("/ui/executions?state=failed").body(), overview);
  EXPECT_THAT(get("/ui/executions/7-01a1f5de-c94b-72d2-8e93-fea2e4be1024").body(),
              AllOf(HasSubstr("\"../assets/"), Not(HasSubstr("@"))));
  EXPECT_EQ(get("/ui/assets/another-version/main.js").result_int(), 404u);
}

TEST_F(PagesTest, AreKeptByBrowsersIfTheirPathTellsTheirVersion) {
  serve();
  for (const auto& page : pages()) {
    const bool is_asset = page.path.starts_with("/ui/assets/");
    EXPECT_EQ(page.is_kept, is_asset) << page.path;
    EXPECT_THAT(std::string(get(page.path)[Field::cache_control]),
                HasSubstr(is_asset ? "immutable" : "no-cache"));
  }
}

// A link in a webmail is a navigation from another site.
TEST_F(PagesTest, AreOpenedFromOtherSitesWhileTheApiIsNot) {
  serve();
  const std::string from_mail = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
  EXPECT_EQ(get("/approve", from_mail).result_int(), 200u);
  EXPECT_EQ(get("/v1/waitpoint", from_mail + "Authorization: Waitpoint x\r\n").result_int(), 403u);
  EXPECT_EQ(get("/v1/executions", from_mail).result_int(), 403u);
}

}  // namespace
}  // namespace ff::http::test
