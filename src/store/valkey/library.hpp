// The function library that this program brings along.
#pragma once

#include <string_view>

namespace ff::valkey {

// Libraries of one major version understand each other's data; a later minor version has all functions of
// an earlier one.
struct LibraryVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const LibraryVersion&) const = default;
};
inline constexpr LibraryVersion library_version{FF_LIBRARY_MAJOR, FF_LIBRARY_MINOR};

// Its text, for FUNCTION LOAD.
std::string_view library_text();

}  // namespace ff::valkey
