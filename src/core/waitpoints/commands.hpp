// Key ring operations of the engine, beside those that users have (RotateWaitpointSecret, …).
#pragma once

#include "core/waitpoints/key_ring.hpp"

namespace ff::core {

// The ring; the first one who asks makes it, with the secret that the store was opened with, or a random one.
struct ReadKeyRing {
  using Reply = KeyRing;
  static constexpr OperationRow row{.owner = Owner::key_ring, .writes = Writes::durable};
};

struct RotateKeyRing {
  using Reply = RotateSecretReply;
  static constexpr OperationRow row{.owner = Owner::key_ring, .writes = Writes::durable};
  Rotation rotation;
};

}  // namespace ff::core
