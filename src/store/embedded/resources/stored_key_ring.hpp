// The key ring of the embedded store: one record.
#pragma once

#include "core/waitpoints/commands.hpp"
#include "store/embedded/resources/turn.hpp"

namespace ff::embedded {

// Not thread-safe.
class StoredKeyRing {
 public:
  // `configured` is the first secret of a ring that does not exist yet; none: a random one.
  Result<void> restore(const Database& database, std::optional<WaitpointSecret> configured);

  Result<core::KeyRing> execute(const core::ReadKeyRing& query, Turn& turn);
  Result<RotateSecretReply> execute(const core::RotateKeyRing& command, Turn& turn);

 private:
  void make_if_absent(Turn& turn);
  void save(core::KeyRing ring, Turn& turn);

  std::optional<WaitpointSecret> configured_;
  core::KeyRing ring_;
  BatchNumber durable_in_ = 0;  // a reply about it waits until that batch is synced
};

}  // namespace ff::embedded
