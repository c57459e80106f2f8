#include "engine/streams/flow_tail.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/streams/stream.hpp"

namespace ff {
namespace {

// Frames carry the time of the store's server, and this process may know it less exactly.
constexpr std::int64_t settle_ms = 1'000;
constexpr std::size_t listed_max = 64;  // streams in a place
constexpr auto for_ever = std::numeric_limits<std::int64_t>::max();

std::int64_t ms_of(TimePoint time) { return time.time_since_epoch().count(); }

}  // namespace

FlowTail::FlowTail(store::Store& store, FrameNotices& notices, FlowId id, FlowPlace place)
    : store_(store),
      id_(id),
      place_(std::move(place)),
      is_in_the_middle_(place_.pass.has_value()),
      follower_(notices, core::partition_of(id.uuid(), store.partition_count())) {}

std::int64_t FlowTail::settled_until() const {
  return std::max(place_.since, ms_of(store_.now()) - settle_ms);
}

void FlowTail::begin_pass(std::int64_t until) {
  place_.pass = FlowPlace::Pass{.until = until};
  passing_.clear();
}

Async<FlowStreamPage> FlowTail::read(PageSize size) {
  core::ReadFlow get{id_};
  const auto flow = co_await store_.run(get);
  FF_CO_TRY(flow);
  FlowStreamPage page;
  Room room{.page = page, .size = size};
  ended_at_ = flow->ended_at ? std::optional(ms_of(*flow->ended_at)) : std::nullopt;
  if (!ended_at_) over_ = false;
  if (!ended_at_ && !live_ && !place_.pass) begin_pass(settled_until());
  if (place_.pass) FF_CO_TRY(co_await go_on_with_pass(room));
  if (!place_.pass && !ended_at_ && std::exchange(is_in_the_middle_, false)) {
    begin_pass(settled_until());
    FF_CO_TRY(co_await go_on_with_pass(room));
  }
  if (!place_.pass && ended_at_ && !over_) {
    // Everything written before the end is in the store by then, even if its notice has not arrived.
    begin_pass(for_ever);
    FF_CO_TRY(co_await go_on_with_pass(room));
  }
  if (!place_.pass && !ended_at_) FF_CO_TRY(co_await read_noted(*flow, room));
  page.next = place_.str();
  if (over_) page.end = flow->state;
  co_return page;
}

// ---- A pass ---------------------------------------------------------------------------------------

Async<void> FlowTail::go_on_with_pass(Room& room) {
  while (place_.pass) {
    const auto number = place_.pass->at.node;
    if (room.nodes_left == 0) {
      if (number >= passing_from_ + passing_.size()) passing_ = {};
      co_return Result<void>{};
    }
    const auto is_there = co_await load_passing(number);
    FF_CO_TRY(is_there);
    if (!*is_there) break;
    const auto& node = passing_[number - passing_from_];
    FF_CO_TRY(co_await pass_node(node, room));
    if (room.is_full()) co_return Result<void>{};
    --room.nodes_left;
    place_.pass->at = {.node = number + 1, .stream = 0};
    place_.pass->next = 0;
  }
  const auto until = place_.pass->until;
  place_.since = until == for_ever ? std::max(place_.since, ended_at_.value_or(0)) : until;
  // Streams that were read beyond `until` stay listed.
  for (const auto& [key, next] : place_.next)
    if (!positions_.contains(key)) set_position(key, next);
  std::erase_if(place_.next,
                [&](const auto& each) { return positions_[each.first].last_at <= until; });
  for (auto& [key, next] : place_.next) next = positions_[key].next;
  place_.pass.reset();
  passing_ = {};
  over_ = until == for_ever && ended_at_;
  live_ = true;
  // Nodes that wrote after `until`.
  for (const auto& [key, position] : positions_) to_read_.insert(key.node);
  co_return Result<void>{};
}

// False: the flow has no node with this number.
Async<bool> FlowTail::load_passing(std::uint32_t number) {
  if (number >= passing_from_ && number - passing_from_ < passing_.size()) co_return true;
  ListFlowNodes list{.id = id_, .from = number, .limit = limits::list_page_max};
  auto nodes = co_await store_.run(list);
  FF_CO_TRY(nodes);
  passing_ = std::move(nodes->nodes);
  passing_from_ = number;
  for (std::size_t i = 0; i < passing_.size(); ++i)
    if (number + i == nodes_.size()) add_node(passing_[i]);
  co_return !passing_.empty();
}

Async<void> FlowTail::pass_node(const FlowNodeInfo& node, Room& room) {
  auto& pass = *place_.pass;
  const auto index = pass.at.node;
  const auto known = positions_.lower_bound({.node = index, .stream = 0});
  const bool is_followed = known != positions_.end() && known->first.node == index;
  const bool is_behind = !is_followed && node.ended_at && ms_of(*node.ended_at) <= place_.since;
  const bool wrote = node.attempts > 0 && !is_behind;
  if (!wrote) co_return Result<void>{};
  const auto list = co_await store_.run(ListStreams{node.id});
  if (!list && list.error().code == Errc::execution_not_found) co_return Result<void>{};
  FF_CO_TRY(list);
  const Node of{.id = node.id, .name = node.name};
  for (auto s = pass.at.stream; s < list->streams.size(); ++s) {
    const auto& stream = list->streams[s];
    const StreamKey key{.node = index, .stream = s};
    if (pass.next == 0) {
      const auto begin = co_await begin_of(of, stream, key);
      FF_CO_TRY(begin);
      pass.next = *begin;
      pass.at.stream = s;
    }
    set_position(key, pass.next);
    const auto all = co_await read_on(of, stream, key, pass.until, room);
    FF_CO_TRY(all);
    if (!*all) co_return Result<void>{};
    if (const auto listed = place_.next.find(key); listed != place_.next.end())
      listed->second = positions_[key].next;
    pass.at.stream = s + 1;
    pass.next = 0;
    // Nothing more comes of a node that has ended, unless it runs again.
    if (node.ended_at && pass.until >= ms_of(*node.ended_at)) positions_.erase(key);
  }
  co_return Result<void>{};
}

// A stream that the place lists was written a moment before the reader came back.
void FlowTail::set_position(StreamKey key, std::uint64_t next) {
  const auto [position, is_new] = positions_.try_emplace(key);
  if (is_new && place_.next.contains(key)) position->second.last_at = ms_of(store_.now());
  position->second.next = next;
}

// The first frame that was written after `since`, by bisection.
Async<std::uint64_t> FlowTail::begin_of(const Node& node, const StreamInfo& stream, StreamKey key) {
  if (const auto known = positions_.find(key); known != positions_.end())
    co_return known->second.next;
  if (const auto listed = place_.next.find(key); listed != place_.next.end())
    co_return listed->second;
  if (place_.since == 0) co_return stream.first;
  auto low = stream.first, high = stream.next;
  // Most streams have nothing new.
  for (auto probe = high - std::min<std::uint64_t>(high, 1); low < high;
       probe = low + (high - low) / 2) {
    store::ReadFrames one{.id = node.id, .stream = stream.name, .from = probe, .limit = 1};
    const auto page = co_await store_.run(one);
    FF_CO_TRY(page);
    if (page->snapshot) co_return probe;
    if (page->frames.empty()) {  // those from the probe on are gone, as far as the store looked
      if (page->next <= probe || page->next >= high) co_return high;
      low = page->next;
      continue;
    }
    const auto& frame = page->frames.front();
    if (ms_of(frame.at) <= place_.since)
      low = frame.number + 1;
    else
      high = std::min(probe, frame.number);
  }
  co_return low;
}

// Adds what was written until `until`, as far as there is room. True: that is all.
Async<bool> FlowTail::read_on(const Node& node, const StreamInfo& stream, StreamKey key,
                              std::int64_t until, Room& room) {
  auto& position = positions_[key];
  while (position.next < stream.next) {
    if (room.is_full()) co_return false;
    const auto left = room.size.frames_max - static_cast<std::uint32_t>(room.page.frames.size());
    store::ReadFrames read{.id = node.id,
                           .stream = stream.name,
                           .from = position.next,
                           .limit = left,
                           .bytes_max = room.size.bytes_max - room.bytes};
    auto page = co_await store_.run(read);
    FF_CO_TRY(page);
    auto frames = page->snapshot ? core::told_before(*page, read.from) : std::move(page->frames);
    if (frames.empty() && page->next <= position.next) co_return true;
    if (frames.empty()) position.next = page->next;  // those before are gone
    for (auto& frame : frames) {
      if (ms_of(frame.at) > until) co_return true;
      position = {.next = frame.number + 1, .last_at = ms_of(frame.at)};
      if (place_.pass)
        place_.pass->next = position.next;
      else
        list_in_place(key);
      room.bytes += frame.bytes.size();
      room.page.frames.push_back({.node = node.name,
                                  .id = node.id,
                                  .stream = stream.name,
                                  .frame = std::move(frame),
                                  .place = place_.str()});
    }
  }
  co_return true;
}

// A place stays small: a reader that comes back gets some frames again if more streams than that were written in the
// last second, and drops them by their numbers.
void FlowTail::list_in_place(StreamKey key) {
  place_.next[key] = positions_[key].next;
  if (place_.next.size() <= listed_max) return;
  place_.next.erase(std::ranges::min_element(place_.next, {}, [&](const auto& each) {
    return each.first == key ? for_ever : positions_[each.first].last_at;
  }));
}

// ---- As it is written -----------------------------------------------------------------------------

void FlowTail::add_node(const FlowNodeInfo& node) {
  numbers_[node.id] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.id = node.id, .name = node.name});
}

Async<void> FlowTail::learn_nodes(std::uint32_t from) {
  ListFlowNodes list{.id = id_, .from = from, .limit = limits::list_page_max};
  while (true) {
    const auto page = co_await store_.run(list);
    FF_CO_TRY(page);
    for (const auto& node : page->nodes) add_node(node);
    if (!page->next) co_return Result<void>{};
    list.from = *page->next;
  }
}

Async<void> FlowTail::read_noted(const FlowInfo& flow, Room& room) {
  const auto noted = follower_.take();
  bool knows_all = flow.counts.nodes <= nodes_.size();
  for (const auto& id : noted.executions) {
    auto number = numbers_.find(id);
    if (number == numbers_.end() && !std::exchange(knows_all, true)) {
      FF_CO_TRY(co_await learn_nodes(static_cast<std::uint32_t>(nodes_.size())));
      number = numbers_.find(id);
    }
    if (number != numbers_.end()) to_read_.insert(number->second);  // others are of other flows
  }
  if (noted.missed) {
    begin_pass(settled_until());
    FF_CO_TRY(co_await go_on_with_pass(room));
    if (place_.pass) co_return Result<void>{};
  }
  if (nodes_.empty()) FF_CO_TRY(co_await learn_nodes(0));
  while (!to_read_.empty() && !room.is_full()) {
    FF_CO_TRY(co_await read_node(*to_read_.begin(), room));
    if (!room.is_full()) to_read_.erase(to_read_.begin());
  }
  if (to_read_.empty()) advance();
  co_return Result<void>{};
}

Async<void> FlowTail::read_node(std::uint32_t index, Room& room) {
  if (index >= nodes_.size())
    FF_CO_TRY(co_await learn_nodes(static_cast<std::uint32_t>(nodes_.size())));
  if (index >= nodes_.size()) co_return Result<void>{};  // places come from clients
  const auto node = nodes_[index];
  const auto list = co_await store_.run(ListStreams{node.id});
  if (!list && list.error().code == Errc::execution_not_found) co_return Result<void>{};
  FF_CO_TRY(list);
  for (std::uint32_t s = 0; s < list->streams.size(); ++s) {
    const StreamKey key{.node = index, .stream = s};
    const auto begin = co_await begin_of(node, list->streams[s], key);
    FF_CO_TRY(begin);
    set_position(key, *begin);
    const auto all = co_await read_on(node, list->streams[s], key, for_ever, room);
    FF_CO_TRY(all);
    if (!*all) co_return Result<void>{};
  }
  co_return Result<void>{};
}

// Everything that is visible has been read: what was written a while ago need not be listed.
void FlowTail::advance() {
  place_.since = settled_until();
  std::erase_if(place_.next,
                [&](const auto& each) { return positions_[each.first].last_at <= place_.since; });
}

// ---- Between two calls ------------------------------------------------------------------------------

Result<std::shared_ptr<FlowTail>> FlowTails::take(store::Store& store, const FlowId& id,
                                                  const std::string& place) {
  Tails dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    dropped = drop_old();
    if (const auto found = by_key_.find(id.str() + ' ' + place); found != by_key_.end()) {
      const auto kept = found->second;
      auto tail = std::move(kept->tail);
      nodes_ -= tail->node_count();
      by_key_.erase(found);
      kept_.erase(kept);
      return tail;
    }
  }
  auto parsed = FlowPlace::parse(place);
  FF_TRY(parsed);
  return std::make_shared<FlowTail>(store, notices, id, std::move(*parsed));
}

void FlowTails::put(const FlowId& id, const std::string& place, std::shared_ptr<FlowTail> tail) {
  Tails dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  nodes_ += tail->node_count();
  kept_.push_back(
      {.key = id.str() + ' ' + place, .tail = std::move(tail), .since = SteadyClock::now()});
  by_key_.emplace(kept_.back().key, std::prev(kept_.end()));
  dropped = drop_old();
}

FlowTails::Tails FlowTails::drop_old() {
  const auto now = SteadyClock::now();
  Tails dropped;
  while (!kept_.empty() && (kept_.size() > tails_max || nodes_ > nodes_max ||
                            now - kept_.front().since > idle_max)) {
    const auto [first, last] = by_key_.equal_range(kept_.front().key);
    by_key_.erase(std::find_if(first, last,
                               [&](const auto& each) { return each.second == kept_.begin(); }));
    nodes_ -= kept_.front().tail->node_count();
    dropped.splice(dropped.end(), kept_, kept_.begin());
  }
  return dropped;
}

}  // namespace ff
