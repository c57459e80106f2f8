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

struct Request {
  std::vector<std::string> command;  // binary-safe
  Route route = AnyNode{};
  Repeat repeat = Repeat::safe;
};

}  // namespace ff::valkey
