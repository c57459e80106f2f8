// The approval page as files; tests/browser opens it in a browser.
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
    EXPECT_EQ(answer.result_int(), 200u) << page.path;
    EXPECT_EQ(answer.body(), page.text);
    EXPECT_EQ(answer[Field::content_type], page.content_type);
    EXPECT_THAT(std::string(answer["Content-Security-Policy"]),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"),
                      Not(HasSubstr("unsafe"))));
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
    EXPECT_THAT(std::string(page.text), Not(HasSubstr("innerHTML"))) << page.path;
    EXPECT_THAT(std::string(page.text), Not(HasSubstr("://"))) << page.path;
    EXPECT_THAT(std::string(page.text), Not(HasSubstr("style="))) << page.path;
    EXPECT_THAT(std::string(page.text), Not(HasSubstr("=\"/"))) << page.path;
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
