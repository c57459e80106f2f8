// Keeping secrets out of what people read.
#pragma once

#include <string>
#include <string_view>

namespace ff {

// The URL with *** for its password, and for its user if there is no password: user:***@host. Settings
// after its ? that are named like a secret have *** for their value.
std::string without_password(std::string_view url);

}  // namespace ff
