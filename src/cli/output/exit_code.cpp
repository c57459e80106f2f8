#include "cli/output/exit_code.hpp"

namespace ff::cli {

ExitCode exit_code_of(const Error& error) {
  if (error.code == Errc::execution_failed) return ExitCode::failed;
  for (const auto missing :
       {Errc::execution_not_found, Errc::budget_not_found, Errc::quota_not_found,
        Errc::worker_not_found, Errc::schedule_not_found, Errc::waitpoint_not_found, Errc::step_not_found,
        Errc::flow_not_found, Errc::node_not_found, Errc::bulk_not_found})
    if (error.code == missing) return ExitCode::not_found;
  switch (info(error.code).http_status) {
    case 400:
    case 413: return ExitCode::usage;
    case 401:
    case 403: return ExitCode::denied;
    case 409:
    case 410: return ExitCode::conflict;
    case 408:
    case 429:
    case 503:
    case 504: return ExitCode::unavailable;
    default: return ExitCode::failed;
  }
}

}  // namespace ff::cli
