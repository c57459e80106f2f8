#include "cli/input_files.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

namespace ff::cli {
namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  throw TaskFailure(
      {.reason = fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))});
}

std::filesystem::path make_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ff-inputs-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) fail_to_write(pattern);
  return pattern;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail_to_write(path);
}

// Numbers the inputs of each name.
class FileNames {
 public:
  explicit FileNames(const std::vector<NodeInput>& inputs) {
    for (const auto& input : inputs) ++counts_[input.name];
  }

  std::string next(const NodeName& name) {
    const auto count = counts_.at(name);
    auto file = name.str().starts_with('.') ? "_" + name.str() : name.str();
    if (count > 1) file += fmt::format(".{:0{}}", ++numbers_[name], std::to_string(count).size());
    if (!used_.insert(file).second)
      throw TaskFailure(
          {.reason = fmt::format("two inputs would be the file {}", file), .retryable = false});
    return file;
  }

 private:
  std::map<NodeName, std::size_t> counts_;
  std::map<NodeName, std::size_t> numbers_;
  std::set<std::string> used_;
};

}  // namespace

InputFiles::InputFiles(Task& task) {
  const auto inputs = task.inputs();
  directory_ = make_directory();
  try {
    write(inputs);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
    throw;
  }
}

InputFiles::~InputFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void InputFiles::write(const std::vector<NodeInput>& inputs) {
  FileNames names(inputs);
  for (const auto& input : inputs) {
    const auto file = names.next(input.name);
    if (input.state == ExecutionState::completed) write_file(directory_ / file, input.result);
  }
}

}  // namespace ff::cli
