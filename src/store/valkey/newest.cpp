#include "store/valkey/newest.hpp"

#include <map>
#include <set>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::size_t looked_at_max = 10'000;  // of one page, whether they match or not
// Records that are asked of one partition at a time: usually, and of one with very many of a millisecond.
constexpr std::size_t records_usual_max = 1'024;
constexpr std::size_t records_max = 1'048'576;
constexpr std::size_t read_at_once = 100;

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

// All of a namespace in all partitions, the newest first, read as far as they are asked for.
class Newest {
 public:
  // Those read from one partition.
  struct Share {
    std::vector<Moment> moments;  // the newest last
    bool more = false;            // there are older ones, not later than this:
    TimePoint read_down_to{};
  };

  explicit Newest(std::optional<Moment> before) : before_(before) {}

  // `records` are 24 bytes each, as lua/lib/created.lua has them, the newest last.
  void add(PartitionIndex partition, std::string_view records, bool more) {
    Share share{.moments = {}, .more = more};
    for (; records.size() >= record_bytes; records.remove_prefix(record_bytes)) {
      const auto moment = read_moment(partition, records.substr(0, record_bytes));
      if (share.moments.empty()) share.read_down_to = moment.at;
      share.moments.push_back(moment);
    }
    // Of the oldest millisecond some may not have been read; it comes with the next part.
    std::erase_if(share.moments, [&](const Moment& moment) {
      return (before_ && moment >= *before_) || (more && moment.at == share.read_down_to);
    });
    std::ranges::sort(share.moments);
    shares_[partition] = std::move(share);
  }

  // The next one, if it is certain; else dry() says where to read on.
  std::optional<Moment> take() {
    if (!dry().empty()) return std::nullopt;
    Share* newest = nullptr;
    for (auto& [partition, share] : shares_)
      if (!share.moments.empty() && (!newest || share.moments.back() > newest->moments.back()))
        newest = &share;
    if (!newest) return std::nullopt;
    before_ = newest->moments.back();
    newest->moments.pop_back();
    return before_;
  }

  std::vector<PartitionIndex> dry() const {
    std::vector<PartitionIndex> partitions;
    for (const auto& [partition, share] : shares_)
      if (share.moments.empty() && share.more) partitions.push_back(partition);
    return partitions;
  }

  // The latest time from which on one of the dry partitions is to be read.
  TimePoint read_from() const {
    TimePoint latest{};
    for (const auto partition : dry())
      latest = std::max(latest, shares_.at(partition).read_down_to);
    return latest;
  }

 private:
  static constexpr std::size_t record_bytes = 24;

  static Moment read_moment(PartitionIndex partition, std::string_view record) {
    std::int64_t ms = 0;
    for (std::size_t i = 0; i < 8; ++i) ms = ms << 8 | static_cast<std::uint8_t>(record[i]);
    Uuid::Bytes bytes{};
    std::ranges::transform(record.substr(8), bytes.begin(),
                           [](char c) { return static_cast<std::uint8_t>(c); });
    return {TimePoint{Millis{ms}}, {partition, Uuid{bytes}}};
  }

  std::optional<Moment> before_;  // the last one taken
  std::map<PartitionIndex, Share> shares_;
};

}  // namespace

std::string to_cursor(const Moment& moment) {
  return fmt::format("{}.{}.{}", moment.at.time_since_epoch().count(), moment.id.partition(),
                     moment.id.uuid().str());
}

Async<std::optional<std::string>> visit_newest(Functions& functions, NewestFirst order,
                                               ReadMoments read) {
  std::optional<Moment> before;
  auto newest = order.newest;
  if (order.cursor) {
    const auto cursor = from_cursor(*order.cursor);
    FF_CO_TRY(cursor);
    before = *cursor;
    newest = newest ? std::min(*newest, cursor->at) : cursor->at;
  }
  Newest all(before);
  auto partitions = functions.all_partitions();
  std::size_t per_partition = order.limit / functions.partition_count() + 8;
  std::size_t looked_at = 0;
  std::size_t matching = 0;
  while (true) {
    if (!partitions.empty()) {
      const std::set<PartitionIndex> asked(partitions.begin(), partitions.end());
      Question question{
          .function = order.function,
          .arguments = {order.ns.str(),
                        newest ? std::to_string(newest->time_since_epoch().count()) : "",
                        std::to_string(per_partition)}};
      const auto answers = co_await functions.ask(std::move(question), std::move(partitions));
      FF_CO_TRY(answers);
      for (const auto partition : asked) all.add(partition, "", false);  // if it is not told of
      for (const auto& answer : answers->of_nodes)
        for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
          const auto partition = parse_tag(answer[i]);
          if (!partition) co_return malformed(order.function);
          all.add(*partition, text_in(answer[i + 1]), text_in(answer[i + 2]) == "1");
        }
    }

    std::vector<Moment> moments;
    const auto wanted = std::min<std::size_t>(read_at_once, order.limit - matching);
    bool too_old = false;
    while (moments.size() < wanted && !too_old) {
      const auto moment = all.take();
      if (!moment) break;
      too_old = order.oldest && moment->at < *order.oldest;
      if (!too_old) moments.push_back(*moment);
    }
    const auto found = co_await read(moments);
    FF_CO_TRY(found);
    matching = *found;
    looked_at += moments.size();

    partitions = all.dry();
    if (too_old || (moments.size() < wanted && partitions.empty())) co_return std::nullopt;
    if (matching >= order.limit || looked_at >= looked_at_max) co_return to_cursor(moments.back());
    if (!partitions.empty()) {
      newest = all.read_from();
      // A partition may have many of one millisecond: then only a longer part gets past them.
      const auto most = moments.empty() ? records_max : records_usual_max;
      per_partition = std::max(per_partition, std::min(per_partition * 2, most));
    }
  }
}

}  // namespace ff::valkey_store
