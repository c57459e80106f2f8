#include "core/waitpoints/stream_ticket.hpp"

#include <gtest/gtest.h>

#include "core/waitpoints/token.hpp"
#include "tests/support/values.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;
using test::t0;

KeyRing ticket_ring(const std::string& kid, char digit) {
  const auto id = *KeyId::parse(kid);
  return {.current = id,
          .keys = {{id, {.secret = *WaitpointSecret::parse(std::string(64, digit))}}}};
}
const KeyRing ring = ticket_ring("k1", '7');
const StreamTicketClaims some_claims{.execution = test::id_of(200), .expires_at = t0 + 15min};

std::string error_of(std::string_view ticket, const ExecutionId& id, TimePoint now,
                     const KeyRing& with = ring) {
  const auto verified = verify_ticket(with, ticket, id, now);
  return verified ? "" : std::string(info(verified.error().code).name);
}

TEST(StreamTicket, IsValidForItsExecutionUntilItExpires) {
  const auto ticket = *mint_ticket(ring, some_claims);
  EXPECT_EQ(verify_ticket(ring, ticket, some_claims.execution, t0), some_claims);
  EXPECT_EQ(error_of(ticket, some_claims.execution, t0 + 15min - 1ms), "");
  EXPECT_EQ(error_of(ticket, some_claims.execution, t0 + 15min), "unauthenticated");
  EXPECT_EQ(error_of(ticket, test::id_of(201), t0), "unauthenticated");
}

TEST(StreamTicket, ChangedInAnyByteIsNotValid) {
  const auto ticket = *mint_ticket(ring, some_claims);
  for (std::size_t i = 0; i < ticket.size(); ++i) {
    auto changed = ticket;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(error_of(changed, some_claims.execution, t0), "unauthenticated") << i;
    EXPECT_EQ(error_of(ticket.substr(0, i), some_claims.execution, t0), "unauthenticated") << i;
  }
  EXPECT_EQ(error_of(ticket + "A", some_claims.execution, t0), "unauthenticated");
}

TEST(StreamTicket, EndsWithTheSecretThatSignedIt) {
  const auto ticket = *mint_ticket(ring, some_claims);
  EXPECT_EQ(error_of(ticket, some_claims.execution, t0, ticket_ring("k1", '8')), "unauthenticated");
  auto rotated = ring;
  ASSERT_TRUE(rotate(rotated,
                     {.kid = *KeyId::parse("k2"),
                      .secret = *WaitpointSecret::parse(std::string(64, '9')),
                      .grace = 1min},
                     t0));
  EXPECT_EQ(error_of(ticket, some_claims.execution, t0 + 1min, rotated), "");
  EXPECT_EQ(error_of(ticket, some_claims.execution, t0 + 1min + 1ms, rotated), "unauthenticated");
  const auto without = mint_ticket({}, some_claims);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Errc::not_ready);
}

TEST(StreamTicket, AndTheTokenOfAWaitpointAreNotTakenForEachOther) {
  const auto ticket = *mint_ticket(ring, some_claims);
  const auto token = *mint_token(ring, {.ns = *Namespace::parse("a"),
                                        .execution = some_claims.execution,
                                        .waitpoint = WaitpointId{test::id_of(9).uuid()}});
  EXPECT_FALSE(verify_token(ring, ticket, t0));
  EXPECT_FALSE(verify_token(ring, "ffw1" + ticket.substr(4), t0));
  EXPECT_EQ(error_of(token, some_claims.execution, t0), "unauthenticated");
  EXPECT_EQ(error_of("fft1" + token.substr(4), some_claims.execution, t0), "unauthenticated");
}

}  // namespace
}  // namespace ff::core
