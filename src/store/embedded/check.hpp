// The integrity check of a data directory: every record is read, and every index compared with them.
#pragma once

#include <flowfabric/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace rocksdb {
class Env;
}

namespace ff::embedded {

struct CheckReport {
  std::size_t live = 0;
  std::size_t ended = 0;
  std::size_t index_entries = 0;
  std::size_t problem_count = 0;
  std::vector<std::string> problems = {};  // the first ones, in words
};

// Changes nothing. Fails if the directory cannot be read at all: it does not exist, another process
// has it, or it is of a newer version. `env` is for tests: a file system in memory.
Result<CheckReport> check(const std::filesystem::path& directory, rocksdb::Env* env = nullptr);

}  // namespace ff::embedded
