#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

std::filesystem::path build_dir() { return FF_BUILD_DIR; }

}  // namespace

std::filesystem::path source_dir() { return FF_SOURCE_DIR; }
std::filesystem::path program_path() { return build_dir() / "ff"; }
std::filesystem::path function_library_path() {
  return build_dir() / "generated" / "flowfabric.lua";
}

}  // namespace ff::test
