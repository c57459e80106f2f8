#include <flowfabric/error.hpp>

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/paths.hpp"

namespace ff {
namespace {

TEST(Error, NamesLeadBackToTheirCode) {
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    const auto code = static_cast<Errc>(i);
    EXPECT_EQ(errc_from_name(info(code).name), code);
  }
  EXPECT_EQ(errc_from_name("no_such_code"), std::nullopt);
}

TEST(Error, MustGivesTheValueOrThrowsTheError) {
  EXPECT_EQ(must(Result<int>(7)), 7);
  try {
    must(Result<int>(fail(Errc::stale_lease, "gone")));
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, Errc::stale_lease);
    EXPECT_STREQ(exception.what(), "stale_lease: gone");
  }
}

TEST(Error, EveryCodeIsInTheDocs) {
  std::ifstream file(test::source_dir() / "docs/errors.md");
  const std::string docs(std::istreambuf_iterator<char>(file), {});
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    const auto& row = info(static_cast<Errc>(i));
    const auto line = fmt::format("\n| `{}` | {} | {} | ", row.name, row.http_status,
                                  row.error_class == ErrorClass::retryable ? "yes" : "no");
    EXPECT_NE(docs.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace ff
