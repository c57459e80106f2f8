// The inputs of a task that is a node of a flow.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "base/text/utf8.hpp"
#include "sdk/worker/task_call.hpp"

namespace ff {

std::vector<NodeInput> Task::fetch_inputs(std::optional<NodeName> name) {
  std::vector<NodeInput> all;
  if (!claimed_.flow) return all;
  for (std::optional<std::uint32_t> from = 0; from;) {
    auto page = call(*context_, GetInputs{.id = claimed_.id, .name = name, .from = *from});
    std::ranges::move(page.inputs, std::back_inserter(all));
    from = page.next;
  }
  return all;
}

std::vector<NodeInput> Task::inputs(std::string_view name) {
  return fetch_inputs(or_fail(NodeName::parse(std::string(name))));
}

std::vector<NodeInput> Task::inputs() { return fetch_inputs(std::nullopt); }

Bytes Task::input(std::string_view name) {
  auto all = inputs(name);
  const auto found = std::ranges::find(all, ExecutionState::completed, &NodeInput::state);
  if (found != all.end())
    return {.bytes = std::move(found->result), .content_type = std::move(found->content_type)};
  if (all.empty()) fail_for_good(fmt::format("there is no input '{}'", printable(name)));
  fail_for_good(fmt::format("the input '{}' has no result: node {} is {}", printable(name),
                            all.front().node.str(), to_string(all.front().state)));
}

boost::json::value Task::input_json(std::string_view name) {
  boost::system::error_code malformed;
  auto value = boost::json::parse(input(name).bytes, malformed);
  if (malformed)
    fail_for_good(
        fmt::format("the input '{}' is not JSON: {}", printable(name), malformed.message()));
  return value;
}

}  // namespace ff
