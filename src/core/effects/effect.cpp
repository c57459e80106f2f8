#include "core/effects/effect.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/overloaded.hpp"

namespace ff::core {
namespace {

constexpr std::string_view release_token = "release_token";
constexpr std::string_view forget_spending = "forget_spending";
constexpr std::string_view advance_flow = "advance_flow";
constexpr std::string_view resolve_edges = "resolve_edges";
constexpr std::string_view cancel_rest = "cancel_rest";
constexpr std::string_view expand_map = "expand_map";
constexpr std::string_view collect_map = "collect_map";
constexpr std::string_view run_subflow = "run_subflow";
constexpr std::string_view end_subflow = "end_subflow";

// Takes the text up to the next blank off the front.
std::string_view take_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<std::uint32_t> parse_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && stopped == end ? std::optional(count) : std::nullopt;
}

}  // namespace

std::string to_text(const Effect& effect) {
  return std::visit(
      Overloaded{[](const ReleaseToken& release) {
                   return fmt::format("{} {} {}", release_token, release.quota.str(),
                                      release.token.str());
                 },
                 [](const ForgetSpending& forget) {
                   return fmt::format("{} {} {}", forget_spending, forget.budget.str(),
                                      forget.execution.str());
                 },
                 [](const AdvanceFlow& advance) {
                   return fmt::format("{} {}", advance_flow, advance.id.str());
                 },
                 [](const ResolveEdges& resolve) {
                   return fmt::format("{} {} {}", resolve_edges, resolve.id.str(), resolve.turn);
                 },
                 [](const CancelRest& cancel) {
                   return fmt::format("{} {} {}", cancel_rest, cancel.id.str(), cancel.run);
                 },
                 [](const ExpandMap& expand) {
                   return fmt::format("{} {} {} {}", expand_map, expand.id.str(), expand.run,
                                      expand.input.str());
                 },
                 [](const CollectMap& collect) {
                   return fmt::format("{} {} {} {} {}", collect_map, collect.id.str(), collect.run,
                                      collect.items, collect.tolerated_failures);
                 },
                 [](const RunSubflow& subflow) {
                   return fmt::format("{} {} {} {}", run_subflow, subflow.id.str(), subflow.run,
                                      subflow.turn);
                 },
                 [](const EndSubflow& end) {
                   return fmt::format("{} {} {} {} {}", end_subflow, end.id.str(), end.run,
                                      end.flow.str(), end.generation);
                 }},
      effect);
}

std::optional<Effect> effect_from(std::string_view text) {
  const auto kind = take_word(text);
  const auto owner = take_word(text);
  if (kind == release_token) {
    const auto quota = QuotaId::parse(owner);
    const auto token = QuotaTokenId::parse(text);
    if (quota && token) return ReleaseToken{.quota = *quota, .token = *token};
  } else if (kind == forget_spending) {
    const auto budget = BudgetId::parse(owner);
    const auto execution = ExecutionId::parse(text);
    if (budget && execution) return ForgetSpending{.budget = *budget, .execution = *execution};
  } else if (kind == advance_flow) {
    if (const auto flow = FlowId::parse(owner)) return AdvanceFlow{*flow};
  } else if (kind == resolve_edges || kind == cancel_rest) {
    const auto execution = ExecutionId::parse(owner);
    const auto run = parse_count(text);
    if (!execution || !run) return std::nullopt;
    if (kind == resolve_edges) return ResolveEdges{.id = *execution, .turn = *run};
    return CancelRest{.id = *execution, .run = *run};
  } else if (kind == expand_map || kind == collect_map) {
    const auto execution = ExecutionId::parse(owner);
    const auto run = parse_count(take_word(text));
    if (!execution || !run) return std::nullopt;
    if (kind == expand_map) {
      auto input = NodeName::parse(std::string(text));
      if (input) return ExpandMap{*execution, *run, std::move(*input)};
      return std::nullopt;
    }
    const auto items = parse_count(take_word(text));
    const auto tolerated = parse_count(text);
    if (items && tolerated) return CollectMap{*execution, *run, *items, *tolerated};
  } else if (kind == run_subflow) {
    const auto execution = ExecutionId::parse(owner);
    const auto run = parse_count(take_word(text));
    const auto turn = parse_count(text);
    if (execution && run && turn) return RunSubflow{*execution, *run, *turn};
  } else if (kind == end_subflow) {
    const auto execution = ExecutionId::parse(owner);
    const auto run = parse_count(take_word(text));
    const auto flow = FlowId::parse(take_word(text));
    const auto generation = parse_count(text);
    if (execution && run && flow && generation)
      return EndSubflow{*execution, *run, *flow, *generation};
  }
  return std::nullopt;
}

std::vector<Effect> effects_of(const Execution& before, const Execution* after) {
  std::vector<Effect> effects;
  const auto held = held_token(before);
  const auto& quota = before.policy.quota;
  if (held && quota && (!after || held != held_token(*after)))
    effects.emplace_back(ReleaseToken{.quota = *quota, .token = *held});
  if (!after)
    for (const auto& budget : before.policy.budgets)
      effects.emplace_back(ForgetSpending{.budget = budget, .execution = before.id});
  return effects;
}

}  // namespace ff::core
