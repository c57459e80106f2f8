#include "valkey/options.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"

namespace ff::valkey {

std::string to_text(const Endpoint& endpoint) {
  return std::visit(Overloaded{[](const TcpEndpoint& tcp) {
                                 const bool is_v6 = tcp.host.find(':') != std::string::npos;
                                 return is_v6 ? fmt::format("[{}]:{}", tcp.host, tcp.port)
                                              : fmt::format("{}:{}", tcp.host, tcp.port);
                               },
                               [](const UnixEndpoint& local) { return local.path; }},
                    endpoint);
}

}  // namespace ff::valkey
