#include "base/text/hmac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/assert.hpp"

namespace ff {
namespace {

std::string hmac(const EVP_MD* digest, std::string_view key, std::string_view message) {
  std::string code(static_cast<std::size_t>(EVP_MD_get_size(digest)), '\0');
  unsigned int written = 0;
  const auto* made = ::HMAC(digest, key.data(), static_cast<int>(key.size()),
                            reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                            reinterpret_cast<unsigned char*>(code.data()), &written);
  FF_ASSERT(made);
  FF_ASSERT(written == code.size());
  return code;
}

}  // namespace

std::string hmac_sha1(std::string_view key, std::string_view message) {
  return hmac(EVP_sha1(), key, message);
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  return hmac(EVP_sha256(), key, message);
}

bool same_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace ff
