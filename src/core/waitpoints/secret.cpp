#include <flowfabric/limits.hpp>
#include <flowfabric/secrets.hpp>

#include <fmt/format.h>

#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"

namespace ff {

Result<WaitpointSecret> WaitpointSecret::parse(std::string_view hex) {
  auto bytes = hex_decode(hex);
  if (!bytes || bytes->empty() || bytes->size() > limits::waitpoint_secret_bytes_max)
    return fail(Errc::invalid_secret_hex,
                fmt::format("must be a non-empty even-length hex string of at most {} bytes; make "
                            "one with 'openssl rand -hex 32'",
                            limits::waitpoint_secret_bytes_max));
  return WaitpointSecret{std::move(*bytes)};
}

std::string WaitpointSecret::to_hex() const { return hex_encode(bytes_); }

bool WaitpointSecret::operator==(const WaitpointSecret& other) const {
  return same_bytes(bytes_, other.bytes_);
}

}  // namespace ff
