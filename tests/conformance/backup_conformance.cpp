#include <filesystem>

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, BackupIsMadeWhileTheEngineGoesOn) {
  if (!home_->backs_up()) {
    EXPECT_EQ(error_of(Backup{.name = *BackupName::parse("nightly")}), Errc::invalid_input);
    return;
  }
  const auto id = submit();
  const auto made = must(run(Backup{.name = *BackupName::parse("nightly")}));
  EXPECT_TRUE(std::filesystem::is_directory(made.directory)) << made.directory;
  EXPECT_EQ(claim().id, id);
  EXPECT_EQ(error_of(Backup{.name = *BackupName::parse("nightly")}), Errc::backup_exists);
  EXPECT_TRUE(run(Backup{.name = *BackupName::parse("nightly-2")}));
}

TEST_P(Conformance, BackupNeedsANameThatIsNotHidden) {
  EXPECT_EQ(error_of(Backup{.name = *BackupName::parse(".hidden")}), Errc::invalid_input);
  EXPECT_EQ(error_of(Backup{.name = *BackupName::parse("..")}), Errc::invalid_input);
  EXPECT_EQ(error_of(Backup{}), Errc::invalid_input);
}

}  // namespace
}  // namespace ff::conformance
