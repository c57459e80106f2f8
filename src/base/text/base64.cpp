#include "base/text/base64.hpp"

#include <algorithm>

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace ff {
namespace {

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* as_bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text(base64_encoded_size(bytes.size()), '\0');
  const int written =
      EVP_EncodeBlock(as_bytes(text), as_bytes(bytes), static_cast<int>(bytes.size()));
  FF_ASSERT(static_cast<std::size_t>(written) == text.size());
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int written =
      EVP_DecodeBlock(as_bytes(bytes), as_bytes(text), static_cast<int>(text.size()));
  // OpenSSL counts the padding as bytes.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  // It also forgives blanks around the text, '=' inside it, and bits that nobody reads at its end;
  // only the one spelling of these bytes is taken.
  const bool whole = written >= 0 && static_cast<std::size_t>(written) == bytes.size() &&
                     text.size() % 4 == 0 &&
                     std::min(text.find('='), text.size()) == text.size() - padding;
  if (whole) bytes.resize(bytes.size() - padding);
  const auto last = bytes.size() - bytes.size() % 3;
  const bool canonical =
      whole && (padding == 0 || base64_encode(std::string_view(bytes).substr(last)) ==
                                    text.substr(text.size() - 4));
  if (!canonical)
    return fail(Errc::invalid_input, "must be base64 in the standard alphabet, with '=' padding");
  return bytes;
}

std::string base64url_encode(std::string_view bytes) {
  auto text = base64_encode(bytes);
  text.erase(std::min(text.find('='), text.size()));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> base64url_decode(std::string_view text) {
  const auto refuse = [] {
    return fail(Errc::invalid_input, "must be base64 in the alphabet of URLs, without padding");
  };
  if (text.find_first_of("+/=") != std::string_view::npos) return refuse();
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  auto bytes = base64_decode(padded);
  if (!bytes) return refuse();
  return bytes;
}

}  // namespace ff
