// The integrity check of a data directory: every record is read, and every index compared with them.
#pragma once

#include <flowfabric/error.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace rocksdb {
class Env;
}

namespace ff::embedded {

struct CheckReport {
  std::size_t live = 0;
  std::size_t ended = 0;
  std::size_t flows = 0;
  std::size_t budgets = 0;
  std::size_t quotas = 0;
  std::size_t schedules = 0;
  std::size_t index_entries = 0;
  std::size_t problem_count = 0;
  std::vector<std::string> problems = {};  // the first ones, in words
};

struct CheckOptions {
  rocksdb::Env* env = nullptr;          // for tests: a file system in memory
  std::function<void()> on_entry = {};  // for each entry of the database that is looked at
};

// Changes nothing. Fails if the directory cannot be read at all: it does not exist, another process
// has it, or it is of a newer version.
Result<CheckReport> check(const std::filesystem::path& directory, const CheckOptions& options = {});

}  // namespace ff::embedded
