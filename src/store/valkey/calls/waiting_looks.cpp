#include "store/valkey/calls/waiting_looks.hpp"

#include <cmath>
#include <map>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

// A part of an index, as waiting.look of the function library tells of it.
constexpr std::size_t look_parts = 8;
// id, namespace, lane, priority, queued_at, required_capabilities, budget_ids, quota_policy_id, kind, fairness
constexpr std::size_t ready_parts = 10;

std::optional<IndexedReady> read_ready(std::span<const Reply, ready_parts> parts,
                                       const IndexName& index) {
  const auto id = ExecutionId::parse(text_in(parts[0]));
  auto ns = Namespace::parse(text_in(parts[1]));
  auto lane = LaneId::parse(text_in(parts[2]));
  const auto queued_at = parse_number<std::int64_t>(text_in(parts[4]));
  if (!id || !ns || !lane || !queued_at) return std::nullopt;
  const TimePoint since{Millis{*queued_at}};
  return IndexedReady{
      .ready = {.id = *id,
                .ns = std::move(*ns),
                .lane = std::move(*lane),
                .kind = Kind::parse(text_in(parts[8])).value_or(Kind{}),
                .priority = priority_in(text_in(parts[3])),
                .queued_at = since,
                .needs = needs_in(text_in(parts[5]), text_in(parts[6]), text_in(parts[7]),
                                  text_in(parts[9]))},
      .index = index,
      .score = score_in(text_in(parts[3]), since)};
}

void read_found(const std::vector<Reply>& flat, IndexLook& look) {
  // By the words that Valkey has for its needs and kind: it counted by them.
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i + ready_parts <= flat.size(); i += ready_parts) {
    const std::span<const Reply, ready_parts> parts(&flat[i], ready_parts);
    auto ready = read_ready(parts, look.index);
    if (!ready) continue;
    const auto words =
        fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", text_in(parts[1]), text_in(parts[5]),
                    text_in(parts[6]), text_in(parts[7]), text_in(parts[8]), text_in(parts[9]));
    if (++counts[words] == found_max) {
      const IndexEntry last{ready->score, ready->ready.id};
      const auto& group = ready->ready;
      const auto [at, first] =
          look.cut.try_emplace({.ns = group.ns, .needs = group.needs, .kind = group.kind}, last);
      if (!first) at->second = std::min(at->second, last);
    }
    look.found.push_back(std::move(*ready));
  }
}

// `counts` is needs and their count; the rest of the index needs nothing.
std::map<core::Needs, std::uint64_t> read_totals(std::uint64_t entries,
                                                 const std::vector<Reply>& counts) {
  std::map<core::Needs, std::uint64_t> totals;
  for (std::size_t i = 0; i + 1 < counts.size(); i += 2) {
    const auto count = parse_number<std::uint64_t>(text_in(counts[i + 1])).value_or(0);
    totals[needs_in(text_in(counts[i]))] += count;
    entries -= std::min(entries, count);
  }
  if (entries > 0) totals[core::Needs{}] += entries;
  return totals;
}

// None: of an index that this program does not know.
Result<std::optional<IndexLook>> read_look(PartitionIndex partition,
                                           std::span<const Reply, look_parts> parts) {
  const auto* counts = parts[6].as_array();
  const auto* found = parts[7].as_array();
  const auto entries = parse_number<std::uint64_t>(text_in(parts[4]));
  if (!counts || !found || !entries) return malformed("a look at waiting executions");
  const auto queue = parse_queue(text_in(parts[0]));
  if (!queue) return std::nullopt;
  IndexLook look{.index = {.queue = text_in(parts[0]), .partition = partition}};
  if (text_in(parts[1]) == name_of(ReadyIndex::reclaimable))
    look.index.index = ReadyIndex::reclaimable;
  const auto last = ExecutionId::parse(text_in(parts[2]));
  if (const auto score = parse_number<double>(text_in(parts[3])); last && score)
    look.stopped_at = IndexEntry{std::llround(*score), *last};
  if (text_in(parts[5]) == "1") look.totals = read_totals(*entries, *counts);
  read_found(*found, look);
  return look;
}

}  // namespace

std::string_view name_of(ReadyIndex index) {
  return index == ReadyIndex::eligible ? "eligible" : "reclaimable";
}

Result<IndexLook> read_look_at(const IndexName& index, Result<Reply> reply) {
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  const auto parts = without(std::move(*list), 2);
  IndexLook found{.index = index};  // the end, if the index is empty
  if (parts.size() >= look_parts) {
    auto read = read_look(index.partition,
                          std::span<const Reply, look_parts>(parts.data(), look_parts));
    FF_TRY(read);
    if (*read) found = std::move(**read);
  }
  return found;
}

Result<void> read_sweep(const std::vector<Reply>& answer, WaitingSweep& sweep) {
  for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
    const auto partition = parse_tag(answer[i]);
    const auto* parts = answer[i + 1].as_array();
    if (!partition || !parts) return malformed("ff_sweep_waiting");
    for (std::size_t j = 0; j + look_parts <= parts->size(); j += look_parts) {
      auto look =
          read_look(*partition, std::span<const Reply, look_parts>(&(*parts)[j], look_parts));
      FF_TRY(look);
      if (!*look) continue;
      if (!(*look)->totals && (*look)->index.index == ReadyIndex::eligible)
        sweep.uncounted.insert(*partition);
      sweep.looks.push_back(std::move(**look));
    }
  }
  return {};
}

}  // namespace ff::valkey_store
