#include "engine/outbox/map_runner.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/json_parts.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"

namespace ff {
namespace {

namespace json = boost::json;

bool is_json(const std::string& text) {
  boost::system::error_code error;
  json::parse(text, error);
  return !error;
}

// The reason why it is not a list; empty if it is one.
std::string wrong_in_list(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '[') return "is not a JSON list";
  boost::system::error_code error;
  json::parse(text, error);
  if (!error) return "";
  if (error == json::error::too_deep)
    return fmt::format("is nested deeper than the {} levels that are allowed",
                       json::parse_options{}.max_depth);
  return fmt::format("is not valid JSON: {}", error.message());
}

// In one call; other calls go between.
constexpr std::size_t items_at_once = 100;
constexpr std::size_t bytes_at_once = 256 * 1024;

std::size_t count_of(const std::string& list) {
  JsonParts parts(list);
  std::size_t count = 0;
  while (!parts.next().empty()) ++count;
  return count;
}

// Absent: the node is gone, or was never one of a flow.
Async<std::optional<ExecutionInfo>> find_node(store::Store& store, ExecutionId id) {
  GetExecution read{id};
  auto node = co_await store.run(read);
  if (!node && node.error().code == Errc::execution_not_found)
    co_return std::optional<ExecutionInfo>{};
  FF_CO_TRY(node);
  if (!node->flow || !node->node) co_return std::optional<ExecutionInfo>{};
  co_return std::optional(std::move(*node));
}

// The index of an item, if the name is one of an item of this node.
std::optional<std::uint32_t> item_index(const NodeName& node, const NodeName& name) {
  std::string_view text = name.str();
  if (!text.starts_with(node.str() + '.')) return std::nullopt;
  text.remove_prefix(node.str().size() + 1);
  std::uint32_t index = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, index);
  return error == std::errc{} && stopped == end ? std::optional(index) : std::nullopt;
}

// A result as JSON: text that is none becomes a string.
std::string as_json(NodeInput& input) {
  if (input.result.empty()) return "null";
  auto type = input.content_type ? input.content_type->str() : std::string();
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool says_json = type.find("json") != std::string::npos;
  if (says_json && is_json(input.result)) return std::move(input.result);
  return json::serialize(to_valid_utf8(input.result, limits::result_bytes_max));
}

}  // namespace

namespace {

std::unexpected<Error> stopped() {
  return fail(Errc::store_unavailable, "the engine stops; another one goes on with the list");
}

}  // namespace

template <class Effect>
Async<Done> MapRunner::fail_node(const Effect& effect, std::string reason) {
  core::EndNode end{.id = effect.id, .run = effect.run};
  end.failure = {.reason = std::move(reason), .category = "map"};
  co_return co_await store_.run(std::move(end));
}

Async<Done> MapRunner::run(core::ExpandMap effect) {
  const auto node = co_await find_node(store_, effect.id);
  FF_CO_TRY(node);
  if (!*node) co_return Done{};
  GetInputs read{.id = effect.id, .name = effect.input};
  auto inputs = co_await store_.run(read);
  FF_CO_TRY(inputs);
  const auto wrong = inputs->inputs.empty() ? "is missing" : wrong_in_list(inputs->inputs.front().result);
  if (wrong.empty()) co_return co_await add_items(effect, **node, inputs->inputs.front().result);
  co_return co_await fail_node(effect,
                               fmt::format("the result of {} {}", effect.input.str(), wrong));
}

// How many nodes the flow can still get. A node that runs again may have items that count already.
Async<std::size_t> MapRunner::room_for_items(const core::ExpandMap& effect, FlowId id) {
  core::ReadFlow read{id};
  const auto flow = co_await store_.run(read);
  FF_CO_TRY(flow);
  const bool runs_again = effect.run > 0;
  co_return limits::flow_nodes_max - (runs_again ? 0 : flow->counts.nodes);
}

Async<Done> MapRunner::add_items(const core::ExpandMap& effect, const ExecutionInfo& node,
                                 const std::string& list) {
  const auto room = co_await room_for_items(effect, *node.flow);
  FF_CO_TRY(room);
  if (count_of(list) > *room)
    co_return co_await fail_node(effect,
                                 core::refusals::flow_too_large(*node.flow, "").error().message);
  JsonParts parts(list);
  std::uint32_t count = 0;
  auto part = parts.next();
  while (true) {
    core::AddItems slice{.id = effect.id,
                         .run = effect.run,
                         .first = count,
                         .items = {},
                         .retention_default = retention_default_};
    std::size_t bytes = 0;
    for (; !part.empty() && slice.items.size() < items_at_once && bytes < bytes_at_once;
         part = parts.next()) {
      bytes += part.size();
      const auto name = core::item_name(*node.node, count++);
      slice.items.push_back(
          {core::node_id(*node.flow, effect.id.partition(), name), std::string(part)});
    }
    slice.is_last = part.empty();
    const bool is_last = slice.is_last;
    const auto added = co_await store_.run(std::move(slice));
    if (!added && !added.error().retryable())
      co_return co_await fail_node(effect, added.error().message);
    FF_CO_TRY(added);
    if (is_last) co_return Done{};
    if (stopping_) co_return stopped();
  }
}

Async<Done> MapRunner::run(core::CollectMap effect) {
  const auto node = co_await find_node(store_, effect.id);
  FF_CO_TRY(node);
  if (!*node) co_return Done{};
  std::vector<std::string> results(effect.items, "null");
  std::size_t bytes = 2 + effect.items * 5;  // brackets, commas and every null
  std::uint32_t completed = 0;
  GetInputs page{.id = effect.id};
  while (true) {
    auto inputs = co_await store_.run(page);
    FF_CO_TRY(inputs);
    for (auto& input : inputs->inputs) {
      const auto index = item_index(*(*node)->node, input.node);
      if (!index || *index >= effect.items || input.state != ExecutionState::completed) continue;
      completed += 1;
      results[*index] = as_json(input);
      bytes += results[*index].size();
    }
    if (!inputs->next || bytes > limits::result_bytes_max) break;
    if (stopping_) co_return stopped();
    page.from = *inputs->next;
  }
  const auto failed = effect.items - completed;
  if (bytes > limits::result_bytes_max)
    co_return co_await fail_node(
        effect, fmt::format("the results of its items are more than {} bytes together; let them "
                            "return references to what they made",
                            limits::result_bytes_max));
  if (failed > effect.tolerated_failures)
    co_return co_await fail_node(
        effect, fmt::format("{} of {} items did not complete, and {} are tolerated", failed,
                            effect.items, effect.tolerated_failures));
  core::EndNode end{.id = effect.id, .run = effect.run};
  end.result = fmt::format("[{}]", fmt::join(results, ","));
  end.content_type = ContentType::parse("application/json").value();
  co_return co_await store_.run(std::move(end));
}

}  // namespace ff
