// Whole files into memory.
#pragma once

#include <flowfabric/error.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace ff::cli {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// For reading; fails with invalid_input.
Result<File> open_file(const std::filesystem::path& path);

// All that is left of `file`; fails with payload_too_large when that is more than `bytes_max`.
Result<std::string> read_all(std::FILE* file, std::string_view name, std::size_t bytes_max);

// Fails with invalid_input if it cannot be read.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace ff::cli
