// The secrets that sign waitpoint tokens. One signs; those before it stay valid for a time.
#pragma once

#include <flowfabric/secrets.hpp>

#include <map>
#include <optional>

#include "base/random.hpp"

namespace ff::core {

// The id of the first secret of a store.
KeyId first_kid();

// 32 bytes; the source must be fit for secrets.
WaitpointSecret random_secret(Random& random);

// Refuses a secret that is too short to protect tokens. Programs of the contract may have stored shorter ones.
Result<void> check_length(const WaitpointSecret& secret);

struct KeyRing {
  struct Key {
    WaitpointSecret secret;
    std::optional<TimePoint> expires_at = {};  // none: it signs, or is of no use
    bool operator==(const Key&) const = default;
  };
  std::optional<KeyId> current = {};  // none: nothing was installed yet
  std::map<KeyId, Key> keys = {};
  bool operator==(const KeyRing&) const = default;

  // The secret that signs; null if there is none.
  const WaitpointSecret* signing() const;
};

// Whether tokens of a key are valid: those of the current one always, others up to and including the moment
// at which they expire.
bool is_valid(const KeyRing& ring, const KeyId& kid, TimePoint now);

// How a store's ring and the secret that a server was configured with agree.
enum class RingInstall : std::uint8_t {
  installed,   // there was no ring
  repaired,    // the first secret was lost, and is back
  matched,     // it is the current secret
  mismatched,  // it is not: the store's ring wins, and nothing is changed
};

}  // namespace ff::core

namespace ff {
FF_NAMES(core::RingInstall, "installed", "repaired", "matched", "mismatched");
}

namespace ff::core {

// Makes the secret the first of a ring that is empty. The configured secret is the first one, whatever was
// rotated since: it never takes the place of a later one that was lost.
RingInstall install(KeyRing& ring, const WaitpointSecret& secret);

// For the log: in so many partitions the configured secret is not the current one.
std::string mismatch_warning(std::size_t partitions);

struct Rotation {
  KeyId kid;
  WaitpointSecret secret;
  Millis grace{};  // how long tokens of the secret before stay valid
};

// Signs with another secret, and forgets those that have expired. Nothing changes if it is the current one
// already. Fails with rotation_conflict if the id belongs to another secret that is still valid.
Result<void> rotate(KeyRing& ring, const Rotation& rotation, TimePoint now);

// The valid keys, the current one first.
WaitpointKeyList list_keys(const KeyRing& ring, TimePoint now);

std::unexpected<Error> rotation_conflict(const KeyId& kid);

}  // namespace ff::core
