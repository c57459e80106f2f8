#include "store/embedded/disk/format.hpp"

#include "records.pb.h"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::HasSubstr;

class FormatTest : public StoreTest {
 protected:
  FormatTest() {
    open();
    close();
  }
  void put_store(std::uint32_t version, std::uint32_t partitions) {
    proto::Store record;
    record.set_format_version(version);
    record.set_partition_count(partitions);
    put(keys::store, record.SerializeAsString());
  }
};

TEST_F(FormatTest, OfANewStoreIsOurs) {
  const auto database = must(Database::open({.directory = database_directory(directory())}));
  const auto format = must(read_format(*database));
  ASSERT_TRUE(format);
  EXPECT_EQ(format->version, format_version);
  EXPECT_EQ(format->partition_count, 256);
}

TEST_F(FormatTest, OfAnEmptyDatabaseIsNone) {
  const auto database = must(Database::open({.directory = temp_.path() / "empty"}));
  EXPECT_FALSE(must(read_format(*database)));
}

TEST_F(FormatTest, NewerFormatIsRefusedAndLeftAlone) {
  put_store(99, 256);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(error_at_open(), Errc::store_too_new);
    EXPECT_THAT(last_message_, HasSubstr("format 99"));
    EXPECT_THAT(last_message_, HasSubstr("use a newer version"));
  }
  const auto checked = embedded::check(directory());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::store_too_new);
}

TEST_F(FormatTest, InvalidFormatIsReportedAsDamage) {
  put_store(0, 256);
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
  put_store(format_version, 0);
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
  put_store(format_version, 70'000);
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
  put(keys::store, "rubbish");
  EXPECT_EQ(error_at_open(), Errc::store_damaged);
  EXPECT_THAT(last_message_, HasSubstr("restore it from a backup"));
}

TEST_F(FormatTest, KeepsTheNumberOfPartitions) {
  put_store(format_version, 16);
  EXPECT_EQ(open().partition_count(), 16);
}

TEST_F(FormatTest, OfFormerVersionsIsRaisedAndNothingElseChanges) {
  for (const std::uint32_t version : {2u, 3u}) {
    open();
    const auto id = submit();
    close();
    put_store(version, 256);
    open();
    EXPECT_EQ(state_of(id), ExecutionState::waiting);
    close();
    const auto database = must(Database::open({.directory = database_directory(directory())}));
    EXPECT_EQ(must(read_format(*database))->version, format_version);
  }
}

}  // namespace
}  // namespace ff::embedded
