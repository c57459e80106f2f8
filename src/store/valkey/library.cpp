#include "store/valkey/library.hpp"

namespace ff::valkey {

std::string_view library_text() {
  static constexpr std::string_view text =
#include "flowfabric.lua.inc"
      ;
  return text;
}

}  // namespace ff::valkey
