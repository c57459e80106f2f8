#include "store/embedded/tools/backup.hpp"

#include <fstream>

#include "store/embedded/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::IsEmpty;

const BackupName nightly = *BackupName::parse("nightly");

class BackupTest : public StoreTest {
 protected:
  BackupTest() { open(); }

  std::filesystem::path restored() const { return temp_.path() / "restored"; }
  void open_restored() {
    auto elsewhere = options();
    elsewhere.directory = restored();
    open(elsewhere);
  }
};

TEST_F(BackupTest, HoldsWhatWasThereAndNothingLater) {
  const auto done = submit_and_complete({.payload = std::string(5'000, 'p')});
  const auto waiting = submit({.tags = {{"app.a", "1"}}});
  const auto reply = must(run(Backup{nightly}));
  const auto later = submit();
  complete(waiting);

  must(restore_backup(reply.directory, restored()));
  EXPECT_THAT(must(embedded::check(restored())).problems, IsEmpty());
  open_restored();
  EXPECT_EQ(state_of(done), ExecutionState::completed);
  EXPECT_EQ(must(run(GetPayload{done})).bytes, std::string(5'000, 'p'));
  EXPECT_EQ(must(run(store::ReadResult{done})).bytes, "r");
  EXPECT_EQ(state_of(waiting), ExecutionState::waiting);
  EXPECT_EQ(must(run(ListExecutions{.tag = "app.a=1"})).executions.size(), 1u);
  EXPECT_EQ(run(GetExecution{later}).error().code, Errc::execution_not_found);
}

TEST_F(BackupTest, LeavesTheOriginalAsItIs) {
  const auto id = submit();
  const auto reply = must(run(Backup{nightly}));
  must(restore_backup(reply.directory, restored()));
  complete(id);
  open_restored();
  complete(id, "another one");
  open();
  EXPECT_EQ(must(run(store::ReadResult{id})).bytes, "r");
}

TEST_F(BackupTest, CanBeOpenedWhereItIs) {
  const auto id = submit();
  auto in_place = options();
  in_place.directory = must(run(Backup{nightly})).directory;
  open(in_place);
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
}

TEST_F(BackupTest, HoldsAllThatWasAcknowledgedWhileCallsRun) {
  std::mutex mutex;
  std::vector<ExecutionId> acknowledged;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      while (!stop) {
        const auto id = submit_and_complete({.payload = std::string(2'000, 'p')});
        const std::lock_guard lock(mutex);
        acknowledged.push_back(id);
      }
    });
  const auto enough = [&](std::size_t count) {
    while (true) {
      const std::lock_guard lock(mutex);
      if (acknowledged.size() >= count) return acknowledged;
    }
  };
  std::vector<std::pair<std::vector<ExecutionId>, std::string>> backups;
  for (const std::size_t number : {1u, 2u, 3u}) {
    auto before = enough(10 * number);
    const auto name = *BackupName::parse(fmt::format("b{}", number));
    backups.emplace_back(std::move(before), must(run(Backup{name})).directory);
  }
  stop = true;
  callers.clear();
  for (const auto& [before, backup] : backups) {
    close();
    std::filesystem::remove_all(restored());
    must(restore_backup(backup, restored()));
    EXPECT_THAT(must(embedded::check(restored())).problems, IsEmpty());
    open_restored();
    for (const auto& id : before) EXPECT_EQ(must(run(store::ReadResult{id})).bytes, "r");
  }
}

TEST_F(BackupTest, DoesNotReplaceAnother) {
  must(run(Backup{nightly}));
  const auto again = run(Backup{nightly});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::backup_exists);
  EXPECT_THAT(again.error().message, ::testing::HasSubstr("nightly"));
}

TEST_F(BackupTest, BeginsAnewWhereOneWasCutShort) {
  const auto unfinished = directory() / "backups" / ".nightly.unfinished" / "db";
  std::filesystem::create_directories(unfinished);
  std::ofstream(unfinished / "000001.sst") << "half a file";
  const auto id = submit();
  must(restore_backup(must(run(Backup{nightly})).directory, restored()));
  open_restored();
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
}

TEST_F(BackupTest, FailedBackupIsReportedAndLeavesTheStoreRunning) {
  std::ofstream(directory() / "backups") << "not a directory";
  const auto failed = run(Backup{nightly});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::store_not_writable);
  EXPECT_TRUE(store_->health());
  submit();
}

TEST_F(BackupTest, IsRestoredOnlyIntoANewPlace) {
  const auto backup = must(run(Backup{nightly})).directory;
  must(restore_backup(backup, restored()));
  const auto again = restore_backup(backup, restored());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::invalid_input);

  const auto none = restore_backup(temp_.path() / "nothing", temp_.path() / "elsewhere");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_input);
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "elsewhere"));
}

}  // namespace
}  // namespace ff::embedded
