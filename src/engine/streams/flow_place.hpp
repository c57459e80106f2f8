// Where a reader of all streams of a flow stands, small enough to be the id of an event.
//
//   place    := since {"," node "." stream "." next} ["/" until "." node "." stream "." next]
//
// The reader has all frames written until `since` (ms), and of the streams that are listed those before `next`. After
// the slash: it is reading what was written from `since` until `until`, node by node, and this is what comes next.
// Nodes are numbered as they were submitted, streams by their first appends.
#pragma once

#include <flowfabric/error.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ff {

struct FlowPlace {
  struct StreamKey {
    std::uint32_t node = 0;
    std::uint32_t stream = 0;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct Pass {
    std::int64_t until = 0;
    StreamKey at = {};
    std::uint64_t next = 0;  // 0: the stream has not been begun
    bool operator==(const Pass&) const = default;
  };

  std::int64_t since = 0;
  std::map<StreamKey, std::uint64_t> next = {};
  std::optional<Pass> pass = {};

  std::string str() const;
  // Empty: the beginning. Fails with invalid_input.
  static Result<FlowPlace> parse(std::string_view text);

  bool operator==(const FlowPlace&) const = default;
};

}  // namespace ff
