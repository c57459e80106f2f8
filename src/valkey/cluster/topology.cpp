#include "valkey/cluster/topology.hpp"

#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "valkey/cluster/slot.hpp"

namespace ff::valkey {
namespace {

// A number from 0 to `max`.
std::optional<std::uint16_t> number_in(const Reply& reply, std::int64_t max) {
  const auto* number = reply.as_int();
  if (!number || *number < 0 || *number > max) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

// [host, port, id, …]
std::optional<TcpEndpoint> parse_node(const Reply& reply) {
  const auto* fields = reply.as_array();
  if (!fields || fields->size() < 2) return std::nullopt;
  const auto& host = (*fields)[0];
  const auto port = number_in((*fields)[1], std::numeric_limits<std::uint16_t>::max());
  if (!port || (!host.is_nil() && !host.as_text())) return std::nullopt;
  return TcpEndpoint{host.as_text() ? *host.as_text() : "", *port};
}

std::unexpected<Error> malformed(const Reply& reply) {
  return fail(Errc::malformed_response,
              fmt::format("CLUSTER SLOTS was answered with {:.200}", to_text(reply)));
}

}  // namespace

TcpEndpoint complete_address(TcpEndpoint address, const Endpoint& said_by) {
  if (!address.host.empty()) return address;
  const auto* other = std::get_if<TcpEndpoint>(&said_by);
  address.host = other ? other->host : "127.0.0.1";
  return address;
}

Result<std::vector<Node>> parse_cluster_slots(const Reply& reply, const Endpoint& asked) {
  const auto* ranges = reply.as_array();
  if (!ranges) return malformed(reply);
  std::map<std::string, Node> nodes;
  for (const auto& range : *ranges) {
    const auto* fields = range.as_array();  // first, last, primary, replica…
    if (!fields || fields->size() < 3) return malformed(reply);
    const auto first = number_in((*fields)[0], slot_count - 1);
    const auto last = number_in((*fields)[1], slot_count - 1);
    const auto primary = parse_node((*fields)[2]);
    if (!first || !last || !primary) return malformed(reply);
    if (primary->host == "?") continue;  // it does not know its own name yet
    const Endpoint endpoint = complete_address(*primary, asked);
    auto& node = nodes[to_text(endpoint)];
    node.endpoint = endpoint;
    node.slots.push_back({*first, *last});
  }
  std::vector<Node> sorted;
  for (auto& [name, node] : nodes) {
    node.name.text = name;
    sorted.push_back(std::move(node));
  }
  return sorted;
}

}  // namespace ff::valkey
