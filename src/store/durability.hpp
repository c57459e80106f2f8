// Which operations are on disk before they are acknowledged.
#pragma once

#include <flowfabric/operation_row.hpp>

namespace ff::store {

enum class Durability : std::uint8_t {
  relaxed,   // nothing waits: a power cut may lose the last moments, acknowledged or not
  standard,  // what matters waits (below): a power cut may cost a re-run, never a result
  strict,    // everything waits, claims and renewals too
};

}  // namespace ff::store

namespace ff {
FF_NAMES(store::Durability, "relaxed", "standard", "strict");
}

namespace ff::store {

// Under the standard durability, as the operation's row says. An end always waits, whatever brought it.
template <class Op>
inline constexpr bool waits_for_disk = Op::row.writes == Writes::durable;

}  // namespace ff::store
