// Which operations are on disk before they are acknowledged.
#pragma once

#include <flowfabric/operations.hpp>

#include "core/transitions/commands.hpp"

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

// With the standard durability: true but for the commands whose loss in a power cut costs a re-run,
// never a result. They are written in order with everything else, but nobody waits for the disk. An
// end always waits, whatever brought it.
template <class Command>
inline constexpr bool waits_for_disk = true;
template <>
inline constexpr bool waits_for_disk<core::GrantIssue> = false;
template <>
inline constexpr bool waits_for_disk<core::LeaseGrant> = false;
template <>
inline constexpr bool waits_for_disk<core::TimerFire> = false;
template <>
inline constexpr bool waits_for_disk<core::Remove> = false;
template <>
inline constexpr bool waits_for_disk<core::Unblock> = false;
template <>
inline constexpr bool waits_for_disk<core::Admit> = false;
template <>
inline constexpr bool waits_for_disk<core::ReleaseAdmission> = false;
template <>
inline constexpr bool waits_for_disk<RegisterWorker> = false;
template <>
inline constexpr bool waits_for_disk<HeartbeatWorker> = false;
template <>
inline constexpr bool waits_for_disk<DeregisterWorker> = false;
template <>
inline constexpr bool waits_for_disk<DrainWorker> = false;
template <>
inline constexpr bool waits_for_disk<Renew> = false;
template <>
inline constexpr bool waits_for_disk<UpdateProgress> = false;

}  // namespace ff::store
