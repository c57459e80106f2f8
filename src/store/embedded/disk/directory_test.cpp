#include "store/embedded/disk/directory.hpp"

#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.hpp"

namespace ff::embedded {
namespace {

using ::testing::HasSubstr;

TEST(DirectoryLock, IsHeldByOneAtATimeAndSaysByWhom) {
  const test::TempDirectory temp;
  {
    const auto first = DirectoryLock::acquire(temp.path());
    ASSERT_TRUE(first);
    const auto second = DirectoryLock::acquire(temp.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::store_locked);
    EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_TRUE(DirectoryLock::acquire(temp.path()));
}

TEST(DirectoryLock, MakesTheDirectory) {
  const test::TempDirectory temp;
  EXPECT_TRUE(DirectoryLock::acquire(temp.path() / "a" / "b"));
  EXPECT_TRUE(std::filesystem::is_directory(temp.path() / "a" / "b"));
}

TEST(DirectoryLock, CannotBeWhereAFileIs) {
  const test::TempDirectory temp;
  const auto file = temp.path() / "file";
  std::ofstream(file) << "something else";
  const auto lock = DirectoryLock::acquire(file);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, Errc::store_not_writable);
  EXPECT_THAT(lock.error().message, HasSubstr(file.string()));
}

}  // namespace
}  // namespace ff::embedded
