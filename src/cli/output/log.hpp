// The program's log: lines on standard error.
#pragma once

#include <string_view>

namespace ff::cli {

// `level` is a value of the setting log-level.
void log_to_stderr(std::string_view level);

}  // namespace ff::cli
