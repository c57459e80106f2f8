#include "base/version.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"

namespace ff::cli {

Run setup_version(Arguments&) {
  return []() -> Result<ExitCode> {
    fmt::print("ff {}\n", version);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
