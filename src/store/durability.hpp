// Which operations are on disk before they are acknowledged.
#pragma once

#include <flowfabric/operations.hpp>

#include "core/commands.hpp"

namespace ff::store {

// True but for the commands whose loss in a power cut costs a re-run, never a result: they are written
// in order with everything else, but nobody waits for the disk. An end always waits, whatever brought it.
template <class Command>
inline constexpr bool waits_for_disk = true;
template <>
inline constexpr bool waits_for_disk<core::LeaseGrant> = false;
template <>
inline constexpr bool waits_for_disk<core::LeaseExpire> = false;
template <>
inline constexpr bool waits_for_disk<Renew> = false;

}  // namespace ff::store
