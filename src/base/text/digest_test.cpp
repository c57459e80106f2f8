#include "base/text/digest.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

// Digests are stored: another value here would make every stored one wrong.
TEST(Digest, StaysTheSame) {
  EXPECT_EQ(Digest{}.value(), 0x2d06800538d394c2u);
  EXPECT_EQ(Digest{}.add("FlowFabric").add(std::int64_t{-1}).add("").value(), 0xf41fdb934b8658e4u);
}

TEST(Digest, TellsWhereOneTextEnds) {
  EXPECT_NE(Digest{}.add("a").add("bc").value(), Digest{}.add("ab").add("c").value());
  EXPECT_NE(Digest{}.add("a").value(), Digest{}.add("a").add("").value());
}

TEST(Digest, FollowsTheOrder) {
  EXPECT_NE(Digest{}.add("a").add("b").value(), Digest{}.add("b").add("a").value());
  EXPECT_NE(Digest{}.add(std::int64_t{1}).add(std::int64_t{2}).value(),
            Digest{}.add(std::int64_t{2}).add(std::int64_t{1}).value());
}

TEST(Digest, TakesAnyBytes) {
  EXPECT_NE(Digest{}.add(std::string_view("\0", 1)).value(), Digest{}.add("").value());
  EXPECT_NE(Digest{}.add(std::string(100'000, 'x')).value(),
            Digest{}.add(std::string(100'000, 'y')).value());
}

}  // namespace
}  // namespace ff
