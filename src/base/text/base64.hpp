// Base64 (RFC 4648): with padding, as JSON carries bytes that are not text; and in the alphabet of URLs.
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>

namespace ff {

constexpr std::size_t base64_encoded_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);

// With '-' and '_' for '+' and '/', and without padding: safe in any part of a URL.
std::string base64url_encode(std::string_view bytes);
Result<std::string> base64url_decode(std::string_view text);

}  // namespace ff
