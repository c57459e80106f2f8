#include <flowfabric/operations.hpp>

#include <array>
#include <utility>

#include "base/assert.hpp"

namespace ff {
namespace {

constexpr std::array state_names{
    std::pair{ExecutionState::waiting, std::string_view{"waiting"}},
    std::pair{ExecutionState::active, std::string_view{"active"}},
    std::pair{ExecutionState::completed, std::string_view{"completed"}},
    std::pair{ExecutionState::failed, std::string_view{"failed"}},
};

}  // namespace

std::string_view to_string(ExecutionState state) {
  const auto index = static_cast<std::size_t>(state);
  FF_ASSERT(index < state_names.size());
  return state_names[index].second;
}

std::optional<ExecutionState> execution_state_from(std::string_view name) {
  for (const auto& [state, known] : state_names)
    if (known == name) return state;
  return std::nullopt;
}

bool is_terminal(ExecutionState state) {
  switch (state) {
    case ExecutionState::waiting:
    case ExecutionState::active: return false;
    case ExecutionState::completed:
    case ExecutionState::failed: return true;
  }
  return false;
}

}  // namespace ff
