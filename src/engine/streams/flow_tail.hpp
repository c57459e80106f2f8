// A reader of all streams of a flow.
#pragma once

#include <flowfabric/streams.hpp>

#include <list>
#include <map>
#include <unordered_map>

#include "engine/streams/flow_place.hpp"
#include "engine/streams/frame_notices.hpp"
#include "store/store.hpp"

namespace ff {

// It follows the partition of the flow, so it costs the same however many nodes wait: the id and the name of each node
// are kept, and places in the streams of those that run. One caller at a time.
//
// Existing frames are read in a pass: node by node, those written after one moment and until another, which lies a
// little in the past, so that none of them can arrive later. Then the notices tell which streams to read.
class FlowTail {
 public:
  FlowTail(store::Store& store, FrameNotices& notices, FlowId id, FlowPlace place);

  // Of a page, as those of ReadFlowStream.
  struct PageSize {
    std::uint32_t frames_max = 0;
    std::size_t bytes_max = 0;
  };

  // The next frames. The page may be empty before the end.
  Async<FlowStreamPage> read(PageSize size);

  // The last page ended inside a pass: there is more to read at once.
  bool is_passing() const { return place_.pass.has_value(); }

  FrameNotices::Follower& follower() { return follower_; }
  std::size_t node_count() const { return nodes_.size(); }

 private:
  using StreamKey = FlowPlace::StreamKey;
  struct Node {
    ExecutionId id;
    NodeName name;
  };
  struct Position {
    std::uint64_t next = 0;
    std::int64_t last_at = 0;
  };
  struct Room {
    FlowStreamPage& page;
    PageSize size;
    std::uint32_t nodes_left = limits::list_page_max;  // that one call passes, so that it is short
    std::size_t bytes = 0;
    bool is_full() const {
      return page.frames.size() >= size.frames_max || bytes >= size.bytes_max;
    }
  };

  void begin_pass(std::int64_t until);
  Async<void> go_on_with_pass(Room& room);
  Async<bool> load_passing(std::uint32_t number);
  Async<void> pass_node(const FlowNodeInfo& node, Room& room);
  Async<std::uint64_t> begin_of(const Node& node, const StreamInfo& stream, StreamKey key);
  Async<void> read_noted(const FlowInfo& flow, Room& room);
  Async<void> read_node(std::uint32_t index, Room& room);
  Async<bool> read_on(const Node& node, const StreamInfo& stream, StreamKey key, std::int64_t until,
                      Room& room);
  Async<void> learn_nodes(std::uint32_t from);
  void add_node(const FlowNodeInfo& node);
  void set_position(StreamKey key, std::uint64_t next);
  void list_in_place(StreamKey key);
  void advance();
  std::int64_t settled_until() const;

  store::Store& store_;
  FlowId id_;
  FlowPlace place_;
  bool
      is_in_the_middle_;  // of a pass that another reader began: the nodes before may have written since
  FrameNotices::Follower follower_;
  std::vector<Node> nodes_;  // by number
  std::map<ExecutionId, std::uint32_t> numbers_;
  std::map<StreamKey, Position> positions_;
  std::set<std::uint32_t> to_read_;    // nodes that wrote
  std::vector<FlowNodeInfo> passing_;  // the page of nodes that the pass is in
  std::uint32_t passing_from_ = 0;
  std::optional<std::int64_t> ended_at_;  // of the flow
  bool live_ = false;                     // after the first pass
  bool over_ = false;                     // everything up to the end of the flow is read
};

// Readers between two calls. Thread-safe.
class FlowTails {
 public:
  // The reader that stood at this place, or a new one; fails with invalid_input.
  Result<std::shared_ptr<FlowTail>> take(store::Store& store, const FlowId& id,
                                         const std::string& place);
  void put(const FlowId& id, const std::string& place, std::shared_ptr<FlowTail> tail);

  FrameNotices notices;

 private:
  // A reader that is not kept passes all nodes again when it comes back.
  static constexpr std::size_t tails_max = 8'192;
  static constexpr std::size_t nodes_max = 500'000;  // of all of them, at some 150 bytes
  static constexpr std::chrono::seconds idle_max{60};
  using SteadyClock = std::chrono::steady_clock;
  struct Kept {
    std::string key;
    std::shared_ptr<FlowTail> tail;
    SteadyClock::time_point since;
  };
  using Tails = std::list<Kept>;
  Tails drop_old();

  std::mutex mutex_;
  Tails kept_;  // the oldest first
  std::unordered_multimap<std::string, Tails::iterator> by_key_;
  std::size_t nodes_ = 0;
};

}  // namespace ff
