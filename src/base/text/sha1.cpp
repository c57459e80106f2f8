#include "base/text/sha1.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace ff {

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
  std::array<std::uint8_t, 20> digest{};
  unsigned int written = 0;
  const int made =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &written, EVP_sha1(), nullptr);
  FF_ASSERT(made == 1);
  FF_ASSERT(written == digest.size());
  return digest;
}

}  // namespace ff
