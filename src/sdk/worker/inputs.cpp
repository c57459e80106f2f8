// The inputs of a task that is a node of a flow.
#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "base/text/utf8.hpp"
#include "sdk/worker/task_call.hpp"
#include "sdk/worker/task_run.hpp"

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

Outcome Outcome::spawn(const Flow& nodes) && {
  auto* completed = std::get_if<Completed>(&how_);
  if (!completed) fail_for_good("only an outcome that completes can spawn nodes");
  completed->spawn = or_fail(nodes.nodes());
  return std::move(*this);
}

std::vector<NodeInput> Task::run_children(const Flow& nodes) {
  auto children = or_fail(nodes.nodes());
  std::map<NodeName, NodeInput> ended;
  for (auto& input : inputs())
    if (is_terminal(input.state)) ended.insert_or_assign(input.node, std::move(input));
  std::vector<NodeInput> results;
  for (const auto& child : children)
    if (const auto found = ended.find(child.name); found != ended.end())
      results.push_back(std::move(found->second));
  if (results.size() < children.size()) throw RunChildren{std::move(children)};
  return results;
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
