// Where a Valkey server is, and how to talk to it.
#pragma once

#include <flowfabric/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ff::valkey {

struct TcpEndpoint {
  std::string host;
  std::uint16_t port = 6379;
  bool operator==(const TcpEndpoint&) const = default;
};
struct UnixEndpoint {
  std::string path;
  bool operator==(const UnixEndpoint&) const = default;
};
using Endpoint = std::variant<TcpEndpoint, UnixEndpoint>;

// host:port, [address]:port, or a path.
std::string to_text(const Endpoint& endpoint);

struct ClientOptions {
  // Of a cluster: where to ask for its nodes. Otherwise: the server; the next one is tried when one
  // cannot be reached or has become a replica.
  std::vector<Endpoint> endpoints;
  bool cluster = false;
  bool tls = false;
  std::optional<std::string> ca_file;  // absent: the system's authorities
  std::string user;                    // empty: the default user
  std::string password;                // empty: no AUTH
  Millis connect_timeout = std::chrono::seconds{10};
  Millis request_timeout = std::chrono::seconds{5};
  Millis ping_interval = std::chrono::seconds{10};  // of a connection that only listens
};

}  // namespace ff::valkey
