#include "engine/waitpoint_keys.hpp"

#include "base/try.hpp"

namespace ff {
namespace {

constexpr Millis ring_fresh_for = std::chrono::seconds{10};
// Tokens that name an unknown secret may be signed with one that was rotated in a moment ago. Forged ones,
// however many, cost one read in this time.
constexpr Millis fresh_for_unknown = std::chrono::seconds{1};

}  // namespace

Async<std::string> WaitpointKeys::mint(core::WaitpointClaims claims) {
  const auto keys = co_await ring(ring_fresh_for);
  FF_CO_TRY(keys);
  co_return core::mint_token(**keys, claims);
}

Async<core::WaitpointClaims> WaitpointKeys::verify(std::string token) {
  // Not inside the co_await: g++ 12 destroys the id twice there.
  const auto kid = core::kid_of_token(token);
  const auto keys = co_await ring_for(kid);
  FF_CO_TRY(keys);
  co_return core::verify_token(**keys, token, store_.now());
}

Async<std::string> WaitpointKeys::mint(core::StreamTicketClaims claims) {
  const auto keys = co_await ring(ring_fresh_for);
  FF_CO_TRY(keys);
  co_return core::mint_ticket(**keys, claims);
}

Async<core::StreamTicketClaims> WaitpointKeys::verify_ticket(std::string ticket,
                                                             ExecutionId execution) {
  const auto parts = core::split_signed(core::stream_ticket_form, ticket);
  std::optional<KeyId> kid;
  if (parts) kid = parts->kid;
  const auto keys = co_await ring_for(kid);
  FF_CO_TRY(keys);
  co_return core::verify_ticket(**keys, ticket, execution, store_.now());
}

Async<WaitpointKeys::Ring> WaitpointKeys::ring_for(std::optional<KeyId> kid) {
  auto keys = co_await ring(ring_fresh_for);
  FF_CO_TRY(keys);
  if (kid && !(*keys)->keys.contains(*kid)) keys = co_await ring(fresh_for_unknown);
  co_return keys;
}

void WaitpointKeys::forget() {
  const std::lock_guard lock(mutex_);
  known_.reset();
  ++forgotten_;
}

// Calls that come while one reads, read too: they must not be judged by an older ring. A read ends soon, so
// they are few.
Async<WaitpointKeys::Ring> WaitpointKeys::ring(Millis age_max) {
  const auto asked_at = now_();
  std::uint64_t forgotten = 0;
  {
    const std::lock_guard lock(mutex_);
    if (known_ && asked_at - known_->at < age_max) co_return known_->ring;
    forgotten = forgotten_;
  }
  auto read = co_await store_.run(core::ReadKeyRing{});
  FF_CO_TRY(read);
  auto ring = std::make_shared<const core::KeyRing>(std::move(*read));
  const std::lock_guard lock(mutex_);
  if (forgotten == forgotten_ && (!known_ || known_->at < asked_at)) known_ = {ring, asked_at};
  co_return ring;
}

}  // namespace ff
