#include "core/waitpoints/key_ring.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace ff::core {
namespace {

bool has_expired(const KeyRing::Key& key, TimePoint now) {
  return !key.expires_at || *key.expires_at < now;
}

}  // namespace

KeyId first_kid() { return *KeyId::parse("k1"); }

WaitpointSecret random_secret(Random& random) {
  std::array<std::uint8_t, 32> bytes{};
  random.fill(bytes);
  return WaitpointSecret::of_bytes({bytes.begin(), bytes.end()});
}

Result<void> check_length(const WaitpointSecret& secret) {
  if (secret.bytes().size() >= limits::waitpoint_secret_bytes_min) return {};
  return fail(Errc::invalid_secret_hex,
              fmt::format("must have at least {} bytes; make one with 'openssl rand -hex 32'",
                          limits::waitpoint_secret_bytes_min));
}

const WaitpointSecret* KeyRing::signing() const {
  const auto found = current ? keys.find(*current) : keys.end();
  return found == keys.end() ? nullptr : &found->second.secret;
}

bool is_valid(const KeyRing& ring, const KeyId& kid, TimePoint now) {
  const auto found = ring.keys.find(kid);
  if (found == ring.keys.end()) return false;
  return ring.current == kid || !has_expired(found->second, now);
}

RingInstall install(KeyRing& ring, const WaitpointSecret& secret) {
  if (!ring.current) {
    ring = {.current = first_kid(), .keys = {{first_kid(), {.secret = secret}}}};
    return RingInstall::installed;
  }
  if (const auto* signing = ring.signing())
    return *signing == secret ? RingInstall::matched : RingInstall::mismatched;
  if (*ring.current != first_kid()) return RingInstall::mismatched;
  ring.keys[first_kid()] = {.secret = secret};
  return RingInstall::repaired;
}

std::string mismatch_warning(std::size_t partitions) {
  return fmt::format(
      "FF_WAITPOINT_HMAC_SECRET is not the secret that signs waitpoint tokens in {} partition(s): "
      "the stored one stays in use; replace it with ff secrets rotate (POST "
      "/v1/admin/rotate-waitpoint-secret), or unset the variable",
      partitions);
}

Result<void> rotate(KeyRing& ring, const Rotation& rotation, TimePoint now) {
  const auto& kid = rotation.kid;
  const auto known = ring.keys.find(kid);
  const bool is_in_use = known != ring.keys.end() && is_valid(ring, kid, now);
  if (is_in_use && known->second.secret != rotation.secret) return rotation_conflict(kid);

  if (ring.current != kid) {
    std::erase_if(ring.keys, [&](const auto& each) { return !is_valid(ring, each.first, now); });
    // A shorter grace also holds for secrets that earlier rotations left: it may be an emergency.
    for (auto& [other, key] : ring.keys)
      key.expires_at = std::min(key.expires_at.value_or(limits::time_max), now + rotation.grace);
    ring.current = kid;
  }
  ring.keys[kid] = {.secret = rotation.secret};
  return {};
}

WaitpointKeyList list_keys(const KeyRing& ring, TimePoint now) {
  WaitpointKeyList list;
  for (const auto& [kid, key] : ring.keys) {
    if (!is_valid(ring, kid, now)) continue;
    const bool current = ring.current == kid;
    WaitpointKeyInfo info{.kid = kid, .current = current};
    if (!current) info.expires_at = key.expires_at;
    list.keys.insert(current ? list.keys.begin() : list.keys.end(), std::move(info));
  }
  return list;
}

std::unexpected<Error> rotation_conflict(const KeyId& kid) {
  return fail(Errc::rotation_conflict,
              fmt::format("kid '{}' belongs to another secret that is still valid; choose another "
                          "kid for this one",
                          kid.str()),
              {{"kid", kid.str()}});
}

}  // namespace ff::core
