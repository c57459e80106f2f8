// Base64 (RFC 4648, with padding): how JSON carries bytes that are not text.
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>

namespace ff {

std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);

}  // namespace ff
