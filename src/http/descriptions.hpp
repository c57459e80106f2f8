// What fields mean, for those who read the API's description.
#pragma once

#include <string_view>

namespace ff::http {

// A sentence about the field of that name and JSON type; empty if its name says enough.
std::string_view description_of(std::string_view name, std::string_view type);

}  // namespace ff::http
