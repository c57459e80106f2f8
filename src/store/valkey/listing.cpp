// Listing executions, the newest first, over all partitions.
#include <queue>

#include "core/refusals.hpp"
#include "store/valkey/answers.hpp"
#include "store/valkey/fields.hpp"
#include "store/valkey/record.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {
namespace {

constexpr std::size_t looked_at_max = 10'000;  // of one page, whether they match or not
constexpr std::size_t read_at_once = 100;

// Where an execution stands in the list.
struct Moment {
  TimePoint at;
  ExecutionId id;
  auto operator<=>(const Moment&) const = default;
};

std::string to_cursor(const Moment& moment) {
  return fmt::format("{}.{}.{}", moment.at.time_since_epoch().count(), moment.id.partition(),
                     moment.id.uuid().str());
}

Result<Moment> from_cursor(std::string_view text) {
  const auto first = text.find('.');
  const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second != std::string_view::npos) {
    const auto at = parse_number<std::int64_t>(text.substr(0, first));
    const auto partition = parse_number<PartitionIndex>(text.substr(first + 1, second - first - 1));
    const auto uuid = Uuid::parse(text.substr(second + 1));
    if (at && partition && uuid) return Moment{TimePoint{Millis{*at}}, {*partition, *uuid}};
  }
  return fail_field(Errc::invalid_input, "cursor",
                    "cursor must be `next` of an earlier page, unchanged");
}

bool matches(const core::Execution& execution, const ListExecutions& query) {
  if (query.tag) {
    const auto equals = query.tag->find('=');
    const auto tag = execution.tags.find(query.tag->substr(0, equals));
    if (tag == execution.tags.end() || tag->second != query.tag->substr(equals + 1)) return false;
  }
  return (!query.lane || execution.lane == *query.lane) &&
         (!query.state || core::public_state(execution) == *query.state) &&
         (!query.kind || execution.kind == *query.kind);
}

// The newest of what one partition has left, as far as it was read.
struct Share {
  std::vector<Moment> moments;  // the newest last
  bool more = false;            // there are older ones
  TimePoint read_down_to;
};

}  // namespace

Async<ExecutionList> ValkeyStore::list(ListExecutions query) {
  auto newest = query.created_before ? *query.created_before - Millis{1} : limits::time_max;
  std::optional<Moment> before;
  if (query.cursor) {
    const auto cursor = from_cursor(*query.cursor);
    if (!cursor) co_return std::unexpected(cursor.error());
    before = *cursor;
    newest = std::min(newest, cursor->at);
  }
  const auto oldest = query.created_from.value_or(TimePoint{});
  const auto text_of = [](TimePoint time) {
    return std::to_string(time.time_since_epoch().count());
  };

  std::map<PartitionIndex, Share> shares;
  // Reads on in some partitions; `per_partition` must be more than can share one millisecond there.
  std::size_t per_partition = query.limit / partitions_ + 8;
  auto to_read = all_partitions();
  auto read_from = newest;
  ExecutionList page;
  std::size_t looked_at = 0;
  while (true) {
    if (!to_read.empty()) {
      std::vector<std::string> arguments{query.ns.str(), text_of(read_from), text_of(oldest),
                                         std::to_string(per_partition)};
      const auto answers = co_await ask("ff_list", std::move(arguments), to_read);
      if (!answers) co_return std::unexpected(answers.error());
      for (const auto partition : to_read) shares[partition] = {};
      for (const auto& answer : *answers)
        for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
          const auto partition = parse_tag(answer[i]);
          const auto* entries = answer[i + 1].as_array();
          if (!partition || !entries) co_return malformed("ff_list");
          auto& share = shares[*partition];
          for (std::size_t j = 0; j + 1 < entries->size(); j += 2) {
            const auto uuid = Uuid::parse(text_in((*entries)[j]));
            const auto at = parse_number<std::int64_t>(text_in((*entries)[j + 1]));
            if (!uuid || !at) co_return malformed("ff_list");
            const Moment moment{TimePoint{Millis{*at}}, {*partition, *uuid}};
            share.read_down_to = moment.at;
            if (!before || moment < *before) share.moments.push_back(moment);
          }
          share.more = entries->size() / 2 == per_partition;
          std::ranges::reverse(share.moments);
        }
      to_read.clear();
    }

    // The newest of all, in order, for as long as every partition that has more is known to that point.
    std::vector<ExecutionId> ids;
    std::vector<Moment> moments;
    while (ids.size() < std::min<std::size_t>(read_at_once, query.limit - page.executions.size())) {
      Share* best = nullptr;
      for (auto& [partition, share] : shares) {
        if (share.moments.empty()) {
          if (share.more) to_read.push_back(partition);
          continue;
        }
        if (!best || share.moments.back() > best->moments.back()) best = &share;
      }
      if (!to_read.empty() || !best) break;
      moments.push_back(best->moments.back());
      ids.push_back(moments.back().id);
      best->moments.pop_back();
    }
    const auto executions = co_await read_all(ids);
    if (!executions) co_return std::unexpected(executions.error());
    for (const auto& execution : *executions)
      if (matches(execution, query)) page.executions.push_back(core::info_of(execution));
    looked_at += ids.size();
    if (!moments.empty()) before = moments.back();

    const bool all_seen = ids.empty() && to_read.empty();
    if (all_seen) co_return page;
    if (page.executions.size() >= query.limit || looked_at >= looked_at_max) {
      page.next = to_cursor(*before);
      co_return page;
    }
    if (!to_read.empty()) {
      // From where the furthest of them stands, so that no millisecond is cut in two.
      read_from = TimePoint{};
      for (const auto partition : to_read)
        read_from = std::max(read_from, shares[partition].read_down_to);
      per_partition *= 2;
    }
  }
}

// Those that are still there, in order.
Async<std::vector<core::Execution>> ValkeyStore::read_all(const std::vector<ExecutionId>& ids) {
  std::vector<core::Execution> executions;
  if (ids.empty()) co_return executions;
  struct Gather {
    std::vector<Result<Reply>> replies;
    std::size_t missing;
    std::unique_ptr<Wakeup> all_there;
  };
  auto gather = std::make_shared<Gather>();
  gather->replies.resize(ids.size(), Result<Reply>(Reply{}));
  gather->missing = ids.size();
  gather->all_there = std::make_unique<Wakeup>(runtime_.executor());
  for (std::size_t i = 0; i < ids.size(); ++i)
    call_function(read_request(ids[i], {"newest"}), [gather, i](Result<Reply> reply) {
      gather->replies[i] = std::move(reply);
      if (--gather->missing == 0) gather->all_there->wake();
    });
  while (gather->missing > 0)
    co_await gather->all_there->wait_until(std::chrono::steady_clock::now() +
                                           std::chrono::seconds{1});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto list = list_of(std::move(gather->replies[i]));
    if (!list) co_return std::unexpected(list.error());
    if (is_refusal(*list)) continue;  // removed meanwhile
    auto record = read_record(ids[i], without(std::move(*list), 2));
    if (!record) co_return std::unexpected(record.error());
    executions.push_back(std::move(record->execution));
  }
  co_return executions;
}

}  // namespace ff::valkey
