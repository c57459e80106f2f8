#include "store/embedded/resources/stored_key_ring.hpp"

#include "base/log.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"

namespace ff::embedded {

Result<void> StoredKeyRing::restore(const Database& database,
                                    std::optional<WaitpointSecret> configured) {
  configured_ = std::move(configured);
  const auto bytes = database.get(keys::key_ring);
  FF_TRY(bytes);
  if (!*bytes) return {};
  auto ring = decode_key_ring(**bytes);
  FF_TRY(ring);
  ring_ = std::move(*ring);
  if (auto stored = ring_;
      configured_ && core::install(stored, *configured_) == core::RingInstall::mismatched)
    log::warn("{}", core::mismatch_warning(1));
  return {};
}

Result<core::KeyRing> StoredKeyRing::execute(const core::ReadKeyRing&, Turn& turn) {
  turn.see(durable_in_);
  make_if_absent(turn);
  return ring_;
}

Result<RotateSecretReply> StoredKeyRing::execute(const core::RotateKeyRing& command, Turn& turn) {
  turn.see(durable_in_);
  make_if_absent(turn);
  auto ring = ring_;
  FF_TRY(core::rotate(ring, command.rotation, turn.now()));
  if (ring != ring_) save(std::move(ring), turn);
  return RotateSecretReply{.rotated = 1, .new_kid = command.rotation.kid};
}

void StoredKeyRing::make_if_absent(Turn& turn) {
  if (ring_.current) return;
  SystemRandom random;
  core::KeyRing ring;
  core::install(ring, configured_ ? *configured_ : core::random_secret(random));
  save(std::move(ring), turn);
}

void StoredKeyRing::save(core::KeyRing ring, Turn& turn) {
  ring_ = std::move(ring);
  turn.put(std::string(keys::key_ring), encode(ring_));
  durable_in_ = std::max(durable_in_, turn.durable_in());
}

}  // namespace ff::embedded
