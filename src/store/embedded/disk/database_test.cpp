#include "store/embedded/disk/database.hpp"

#include <fstream>

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() : database_(must(Database::open({.directory = temp_.path() / "db"}))) {
    Changes changes;
    for (const char* key : {"a1", "a2", "a3", "b1"}) changes.put(key, key);
    must(database_->write(changes));
  }
  std::vector<std::string> keys(const Range& range, std::size_t max = 100) {
    std::vector<std::string> keys;
    must(database_->for_each(range, [&](auto key, auto) -> Result<Database::Next> {
      keys.emplace_back(key);
      return keys.size() < max ? Database::Next::go_on : Database::Next::stop;
    }));
    return keys;
  }

  test::TempDirectory temp_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, VisitsARangeInBothDirections) {
  EXPECT_THAT(keys({.prefix = "a"}), ElementsAre("a1", "a2", "a3"));
  EXPECT_THAT(keys({.prefix = "a", .order = Order::backward}), ElementsAre("a3", "a2", "a1"));
  EXPECT_THAT(keys({.prefix = "b", .order = Order::backward}), ElementsAre("b1"));
  EXPECT_THAT(keys({.prefix = "c"}), IsEmpty());
  EXPECT_THAT(keys({.prefix = "a"}, 2), ElementsAre("a1", "a2"));
}

TEST_F(DatabaseTest, BeginsBehindAKeyWhetherItIsThereOrNot) {
  EXPECT_THAT(keys({.prefix = "a", .after = "a1"}), ElementsAre("a2", "a3"));
  EXPECT_THAT(keys({.prefix = "a", .after = "a11"}), ElementsAre("a2", "a3"));
  EXPECT_THAT(keys({.prefix = "a", .after = "a3", .order = Order::backward}),
              ElementsAre("a2", "a1"));
  EXPECT_THAT(keys({.prefix = "a", .after = "a21", .order = Order::backward}),
              ElementsAre("a2", "a1"));
}

TEST_F(DatabaseTest, ReadsNoTombstonesOfOtherRanges) {
  Changes changes;
  for (int i = 0; i < 1'000; ++i) changes.put(fmt::format("c{:04}", i), "");
  must(database_->write(changes));
  changes.clear();
  for (int i = 0; i < 1'000; ++i) changes.erase(fmt::format("c{:04}", i));
  must(database_->write(changes));
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  EXPECT_THAT(keys({.prefix = "b2"}), IsEmpty());
  EXPECT_THAT(keys({.prefix = "d", .order = Order::backward}), IsEmpty());
  EXPECT_EQ(rocksdb::get_perf_context()->internal_delete_skipped_count, 0u);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

TEST_F(DatabaseTest, WritesChangesTogetherInTheirOrder) {
  Changes changes;
  EXPECT_TRUE(changes.empty());
  changes.put("a1", "first");
  changes.put("a1", "second");
  changes.put("a2", "gone");
  changes.erase("a2");
  EXPECT_EQ(must(database_->get("a1")), "a1") << "not before they are written";
  must(database_->write(changes));
  EXPECT_EQ(must(database_->get("a1")), "second");
  EXPECT_EQ(must(database_->get("a2")), std::nullopt);
}

// ---- A data directory that something else has changed ---------------------------------------------

// Whatever is wrong, the message says what to do, and nothing is changed by the attempt to open it.
class DamagedDirectoryTest : public StoreTest {
 protected:
  // With data both in a table file and in the log.
  DamagedDirectoryTest() {
    open();
    for (int i = 0; i < 5; ++i) submit_and_complete({.payload = std::string(3'000, 'p')});
    must(run(Backup{*BackupName::parse("b")}));  // writes what is in memory to a table
    for (int i = 0; i < 5; ++i) submit();
    close();
  }

  std::vector<std::filesystem::path> files(std::string_view like) {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::directory_iterator(database_directory(directory())))
      if (file.path().filename().string().find(like) != std::string::npos)
        found.push_back(file.path());
    EXPECT_FALSE(found.empty()) << like;
    return found;
  }
  void overwrite(std::string_view like, std::string_view bytes) {
    for (const auto& file : files(like)) std::ofstream(file, std::ios::binary) << bytes;
  }
  void truncate(std::string_view like) {
    for (const auto& file : files(like))
      std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  }
  void remove(std::string_view like) {
    for (const auto& file : files(like)) std::filesystem::remove(file);
  }
  std::map<std::string, std::uintmax_t> data_files() {
    std::map<std::string, std::uintmax_t> sizes;
    for (const auto& file : std::filesystem::directory_iterator(database_directory(directory())))
      if (file.path().extension() == ".sst" || file.path().extension() == ".blob")
        sizes[file.path().filename().string()] = file.file_size();
    return sizes;
  }

  void expect_refused() {
    const auto before = data_files();
    for (int time = 0; time < 2; ++time) {
      EXPECT_THAT(error_at_open(), ::testing::AnyOf(Errc::store_damaged, Errc::store_unavailable))
          << last_message_;
      EXPECT_THAT(last_message_,
                  ::testing::AnyOf(HasSubstr("restore the data directory from a backup"),
                                   HasSubstr("see whether the disk is full or broken")));
    }
    EXPECT_FALSE(embedded::check(directory()));
    EXPECT_EQ(data_files(), before);
  }
};

TEST_F(DamagedDirectoryTest, WithGarbageInCurrent) {
  overwrite("CURRENT", "garbage");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithCurrentNamingAFileThatIsNotThere) {
  overwrite("CURRENT", "MANIFEST-999999\n");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithoutCurrent) {
  remove("CURRENT");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, BackupWithoutCurrentIsRefused) {
  std::filesystem::remove_all(database_directory(directory()));
  std::filesystem::rename(database_directory(directory() / "backups" / "b"),
                          database_directory(directory()));
  remove("CURRENT");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithGarbageInTheManifest) {
  overwrite("MANIFEST", std::string(5'000, '?'));
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithAnEmptyManifest) {
  overwrite("MANIFEST", "");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithoutTheManifest) {
  remove("MANIFEST");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithATruncatedTable) {
  truncate(".sst");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithGarbageInATable) {
  for (const auto& file : files(".sst"))
    std::ofstream(file, std::ios::binary)
        << std::string(static_cast<std::size_t>(std::filesystem::file_size(file)), '?');
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithoutATable) {
  remove(".sst");
  expect_refused();
}
TEST_F(DamagedDirectoryTest, WithATruncatedBlobFile) {
  truncate(".blob");
  close();
  // It may open, but what is gone is not answered with anything else.
  if (auto opened = embedded::open(options())) {
    store_ = std::move(*opened);
    const auto listed = must(run(ListExecutions{.state = ExecutionState::completed}));
    for (const auto& execution : listed.executions) {
      const auto payload = run(GetPayload{execution.id});
      if (payload)
        EXPECT_EQ(payload->bytes, std::string(3'000, 'p'));
      else
        EXPECT_THAT(payload.error().code,
                    ::testing::AnyOf(Errc::store_damaged, Errc::store_unavailable));
    }
  }
}
TEST_F(DamagedDirectoryTest, WithADatabaseThatIsAFile) {
  std::filesystem::remove_all(database_directory(directory()));
  std::ofstream(database_directory(directory())) << "something else";
  EXPECT_THAT(error_at_open(), ::testing::AnyOf(Errc::store_damaged, Errc::store_unavailable));
}

TEST_F(DamagedDirectoryTest, IsAsBeforeOnceTheFileIsBack) {
  const auto current = database_directory(directory()) / "CURRENT";
  std::filesystem::rename(current, temp_.path() / "CURRENT");
  expect_refused();
  std::filesystem::rename(temp_.path() / "CURRENT", current);
  open();
  EXPECT_EQ(counts(), "waiting 5, completed 5");
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace ff::embedded
