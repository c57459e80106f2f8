#include "store/embedded/tools/backup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ff::embedded {

namespace fs = std::filesystem;

namespace {

// Of a file or a directory: what was written or renamed survives a power cut.
std::error_code sync_path(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno, std::generic_category()};
  const std::error_code failed(::fsync(file) == 0 ? 0 : errno, std::generic_category());
  ::close(file);
  return failed;
}

}  // namespace

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
    // Otherwise a power cut could undo the rename after it was acknowledged.
    for (const auto& each : {target, backups, directory})
      if (!failed) failed = sync_path(each);
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
  if (fs::create_directories(directory, failed))
    fs::permissions(directory, fs::perms::owner_all, failed);
  if (!failed)
    fs::copy(database_directory(backup), database_directory(directory), fs::copy_options::recursive,
             failed);
  for (const auto& file : fs::directory_iterator(database_directory(directory), failed))
    if (!failed) failed = sync_path(file.path());
  for (const auto& each : {database_directory(directory), directory})
    if (!failed) failed = sync_path(each);
  if (failed)
    return fail(Errc::store_not_writable,
                fmt::format("cannot restore into {}: {}", directory.string(), failed.message()));
  return {};
}

}  // namespace ff::embedded
