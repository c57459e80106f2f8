// Signing and verifying waitpoint tokens and stream tickets with the store's key ring.
#pragma once

#include <chrono>
#include <mutex>

#include "core/waitpoints/stream_ticket.hpp"
#include "core/waitpoints/token.hpp"
#include "store/store.hpp"

namespace ff {

// Remembers the ring for some seconds: after a rotation by another process, this one may sign with the secret
// before for that long. Thread-safe.
class WaitpointKeys {
 public:
  using SteadyClock = std::chrono::steady_clock;
  using Now = std::function<SteadyClock::time_point()>;

  explicit WaitpointKeys(store::Store& store, Now now = &SteadyClock::now)
      : store_(store), now_(std::move(now)) {}

  Async<std::string> mint(core::WaitpointClaims claims);
  // Fails with invalid_token or token_expired, or with the store's error if it cannot be told.
  Async<core::WaitpointClaims> verify(std::string token);

  Async<std::string> mint(core::StreamTicketClaims claims);
  // Fails with unauthenticated, or with the store's error if it cannot be told.
  Async<core::StreamTicketClaims> verify_ticket(std::string ticket, ExecutionId execution);

  // This process changed the ring.
  void forget();

 private:
  using Ring = std::shared_ptr<const core::KeyRing>;
  struct Known {
    Ring ring;
    SteadyClock::time_point
        at;  // when the question was sent: what it tells is as old as that, or newer
  };

  // A ring that is at most as old as that.
  Async<Ring> ring(Millis age_max);
  // One that knows the secret `kid`, if any does; an unknown secret may have been rotated in a moment ago.
  Async<Ring> ring_for(std::optional<KeyId> kid);

  store::Store& store_;
  Now now_;
  std::mutex mutex_;
  std::optional<Known> known_;
  std::uint64_t forgotten_ = 0;  // an answer that a change overtook on its way is not remembered
};

}  // namespace ff
