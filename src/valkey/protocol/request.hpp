// Requests of a client, and their destinations.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "valkey/options.hpp"

namespace ff::valkey {

struct SlotRange {
  std::uint16_t first;
  std::uint16_t last;
  bool operator==(const SlotRange&) const = default;
};

struct NodeName {
  std::string text;  // its address
  bool operator==(const NodeName&) const = default;
};

// A primary and what it serves.
struct Node {
  NodeName name;
  Endpoint endpoint;
  std::vector<SlotRange> slots;
};

struct AnyNode {};

// The node that serves a slot, whichever is at hand, or one of Client::nodes(). Without a cluster all
// are the same.
using Route = std::variant<AnyNode, std::uint16_t, NodeName>;

// Whether a request may be sent again when its answer was lost, so that it may be carried out twice.
enum class Repeat : std::uint8_t { safe, unsafe };

// How long a request waits for a node that does not answer. A node is known to be down if the last try to
// connect to it failed, or if it has not answered anything for `silence_max`.
enum class Patience : std::uint8_t {
  full,         // until its time is over; the node may be back by then
  unless_down,  // fails at once while the node is known to be down
  brief,        // the same, and its time is `silence_max`
};
inline constexpr Millis silence_max{1'000};

struct Request {
  std::vector<std::string> command;  // binary-safe
  Route route = AnyNode{};
  Repeat repeat = Repeat::safe;
  Patience patience = Patience::full;
};

}  // namespace ff::valkey
