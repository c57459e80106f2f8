#include <flowfabric/error.hpp>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ff
