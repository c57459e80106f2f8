// The process that is killed: an engine with a real clock, under load from several threads.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ff::crash {

// Never returns by itself. Tells of what was acknowledged on `pipe` (journal.hpp).
[[noreturn]] void run_load(const std::filesystem::path& directory, std::uint64_t seed, int pipe);

}  // namespace ff::crash
