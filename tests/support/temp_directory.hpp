// A directory that is gone when the test is over.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ff::test {

class TempDirectory {
 public:
  TempDirectory() {
    auto pattern = (std::filesystem::temp_directory_path() / "ff-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ff::test
