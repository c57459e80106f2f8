// URLs of stores on Valkey.
#pragma once

#include <string>
#include <string_view>

#include "store/valkey/open.hpp"

namespace ff::valkey_store {

// valkey://[USER[:PASSWORD]@]HOST[:PORT]      a server
// valkey-cluster://HOST:PORT[,HOST:PORT…]     a cluster, by some of its nodes
// valkeys://…, valkeys-cluster://…            the same with TLS
// valkey+unix:///PATH                         a server's socket
// with ?durability=server|fsync|replicas, ca_file=FILE, password_file=FILE, partitions=NUMBER,
// budget_partitions=NUMBER, quota_partitions=NUMBER
bool is_valkey_url(std::string_view url);
Result<StoreOptions> parse_url(std::string_view url);

}  // namespace ff::valkey_store
