// Where the files are that a test reads or runs. Only paths.cpp is compiled with the names of directories:
// they would otherwise keep another clone from sharing what the compiler cache has.
#pragma once

#include <filesystem>

namespace ff::test {

std::filesystem::path source_dir();

// The program `ff` of this build.
std::filesystem::path program_path();

// The Valkey function library of this build.
std::filesystem::path function_library_path();

}  // namespace ff::test
