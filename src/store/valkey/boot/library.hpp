// The function library that this program brings along.
#pragma once

#include <string_view>

namespace ff::valkey_store {

// Libraries of one major version understand each other's data; a later minor version has all functions of
// an earlier one.
struct LibraryVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const LibraryVersion&) const = default;
};
extern const LibraryVersion library_version;

// Its text, for FUNCTION LOAD.
std::string_view library_text();

}  // namespace ff::valkey_store
