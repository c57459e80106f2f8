// The inputs of a node as files, for commands that `ff work` runs.
#pragma once

#include <flowfabric/task.hpp>

#include <filesystem>

namespace ff::cli {

// A directory with a file for each input that has a result: NAME, or NAME.1, NAME.2, … in the order of the
// dependencies if the node has several inputs of one name. Leading zeros keep that order in a listing; a name that
// begins with a dot gets a '_' in front. Removed with the object.
class InputFiles {
 public:
  // Throws a TaskFailure if the files cannot be written, or two of them would have the same name.
  explicit InputFiles(Task& task);
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  void write(const std::vector<NodeInput>& inputs);

  std::filesystem::path directory_;
};

}  // namespace ff::cli
