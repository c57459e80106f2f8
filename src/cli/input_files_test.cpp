#include "cli/input_files.hpp"

#include <flowfabric/testing.hpp>

#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

// "NAME=CONTENT " of each file, by name.
std::string shown(const std::filesystem::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path());
    files.insert(entry.path().filename().string() + "=" +
                 std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::string text;
  for (const auto& file : files) text += file + " ";
  return text;
}

TEST(InputFiles, EachInputIsAFileAndTheDirectoryIsRemoved) {
  testing::TestTask test(
      {.inputs = {{.name = "plan", .result = "one"},
                  {.name = "page", .result = "a", .node = "first"},
                  {.name = "page", .state = ExecutionState::failed, .node = "second"},
                  {.name = "page", .result = "c", .node = "third"}}});
  std::filesystem::path directory;
  {
    const InputFiles files(test.task());
    directory = files.directory();
    EXPECT_EQ(shown(directory), "page.1=a page.3=c plan=one ");
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(InputFiles, NameCannotLeaveTheDirectory) {
  testing::TestTask test({.inputs = {{.name = "..", .result = "x"}}});
  const InputFiles files(test.task());
  EXPECT_EQ(shown(files.directory()), "_..=x ");
}

TEST(InputFiles, TwoInputsOfOneFileNameAreRefused) {
  testing::TestTask test({.inputs = {{.name = "a.1", .result = "x"},
                                     {.name = "a", .result = "y", .node = "b"},
                                     {.name = "a", .result = "z", .node = "c"}}});
  EXPECT_THROW(InputFiles files(test.task()), TaskFailure);
}

}  // namespace
}  // namespace ff::cli
