#include "store/valkey/boot/library.hpp"

namespace ff::valkey_store {

constexpr LibraryVersion library_version{FF_LIBRARY_MAJOR, FF_LIBRARY_MINOR};

std::string_view library_text() {
  // Its length is that of the array: compilers count no further than so many characters.
  static constexpr char text[] =
#include "flowfabric.lua.inc"
      ;
  return {text, sizeof text - 1};
}

}  // namespace ff::valkey_store
