#include "store/embedded/tools/backup.hpp"

#include <fmt/format.h>

namespace ff::embedded {

namespace fs = std::filesystem;

fs::path database_directory(const fs::path& directory) { return directory / "db"; }

Result<BackupReply> back_up(Database& database, const fs::path& directory, const BackupName& name) {
  const auto backups = directory / "backups";
  const auto target = backups / name.str();
  const auto unfinished = backups / ("." + name.str() + ".unfinished");
  std::error_code failed;
  if (fs::exists(target, failed))
    return fail(Errc::backup_exists,
                fmt::format("there is a backup '{}' already; choose another name", name.str()));
  fs::remove_all(unfinished, failed);
  fs::create_directories(unfinished, failed);
  if (!failed) {
    if (auto copied = database.checkpoint(database_directory(unfinished)); !copied) {
      fs::remove_all(unfinished, failed);
      return std::unexpected(copied.error());
    }
    fs::rename(unfinished, target, failed);
  }
  if (failed)
    return fail(Errc::store_not_writable, fmt::format("cannot write the backup to {}: {}",
                                                      target.string(), failed.message()));
  return BackupReply{.directory = fs::absolute(target).string()};
}

Result<void> restore_backup(const fs::path& backup, const fs::path& directory) {
  std::error_code failed;
  if (!fs::is_directory(database_directory(backup), failed))
    return fail(Errc::invalid_input,
                fmt::format("{} is not a backup: it has no database", backup.string()));
  if (fs::exists(directory, failed) && !fs::is_empty(directory, failed))
    return fail(Errc::invalid_input,
                fmt::format("{} is not empty; restore into a new directory", directory.string()));
  fs::create_directories(directory, failed);
  if (!failed)
    fs::copy(database_directory(backup), database_directory(directory), fs::copy_options::recursive,
             failed);
  if (failed)
    return fail(Errc::store_not_writable,
                fmt::format("cannot restore into {}: {}", directory.string(), failed.message()));
  return {};
}

}  // namespace ff::embedded
