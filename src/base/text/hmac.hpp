// Message authentication codes.
#pragma once

#include <string>
#include <string_view>

namespace ff {

std::string hmac_sha1(std::string_view key, std::string_view message);    // 20 bytes
std::string hmac_sha256(std::string_view key, std::string_view message);  // 32 bytes

// Takes as long for equal texts as for others of the same length, so that its time tells nothing of a secret.
bool same_bytes(std::string_view a, std::string_view b);

}  // namespace ff
