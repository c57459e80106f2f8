// Exit codes of `ff`.
#pragma once

#include <flowfabric/error.hpp>

namespace ff::cli {

enum class ExitCode : int {
  ok = 0,
  failed = 1,       // the execution failed, or anything that has no code of its own
  usage = 2,        // wrong arguments or input
  not_found = 3,    // no such execution
  conflict = 4,     // the execution's state does not allow it
  unavailable = 5,  // server or store cannot be used now
  denied = 6,       // no token, a wrong one, or one that may not do this
};

ExitCode exit_code_of(const Error& error);

}  // namespace ff::cli
