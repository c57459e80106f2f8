// Copies of a data directory, made while it is in use, and their way back.
//
//   DIR/db            the database
//   DIR/backups/NAME  a data directory of its own: it can be opened as it is, or restored elsewhere
#pragma once

#include <flowfabric/operations.hpp>

#include <filesystem>

#include "store/embedded/disk/database.hpp"

namespace ff::embedded {

std::filesystem::path database_directory(const std::filesystem::path& directory);

// Fails with backup_exists, and leaves nothing behind when it fails.
Result<BackupReply> back_up(Database& database, const std::filesystem::path& directory,
                            const BackupName& name);

// Copies a backup into a directory that does not exist yet or is empty, or else invalid_input.
Result<void> restore_backup(const std::filesystem::path& backup,
                            const std::filesystem::path& directory);

}  // namespace ff::embedded
