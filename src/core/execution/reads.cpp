#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

std::string_view reason_of(const Outcome& outcome) {
  return std::visit(Overloaded{
                        [](const Completed&) { return std::string_view{}; },
                        [](const auto& other) { return std::string_view(other.reason); },
                    },
                    outcome);
}

}  // namespace

Result<Done> check_lease(const Execution& execution, const Fence& fence, TimePoint now) {
  FF_TRY(check_fence(execution, fence, now));
  return Done{};
}

Result<Bytes> read_result(const Execution& execution, std::optional<std::string> result) {
  const auto state = public_state(execution);
  const auto* ended = std::get_if<Ended>(&execution.state);
  if (!ended)
    return fail(
        Errc::execution_not_terminal,
        fmt::format("execution {} is {} and has no result yet; ask again later, or wait for it",
                    execution.id.str(), to_string(state)),
        {{"state", std::string(to_string(state))}});
  if (state != ExecutionState::completed) {
    const auto reason = reason_of(ended->outcome);
    return fail(
        Errc::execution_failed,
        fmt::format("execution {} {}{}: {}", execution.id.str(),
                    state == ExecutionState::cancelled ? "was " : "", to_string(state), reason),
        {{"state", std::string(to_string(state))}, {"reason", std::string(reason)}});
  }
  return Bytes{.bytes = result.value_or(""),
               .content_type = std::get<Completed>(ended->outcome).content_type,
               .absent = !result};
}

}  // namespace ff::core
