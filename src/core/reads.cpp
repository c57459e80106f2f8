#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "core/transitions.hpp"

namespace ff::core {

Result<ResultBytes> read_result(const Execution& execution, std::string result) {
  if (const auto* failed = std::get_if<Failed>(&execution.state))
    return fail(Errc::execution_failed,
                fmt::format("execution {} failed: {}", execution.id.str(), failed->reason),
                {{"reason", failed->reason}});
  const auto state = public_state(execution);
  if (!is_terminal(state))
    return fail(
        Errc::execution_not_terminal,
        fmt::format("execution {} is {} and has no result yet; ask again later, or wait for it",
                    execution.id.str(), to_string(state)),
        {{"state", std::string(to_string(state))}});
  return ResultBytes{std::move(result)};
}

std::unexpected<Error> not_found(const ExecutionId& id) {
  return fail(Errc::execution_not_found,
              fmt::format("there is no execution {}; check the id and the server", id.str()));
}

}  // namespace ff::core
