#include "store/valkey/sweeps.hpp"

#include <map>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/flow_listing.hpp"
#include "store/valkey/listing.hpp"

namespace ff::valkey_store {
namespace {

// Where to go on: in which partition, behind how many of each of its queues.
struct BlockedCursor {
  PartitionIndex partition = 0;
  std::size_t offset = 0;
  auto operator<=>(const BlockedCursor&) const = default;
};

BlockedCursor blocked_cursor_in(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return {};
  return {.partition = parse_number<PartitionIndex>(text.substr(0, dot)).value_or(0),
          .offset = parse_number<std::size_t>(text.substr(dot + 1)).value_or(0)};
}

// Whether a sweep that begins its answer with the place to continue has one.
bool has_stopped(const std::vector<Reply>& answer) {
  return !answer.empty() && !text_in(answer.front()).empty();
}

// id, namespace, lane, required_capabilities, budget_ids, quota_policy_id
constexpr std::size_t blocked_parts = 6;
std::optional<store::BlockedExecution> read_blocked(std::span<const Reply, blocked_parts> parts) {
  const auto id = ExecutionId::parse(text_in(parts[0]));
  auto ns = Namespace::parse(text_in(parts[1]));
  auto lane = LaneId::parse(text_in(parts[2]));
  if (!id || !ns || !lane) return std::nullopt;
  return store::BlockedExecution{
      .id = *id,
      .ns = std::move(*ns),
      .lane = std::move(*lane),
      .needs = needs_in(text_in(parts[3]), text_in(parts[4]), text_in(parts[5]))};
}

}  // namespace

void Sweeps::start(store::AnyCall& any) {
  any.visit([this]<class Op>(store::Call<Op>& call) {
    if constexpr (requires { answer(std::move(call.operation)); })
      parts_.background.answer(call, [this](Op query) { return answer(std::move(query)); });
    else
      FF_ASSERT(!"an operation that has an owner");
  });
}

Async<StateCounts> Sweeps::answer(CountExecutions query) {
  return count(std::move(query.ns), std::move(query.lane));
}

Async<StateCounts> Sweeps::answer(store::CountAll) { return count(std::nullopt, std::nullopt); }

Async<StateCounts> Sweeps::count(std::optional<Namespace> ns, std::optional<LaneId> lane) {
  Question question{.function = "ff_count"};
  auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  std::map<std::pair<LaneId, ExecutionState>, StateCount> sums;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto queue = parse_queue(text_in(answer[i]));
      const auto what = text_in(answer[i + 1]);
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 2]));
      if (!queue || !number) continue;
      if ((ns && queue->first != *ns) || (lane && queue->second != *lane)) continue;
      if (what == "reclaimable")
        sums[{queue->second, ExecutionState::active}].reclaimable += *number;
      else if (const auto state = from_name<ExecutionState>(what))
        sums[{queue->second, *state}].count += *number;
    }
  StateCounts counts;
  for (auto& [key, sum] : sums) {
    std::tie(sum.lane, sum.state) = key;
    counts.counts.push_back(std::move(sum));
  }
  co_return counts;
}

Async<std::vector<store::WaitingCount>> Sweeps::answer(store::CountWaiting query) {
  Question question{.function = "ff_count_waiting"};
  const auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  std::map<std::tuple<Namespace, LaneId, core::Needs>, std::uint64_t> sums;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto queue = parse_queue(text_in(answer[i]));
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 2]));
      if (!queue || !number || (query.ns && queue->first != *query.ns)) continue;
      sums[{queue->first, queue->second, needs_in(text_in(answer[i + 1]))}] += *number;
    }
  std::vector<store::WaitingCount> counts;
  for (const auto& [key, number] : sums) {
    const auto& [ns, lane, needs] = key;
    counts.push_back({.ns = ns, .lane = lane, .needs = needs, .count = number});
  }
  co_return counts;
}

Async<std::vector<store::HeldExecution>> Sweeps::answer(store::FindHeld query) {
  Question question{
      .function = "ff_sweep_held",
      .arguments = {query.ns.str(), query.worker ? query.worker->str() : std::string{},
                    std::to_string(query.max)},
      .moving = Moving::skip};
  const auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  std::vector<store::HeldExecution> found;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 1 < answer.size() && found.size() < query.max; i += 2) {
      auto worker = WorkerId::parse(text_in(answer[i]));
      const auto id = ExecutionId::parse(text_in(answer[i + 1]));
      if (worker && id) found.push_back({.worker = std::move(*worker), .id = *id});
    }
  co_return found;
}

Async<std::vector<store::BlockedCount>> Sweeps::answer(store::CountBlocked) {
  Question question{.function = "ff_count_blocked", .moving = Moving::skip};
  auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  std::map<BlockingReason, std::uint64_t> sums;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
      const auto reason = from_name<BlockingReason>(text_in(answer[i]));
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 1]));
      if (reason && number) sums[*reason] += *number;
    }
  std::vector<store::BlockedCount> counts;
  for (const auto& [reason, count] : sums) counts.push_back({.reason = reason, .count = count});
  co_return counts;
}

// Each node goes through its partitions until it has enough. What is behind the first one that a node did
// not come to is left to the next page.
Async<store::BlockedPage> Sweeps::answer(store::FindBlocked query) {
  const auto from = blocked_cursor_in(query.after.value_or(""));
  Question question{.function = "ff_sweep_blocked",
                    .arguments = {std::string(to_string(query.reason)), std::to_string(query.max),
                                  std::to_string(from.offset), keys::tag(from.partition)},
                    .moving = Moving::skip,
                    .is_enough = has_stopped};
  auto partitions = parts_.functions.all_partitions();
  std::erase_if(partitions, [&](PartitionIndex each) { return each < from.partition; });
  if (partitions.empty()) co_return store::BlockedPage{};
  const auto answers = co_await parts_.functions.ask(std::move(question), partitions);
  FF_CO_TRY(answers);
  store::BlockedPage page;
  std::optional<BlockedCursor> next;
  for (const auto& answer : answers->of_nodes) {
    if (answer.size() < 2) co_return malformed("ff_sweep_blocked");
    if (const auto partition = parse_tag(answer[0])) {
      const BlockedCursor stopped{
          .partition = *partition,
          .offset = parse_number<std::size_t>(text_in(answer[1])).value_or(0)};
      next = next ? std::min(*next, stopped) : stopped;
    }
    for (std::size_t i = 2; i + blocked_parts <= answer.size(); i += blocked_parts)
      if (auto blocked =
              read_blocked(std::span<const Reply, blocked_parts>(&answer[i], blocked_parts)))
        page.executions.push_back(std::move(*blocked));
  }
  if (next) {
    page.next = fmt::format("{}.{}", next->partition, next->offset);
    std::erase_if(page.executions, [&](const store::BlockedExecution& each) {
      return BlockedCursor{.partition = each.id.partition(), .offset = 0} >= *next;
    });
  }
  co_return page;
}

// As FindBlocked: what is behind the first partition that a node did not come to is left to the next page.
Async<store::FlowPage> Sweeps::answer(store::FindOpenFlows query) {
  const auto from = blocked_cursor_in(query.after.value_or(""));
  Question question{.function = "ff_sweep_flows",
                    .arguments = {std::to_string(query.max), std::to_string(from.offset),
                                  keys::tag(from.partition)},
                    .moving = Moving::skip,
                    .is_enough = has_stopped};
  auto partitions = parts_.functions.all_partitions();
  std::erase_if(partitions, [&](PartitionIndex each) { return each < from.partition; });
  if (partitions.empty()) co_return store::FlowPage{};
  const auto answers = co_await parts_.functions.ask(std::move(question), partitions);
  FF_CO_TRY(answers);
  store::FlowPage page;
  std::optional<BlockedCursor> next;
  for (const auto& answer : answers->of_nodes) {
    if (answer.size() < 2) co_return malformed("ff_sweep_flows");
    if (const auto partition = parse_tag(answer[0])) {
      const BlockedCursor stopped{
          .partition = *partition,
          .offset = parse_number<std::size_t>(text_in(answer[1])).value_or(0)};
      next = next ? std::min(*next, stopped) : stopped;
    }
    for (std::size_t i = 2; i < answer.size(); ++i)
      if (const auto id = FlowId::parse(text_in(answer[i]))) page.flows.push_back(*id);
  }
  if (next) page.next = fmt::format("{}.{}", next->partition, next->offset);
  co_return page;
}

Async<void> Sweeps::drop_owed(PartitionIndex partition, store::OwedTo to, std::string entry) {
  const auto& place = parts_.functions.places().executions[partition];
  const bool is_flow = to == store::OwedTo::members;
  log::warn("partition={} an entry of the {} is not valid and is removed: {}", partition,
            is_flow ? "cancel_backlog" : "pending_cancel_groups", printable(entry));
  const auto index = is_flow ? "cancel_backlog" : "pending_cancel_groups";
  Request request{.command = {is_flow ? "ZREM" : "SREM",
                              fmt::format("ff:idx:{}:{}", place.tag, index), std::move(entry)},
                  .route = place.slot};
  const auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
  FF_CO_TRY(reply);
  co_return Result<void>{};
}

Async<store::OwedCancels> Sweeps::answer(store::FindOwedCancels query) {
  const bool of_members = query.to == store::OwedTo::members;
  const auto time = std::to_string(parts_.clock.now().time_since_epoch().count());
  Question question{.function = "ff_sweep_owed",
                    .arguments = {time, of_members ? "members" : "siblings",
                                  std::to_string(query.max)},
                    .moving = Moving::skip};
  const auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  store::OwedCancels owed;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto partition = parse_tag(answer[i]);
      const auto* entries = answer[i + 2].as_array();
      if (!partition || !entries) co_return malformed("ff_sweep_owed");
      owed.backlog += parse_number<std::size_t>(text_in(answer[i + 1])).value_or(0);
      for (const auto& each : *entries) {
        auto text = text_in(each);
        const auto bar = std::min(text.find('|'), text.size());
        const auto flow = FlowId::parse(text.substr(0, bar));
        const auto started = ExecutionId::parse(text.substr(std::min(bar + 1, text.size())));
        const bool is_valid = flow && (of_members || (started && started->partition() == *partition));
        if (!is_valid) {
          const auto dropped = co_await drop_owed(*partition, query.to, std::move(text));
          FF_CO_TRY(dropped);
        } else if (of_members) {
          owed.flows.push_back(*flow);
        } else {
          owed.siblings.push_back({.id = *started, .flow = *flow});
        }
      }
    }
  co_return owed;
}

Async<store::DueReply> Sweeps::answer(store::RetentionDue query) {
  const auto time = std::to_string(parts_.clock.now().time_since_epoch().count());
  Question question{.function = "ff_sweep_retention",
                    .arguments = {time, std::to_string(query.max)},
                    .moving = Moving::skip};
  question.is_enough = [left = query.max](const std::vector<Reply>& answer) mutable {
    left -= std::min(left, answer.size());
    return left == 0;
  };
  auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  store::DueReply reply;
  for (const auto& answer : answers->of_nodes) {
    if (answer.empty()) continue;
    if (const auto due = parse_number<std::int64_t>(text_in(answer.front())))
      if (const TimePoint next{Millis{*due}}; !reply.next || next < *reply.next) reply.next = next;
    for (std::size_t i = 1; i < answer.size() && reply.due.size() < query.max; ++i)
      if (const auto id = ExecutionId::parse(text_in(answer[i]))) reply.due.push_back(*id);
  }
  co_return reply;
}

Async<store::ReconcileReply> Sweeps::answer(store::Reconcile query) {
  using enum Functions::Access;
  auto& functions = parts_.functions;
  FunctionCall ask_namespaces{"ff_namespaces"};
  const auto namespaces = co_await functions.list_from(
      functions.at_partition(query.partition, std::move(ask_namespaces), reads));
  FF_CO_TRY(namespaces);
  store::ReconcileReply sum;
  for (const auto& ns : *namespaces) {
    std::string from = "0";
    while (!from.empty()) {
      FunctionCall mend{"ff_mend", {parts_.clock.argument(), text_in(ns), from, "100"}};
      const auto list = co_await functions.list_from(
          functions.at_partition(query.partition, std::move(mend), writes));
      FF_CO_TRY(list);
      if (list->size() != 3) co_return malformed("ff_mend");
      from = text_in((*list)[0]);
      sum.checked += parse_number<std::size_t>(text_in((*list)[1])).value_or(0);
      sum.repaired += parse_number<std::size_t>(text_in((*list)[2])).value_or(0);
    }
  }
  const auto wrong_counts = co_await parts_.copy.recount(query.partition);
  FF_CO_TRY(wrong_counts);
  sum.repaired += *wrong_counts;
  if (sum.repaired > 0)
    log::error("partition={} index entries and counts mended={}", query.partition, sum.repaired);
  co_return sum;
}

// A node takes writes. Each serves its partitions whatever the others do; that one is down is logged.
Async<Done> Sweeps::answer(store::Probe) {
  std::optional<Error> failure;
  bool any = false;
  const auto& places = parts_.functions.places().executions;
  for (const auto& node : parts_.client.nodes()) {
    const auto place = std::ranges::find_if(
        places, [&](const keys::Partition& each) { return serves(node, each.slot); });
    if (place == places.end()) continue;
    Request request{.command = {"SET", keys::probe(place->tag), "1"}, .route = place->slot};
    const auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
    any |= reply.has_value();
    if (!reply) failure = reply.error();
    if (!reply && !is_unreachable(reply.error())) co_return std::unexpected(reply.error());
    if (const auto* error = reply ? reply->as_error() : nullptr) co_return server_error(*error);
  }
  if (failure && !any) co_return std::unexpected(std::move(*failure));
  co_return Done{};
}

// A few of each partition at a time, so that no call holds Valkey long.
Async<store::EffectPage> Sweeps::answer(store::FindEffects query) {
  constexpr std::size_t at_once_max = 20;
  const auto of_each = std::min(query.max, at_once_max);
  Question question{.function = "ff_sweep_effects",
                    .arguments = {std::to_string(of_each)},
                    .moving = Moving::skip};
  const auto answers = co_await parts_.functions.ask(std::move(question));
  FF_CO_TRY(answers);
  store::EffectPage page;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
      const auto partition = parse_tag(answer[i]);
      const auto* texts = answer[i + 1].as_array();
      if (!partition || !texts) co_return malformed("ff_sweep_effects");
      for (const auto& text : *texts) {
        auto effect = core::effect_from(text_in(text));
        if (!effect) continue;  // of a newer version
        page.more |= texts->size() == of_each;
        page.effects.push_back({.partition = *partition, .effect = std::move(*effect)});
      }
    }
  co_return page;
}

// AdvanceFlow settles itself, in the call that ends the walk: the flow may have begun another one since.
Async<Done> Sweeps::answer(store::SettleEffects command) {
  std::erase_if(command.effects, [](const core::Effect& effect) {
    return std::holds_alternative<core::AdvanceFlow>(effect);
  });
  if (command.effects.empty()) co_return Done{};
  const auto& place = parts_.functions.places().executions[command.partition];
  std::vector<std::string> texts{"SREM", keys::effects(place.tag)};
  for (const auto& effect : command.effects) texts.push_back(core::to_text(effect));
  Request request{.command = std::move(texts), .route = place.slot};
  const auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
  FF_CO_TRY(reply);
  if (const auto* error = reply->as_error()) co_return server_error(*error);
  co_return Done{};
}

Async<ExecutionList> Sweeps::answer(ListExecutions query) {
  return list_executions(parts_.functions, std::move(query), parts_.clock.now());
}

Async<FlowList> Sweeps::answer(ListFlows query) {
  return list_flows(parts_.functions, std::move(query));
}

Async<FlowNodes> Sweeps::answer(ListFlowNodes query) {
  return list_flow_nodes(parts_.functions, query);
}

Async<BackupReply> Sweeps::answer(Backup) {
  co_return fail(Errc::invalid_input,
                 "a store on Valkey is backed up with Valkey's own means (BGSAVE, or a copy of its "
                 "append-only file); see docs/valkey.md");
}

}  // namespace ff::valkey_store
