// Meaning of an error reply for a client: passed to the caller, or a reason to try again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "valkey/options.hpp"

namespace ff::valkey {

struct Refusal {
  enum class Kind {
    ordinary,           // an answer like any other; the caller's
    moved,              // another node serves the slot
    ask,                // another node has the key already
    not_now,            // nothing was done, the same may work in a moment
    not_primary,        // as not_now, and the node has become a replica
    unauthenticated,    // the connection must say who it is
    permission_denied,  // the user may not
  };
  Kind kind = Kind::ordinary;
  // Of moved and ask.
  std::uint16_t slot = 0;
  TcpEndpoint node = {};  // host empty: the node that was asked
};

Refusal refusal_of(std::string_view error);

// "host:port" as it stands in redirections; the last colon counts, so that IPv6 addresses work.
std::optional<TcpEndpoint> parse_address(std::string_view text);

// A sentence about a refused password, which names the setting and not its value.
std::string to_advice(const ClientOptions& options, const Endpoint& endpoint);

}  // namespace ff::valkey
