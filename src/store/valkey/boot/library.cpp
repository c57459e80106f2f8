#include "store/valkey/boot/library.hpp"

namespace ff::valkey_store {

constexpr LibraryVersion library_version{FF_LIBRARY_MAJOR, FF_LIBRARY_MINOR};

std::string_view library_text() {
  static constexpr std::string_view text =
#include "flowfabric.lua.inc"
      ;
  return text;
}

}  // namespace ff::valkey_store
