// Queries of a store on Valkey that concern many partitions, or none.
#include <map>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/valkey/boot/boot.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/keys.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {

Async<std::vector<std::vector<Reply>>> ValkeyStore::ask(
    Question question, const std::vector<PartitionIndex>& partitions) {
  std::vector<keys::Partition> places;
  places.reserve(partitions.size());
  for (const auto partition : partitions)
    places.push_back({.tag = keys::tag(partition), .slot = slots_[partition]});
  co_return co_await ask(std::move(question), std::move(places));
}

Async<std::vector<std::vector<Reply>>> ValkeyStore::ask(Question question,
                                                        std::vector<keys::Partition> places) {
  constexpr int tries_max = 5;
  constexpr Millis pause_step{50};
  const auto deadline = std::chrono::steady_clock::now() + options_.client.request_timeout;
  for (int tried = 1;; ++tried) {
    std::vector<std::vector<Reply>> answers;
    std::optional<Error> failure;
    for (const auto& node : client_->nodes()) {
      std::vector<std::string> command{"FCALL_RO", question.function, "0"};
      std::ranges::copy(question.arguments, std::back_inserter(command));
      const auto before = command.size();
      for (const auto& [tag, slot] : places)
        if (std::ranges::any_of(node.slots, [&](const SlotRange& range) {
              return range.first <= slot && slot <= range.last;
            }))
          command.push_back(tag);
      if (command.size() == before) continue;
      auto answer = co_await ask_node(node.name, std::move(command), question.moving);
      if (!answer) {
        failure = std::move(answer.error());
        break;
      }
      answers.push_back(std::move(*answer));
    }
    if (!failure) co_return answers;
    if (tried == tries_max || stopping_ || std::chrono::steady_clock::now() >= deadline)
      co_return std::unexpected(std::move(*failure));
    // A slot may have moved to another node; whoever serves it knows.
    Request refresh{.command = {"EXISTS", keys::events(places.front().tag)},
                    .route = places.front().slot};
    static_cast<void>(co_await client_->run(std::move(refresh)));
    asio::steady_timer pause(runtime_.executor(), tried * pause_step);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

Async<std::vector<Reply>> ValkeyStore::ask_node(NodeName node, std::vector<std::string> command,
                                                Moving moving) {
  Request request{.command = std::move(command), .route = std::move(node)};
  auto reply = co_await client_->run(std::move(request));
  const auto* error = reply ? reply->as_error() : nullptr;
  if (error && mentions(*error, "Function not found")) FF_CO_TRY(co_await ensure_library(*client_));
  auto list = list_of(std::move(reply));
  FF_CO_TRY(list);
  const auto* passed_over = list->size() > 2 ? (*list)[2].as_array() : nullptr;
  if (!passed_over) co_return malformed("a sweep");
  if (!passed_over->empty()) {
    if (moving == Moving::wait)
      co_return fail(Errc::store_unavailable,
                     fmt::format("partition {} is just moving to another node of the cluster",
                                 text_in(passed_over->front())));
    missed_something_ = true;
  }
  co_return without(std::move(*list), 3);
}

void ValkeyStore::route(store::Call<CountExecutions>& call) {
  answer_with(call, [this](CountExecutions query) { return count(query.ns, query.lane); });
}

void ValkeyStore::route(store::Call<store::CountAll>& call) {
  answer_with(call, [this](store::CountAll) { return count(std::nullopt, std::nullopt); });
}

Async<StateCounts> ValkeyStore::count(std::optional<Namespace> ns, std::optional<LaneId> lane) {
  Question question{.function = "ff_count", .arguments = {}};
  auto answers = co_await ask(std::move(question), all_partitions());
  FF_CO_TRY(answers);
  std::map<std::pair<LaneId, ExecutionState>, std::uint64_t> sums;
  for (const auto& answer : *answers)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto queue = parse_queue(text_in(answer[i]));
      const auto state = from_name<ExecutionState>(text_in(answer[i + 1]));
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 2]));
      if (!queue || !state || !number) continue;
      if ((ns && queue->first != *ns) || (lane && queue->second != *lane)) continue;
      sums[{queue->second, *state}] += *number;
    }
  StateCounts counts;
  for (const auto& [key, number] : sums)
    counts.counts.push_back({.lane = key.first, .state = key.second, .count = number});
  co_return counts;
}

void ValkeyStore::route(store::Call<store::CountWaiting>& call) {
  answer_with(call, [this](store::CountWaiting query) { return count_waiting(std::move(query)); });
}

Async<std::vector<store::WaitingCount>> ValkeyStore::count_waiting(store::CountWaiting query) {
  Question question{.function = "ff_count_waiting", .arguments = {}};
  const auto answers = co_await ask(std::move(question), all_partitions());
  FF_CO_TRY(answers);
  std::map<std::tuple<Namespace, LaneId, core::Needs>, std::uint64_t> sums;
  for (const auto& answer : *answers)
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

void ValkeyStore::route(store::Call<store::CountBlocked>& call) {
  answer_with(call, [this](store::CountBlocked) { return count_blocked(); });
}

Async<std::vector<store::BlockedCount>> ValkeyStore::count_blocked() {
  Question question{.function = "ff_count_blocked", .arguments = {}, .moving = Moving::skip};
  auto answers = co_await ask(std::move(question), all_partitions());
  FF_CO_TRY(answers);
  std::map<BlockingReason, std::uint64_t> sums;
  for (const auto& answer : *answers)
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
      const auto reason = from_name<BlockingReason>(text_in(answer[i]));
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 1]));
      if (reason && number) sums[*reason] += *number;
    }
  std::vector<store::BlockedCount> counts;
  for (const auto& [reason, count] : sums) counts.push_back({.reason = reason, .count = count});
  co_return counts;
}

void ValkeyStore::route(store::Call<store::FindBlocked>& call) {
  answer_with(call, [this](store::FindBlocked query) { return find_blocked(std::move(query)); });
}

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

// Each node goes through its partitions until it has enough. What is behind the first one that a node did
// not come to is left to the next page.
Async<store::BlockedPage> ValkeyStore::find_blocked(store::FindBlocked query) {
  const auto from = blocked_cursor_in(query.after.value_or(""));
  Question question{.function = "ff_sweep_blocked",
                    .arguments = {std::string(to_string(query.reason)), std::to_string(query.max),
                                  std::to_string(from.offset), keys::tag(from.partition)},
                    .moving = Moving::skip};
  auto partitions = all_partitions();
  std::erase_if(partitions, [&](PartitionIndex each) { return each < from.partition; });
  if (partitions.empty()) co_return store::BlockedPage{};
  const auto answers = co_await ask(std::move(question), partitions);
  FF_CO_TRY(answers);
  store::BlockedPage page;
  std::optional<BlockedCursor> next;
  for (const auto& answer : *answers) {
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

void ValkeyStore::route(store::Call<store::RetentionDue>& call) {
  answer_with(call, [this](store::RetentionDue query) { return retention_due(query); });
}

Async<store::DueReply> ValkeyStore::retention_due(store::RetentionDue query) {
  const auto time = std::to_string(now().time_since_epoch().count());
  Question question{.function = "ff_sweep_retention",
                    .arguments = {time, std::to_string(query.max)},
                    .moving = Moving::skip};
  auto answers = co_await ask(std::move(question), all_partitions());
  FF_CO_TRY(answers);
  store::DueReply reply;
  for (const auto& answer : *answers) {
    if (answer.empty()) continue;
    if (const auto due = parse_number<std::int64_t>(text_in(answer.front())))
      if (const TimePoint next{Millis{*due}}; !reply.next || next < *reply.next) reply.next = next;
    for (std::size_t i = 1; i < answer.size() && reply.due.size() < query.max; ++i)
      if (const auto id = ExecutionId::parse(text_in(answer[i]))) reply.due.push_back(*id);
  }
  co_return reply;
}

void ValkeyStore::route(store::Call<store::Reconcile>& call) {
  answer_with(call, [this](store::Reconcile query) { return reconcile(query); });
}

Async<store::ReconcileReply> ValkeyStore::reconcile(store::Reconcile query) {
  const auto partition_key = keys::events(query.partition);
  const auto slot = slots_[query.partition];
  Request ask_namespaces{.command = with_keys({"FCALL_RO", "ff_namespaces"},
                                              keys::tag(query.partition), partition_key),
                         .route = slot};
  auto namespaces = list_of(co_await client_->run(std::move(ask_namespaces)));
  FF_CO_TRY(namespaces);
  store::ReconcileReply sum;
  for (const auto& ns : without(std::move(*namespaces), 2)) {
    std::string from = "0";
    while (!from.empty()) {
      auto command = with_keys({"FCALL", "ff_mend"}, keys::tag(query.partition), partition_key);
      for (auto& argument : {time_argument(), text_in(ns), from, std::string("100")})
        command.push_back(argument);
      Request mend{.command = std::move(command), .route = slot};
      auto list = list_of(co_await client_->run(std::move(mend)));
      FF_CO_TRY(list);
      if (list->size() != 5) co_return malformed("ff_mend");
      from = text_in((*list)[2]);
      sum.checked += parse_number<std::size_t>(text_in((*list)[3])).value_or(0);
      sum.repaired += parse_number<std::size_t>(text_in((*list)[4])).value_or(0);
    }
  }
  const auto wrong_counts = co_await recount(query.partition);
  FF_CO_TRY(wrong_counts);
  sum.repaired += *wrong_counts;
  if (sum.repaired > 0)
    log::error("partition={} index entries and counts mended={}", query.partition, sum.repaired);
  co_return sum;
}

void ValkeyStore::route(store::Call<store::Probe>& call) {
  answer_with(call, [this](store::Probe) { return probe(); });
}

// Every node takes writes and has the function library.
Async<ff::Done> ValkeyStore::probe() {
  for (const auto& node : client_->nodes()) {
    const auto partition = std::ranges::find_if(slots_, [&](std::uint16_t slot) {
      return std::ranges::any_of(node.slots, [&](const SlotRange& range) {
        return range.first <= slot && slot <= range.last;
      });
    });
    if (partition == slots_.end()) continue;
    const auto index = static_cast<PartitionIndex>(partition - slots_.begin());
    Request request{.command = {"SET", keys::probe(keys::tag(index)), "1"}, .route = *partition};
    const auto reply = co_await client_->run(std::move(request));
    FF_CO_TRY(reply);
    if (const auto* error = reply->as_error()) co_return server_error(*error);
  }
  co_return ff::Done{};
}

void ValkeyStore::route(store::Call<Backup>& call) {
  call.done(fail(Errc::invalid_input,
                 "a store on Valkey is backed up with Valkey's own means (BGSAVE, or a copy of its "
                 "append-only file); see docs/valkey.md"));
}

// ---- Work -------------------------------------------------------------------------------------------

void ValkeyStore::route(store::Call<store::TakeReady>& call) {
  if (ready_.gaps(call.operation).empty()) return call.done(ready_.take(call.operation));
  answer_with(call, [this](store::TakeReady query) { return take_ready(std::move(query)); });
}

// Work for this worker can stand behind much that it may not have. Every look comes further, or to the end;
// one claim looks at a time, as what it finds is for all.
Async<std::vector<store::Candidate>> ValkeyStore::take_ready(store::TakeReady query) {
  while (!stopping_) {
    while (looking_) {
      boost::system::error_code ended;
      co_await look_ended_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }
    const auto gaps = ready_.gaps(query);
    if (gaps.empty()) break;
    looking_ = true;
    const auto looked = co_await look_further(gaps);
    looking_ = false;
    look_ended_.cancel();
    FF_CO_TRY(looked);
    if (auto taken = ready_.take(query); !taken.empty()) co_return taken;
  }
  co_return ready_.take(query);
}

void ValkeyStore::route(store::Call<store::PeekReady>& call) {
  call.done(ready_.peek(call.operation));
}

void ValkeyStore::route(store::Call<store::PutBack>& call) {
  ready_.put_back(call.operation.id);
  call.done(ff::Done{});
}

void ValkeyStore::route(store::Call<store::TimersDue>& call) {
  answer_with(call, [this](store::TimersDue query) { return timers_due(query); });
}

void ValkeyStore::route(store::Call<ListExecutions>& call) {
  answer_with(call, [this](ListExecutions query) { return list(std::move(query)); });
}

}  // namespace ff::valkey
