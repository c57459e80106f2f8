#include "core/waitpoints/token.hpp"

#include <gtest/gtest.h>

#include "base/text/base64.hpp"
#include "base/text/hmac.hpp"
#include "tests/support/values.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;
using test::t0;

KeyRing ring_with(const std::string& kid, std::string_view hex) {
  const auto id = *KeyId::parse(kid);
  return {.current = id, .keys = {{id, {.secret = *WaitpointSecret::parse(hex)}}}};
}

const KeyRing k1_ring = ring_with("k1", std::string(64, '7'));

WaitpointClaims claims() {
  return {.ns = *Namespace::parse("tenant-a"),
          .execution = test::id_of(200),
          .waitpoint = WaitpointId{test::id_of(9).uuid()}};
}

Errc error_of(std::string_view token, TimePoint now = t0, const KeyRing& with = k1_ring) {
  const auto verified = verify_token(with, token, now);
  return verified ? Errc::internal : verified.error().code;
}

// Signs any body, as only the holder of the secret can.
std::string sign(const std::string& body) {
  const auto text = "ffw1.k1." + base64url_encode(body);
  return text + '.' + base64url_encode(hmac_sha256(k1_ring.signing()->bytes(), text));
}

TEST(Token, BringsBackItsClaims) {
  auto all = claims();
  for (int fields = 0; fields < 4; ++fields) {
    all.expires_at = fields & 1 ? std::optional(t0 + 1h) : std::nullopt;
    all.approver = fields & 2 ? std::optional<std::string>("Zoë Müller") : std::nullopt;
    EXPECT_EQ(verify_token(k1_ring, *mint_token(k1_ring, all), t0), all);
  }
}

TEST(Token, StaysTheSame) {
  auto all = claims();
  all.expires_at = t0;
  all.approver = "zoe";
  EXPECT_EQ(*mint_token(k1_ring, all),
            "ffw1.k1.AwDIAAAAAAAAAAAAAAAAAAAAyAAAAAAAAAAAAAAAAAAAAAkAAAGjGFxQAAh0ZW5hbnQtYXpvZQ."
            "TS-jIhGfPptgGcu6Z6GiBsBdM1DIu0eNQy3wON_IOX4");
}

TEST(Token, IsSafeInAnyPartOfAUrlAndOfLimitedLength) {
  const auto longest = ring_with(std::string(64, 'k'), "ff");
  const auto token = *mint_token(longest, {.ns = *Namespace::parse(std::string(64, 'n')),
                                           .execution = test::id_of(255),
                                           .waitpoint = claims().waitpoint,
                                           .expires_at = t0,
                                           .approver = std::string(128, '\x7f')});
  EXPECT_LE(token.size(), waitpoint_token_bytes_max);
  EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                    "._-"),
            std::string::npos);
  EXPECT_TRUE(verify_token(longest, token, t0));
}

TEST(Token, AcceptsAKidWithDots) {
  const auto dotted = ring_with("2026.q1.eu", "ff");
  EXPECT_EQ(verify_token(dotted, *mint_token(dotted, claims()), t0), claims());
}

TEST(Token, EveryChangedByteIsRefusedAlike) {
  const auto token = *mint_token(k1_ring, claims());
  const auto expected = verify_token(k1_ring, "", t0).error();
  EXPECT_EQ(expected.code, Errc::invalid_token);
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    const auto verified = verify_token(k1_ring, changed, t0);
    ASSERT_FALSE(verified) << changed;
    EXPECT_EQ(verified.error(), expected);
    EXPECT_EQ(error_of(token.substr(0, i)), Errc::invalid_token);
  }
  for (const auto& odd : {token + "A", token + ".", "." + token, token + "=", " " + token})
    EXPECT_EQ(error_of(odd), Errc::invalid_token) << odd;
  EXPECT_EQ(error_of(std::string(100'000, '.')), Errc::invalid_token);
}

TEST(Token, OfAnotherSecretIsRefused) {
  EXPECT_EQ(error_of(*mint_token(ring_with("k1", "ff"), claims())), Errc::invalid_token);
  EXPECT_EQ(error_of(*mint_token(ring_with("k2", "ff"), claims())), Errc::invalid_token);
  EXPECT_EQ(error_of(*mint_token(k1_ring, claims()), t0, {}), Errc::invalid_token);
}

TEST(Token, ExpiresAfterItsLastMoment) {
  auto all = claims();
  all.expires_at = t0;
  const auto token = *mint_token(k1_ring, all);
  EXPECT_TRUE(verify_token(k1_ring, token, t0));
  EXPECT_EQ(error_of(token, t0 + 1ms), Errc::token_expired);
  auto forged = token;
  forged.back() = forged.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(error_of(forged, t0 + 1ms), Errc::invalid_token) << "only a genuine one is told";
}

TEST(Token, OfARotatedSecretIsValidForTheGracePeriod) {
  auto rotated = k1_ring;
  const auto token = *mint_token(rotated, claims());
  ASSERT_TRUE(rotate(
      rotated, {.kid = *KeyId::parse("k2"), .secret = *WaitpointSecret::parse("bb"), .grace = 1h},
      t0));
  EXPECT_TRUE(verify_token(rotated, token, t0 + 1h));
  EXPECT_EQ(error_of(token, t0 + 1h + 1ms, rotated), Errc::token_expired);
  EXPECT_EQ(kid_of_token(*mint_token(rotated, claims())), *KeyId::parse("k2"));
}

TEST(Token, WithASignedBodyOfAnotherFormIsRefused) {
  const auto body = *base64url_decode([] {
    const auto token = *mint_token(k1_ring, claims());
    return token.substr(8, token.rfind('.') - 8);
  }());
  EXPECT_TRUE(verify_token(k1_ring, sign(body), t0));
  EXPECT_EQ(error_of(sign("")), Errc::invalid_token);
  EXPECT_EQ(error_of(sign(body.substr(0, 20))), Errc::invalid_token);
  EXPECT_EQ(error_of(sign(body + "x")), Errc::invalid_token) << "a name without its flag";
  for (const char flags : {'\x02', '\x04', '\x80'})
    EXPECT_EQ(error_of(sign(flags + body.substr(1))), Errc::invalid_token) << int(flags);
}

TEST(Token, NeedsASecretAndAShortNameToBeMinted) {
  EXPECT_EQ(mint_token({}, claims()).error().code, Errc::not_ready);
  EXPECT_EQ(mint_token({.current = *KeyId::parse("k1")}, claims()).error().code, Errc::not_ready);
  auto all = claims();
  for (const auto& bad : {std::string(), std::string(129, 'x'), std::string("\xff")}) {
    all.approver = bad;
    EXPECT_EQ(mint_token(k1_ring, all).error().code, Errc::invalid_input) << bad;
  }
}

TEST(Token, IsLoggedWithoutItsSignature) {
  const auto token = *mint_token(k1_ring, claims());
  EXPECT_EQ(redacted(token), "ffw1.k1.<REDACTED:len=103>");
  EXPECT_EQ(redacted("k1:3f9246d4d07509d3e98bf48343b54b45d551ca10"), "k1:<REDACTED:len=40>");
  for (const char* bad : {"", "secret", ":abc", "k1:", "a\nb:abc", "ffw1..a.b"})
    EXPECT_EQ(redacted(bad), "<REDACTED:malformed>") << bad;
}

// ---- The contract's -----------------------------------------------------------------------------

struct Vector {
  std::string kid;
  std::string secret;
  ContractWaitpoint waitpoint;
  std::string token;
};

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::vector<Vector> vectors{
    {"k1",
     repeated("0", 64),
     {"11111111-1111-4111-8111-111111111111", "wpk:11111111-1111-4111-8111-111111111111",
      1794765568947},
     "k1:3f9246d4d07509d3e98bf48343b54b45d551ca10"},
    {"k1",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     {"22222222-2222-4222-8222-222222222222", "approval", 1794765568958},
     "k1:37f8db48e32655e7a2d8bb815333f289e1334ccc"},
    {"2026-q1",
     "DEADBEEF",
     {"33333333-3333-4333-8333-333333333333", "", 1794765569143},
     "2026-q1:c00a9f3de006e53857f0354db81814f52dd3d04e"},
    {"long",
     repeated("ab", 100),
     {"44444444-4444-4444-8444-444444444444", "a|b", 1794765569144},
     "long:59bc74d24f0d66fa114f4d0a2ef1294530870fff"},
    {"b64",
     repeated("5a", 64),
     {"55555555-5555-4555-8555-555555555555", "clé-é", 1794765569146},
     "b64:d8f7d44a62f965fb655028925b8a6937a9851b19"},
    {"k1",
     repeated("0", 64),
     {"66666666-6666-4666-8666-666666666666", "wpk:66666666-6666-4666-8666-666666666666",
      1700000000000},
     "k1:50b3677bc5122f6589bcb793b42cfda5cf58cea9"},
    {"k2",
     repeated("f", 40),
     {"77777777-7777-4777-8777-777777777777", "key", 1763229600000},
     "k2:041ecdc9b8d6e72f589e2cad55e9358017ec3e06"},
    {"k3",
     "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
     {"88888888-8888-4888-8888-888888888888", "step:3", 0},
     "k3:c5d7cee5e2eca8276ac6699d8613d947da033aeb"}};

TEST(ContractToken, FollowsThePublishedVectors) {
  for (const auto& each : vectors) {
    const auto with = ring_with(each.kid, each.secret);
    EXPECT_EQ(mint_contract_token(with, each.waitpoint), each.token);
    EXPECT_TRUE(verify_contract_token(with, each.token, each.waitpoint, t0)) << each.token;
  }
}

TEST(ContractToken, IsRefusedInTheContractsOrder) {
  const auto& known = vectors.front();
  auto with = ring_with(known.kid, known.secret);
  const auto error = [&](std::string_view token, const KeyRing& keys) {
    const auto verified = verify_contract_token(keys, token, known.waitpoint, t0);
    return verified ? Errc::internal : verified.error().code;
  };
  EXPECT_EQ(error("", {}), Errc::missing_token);
  EXPECT_EQ(error("k1", {}), Errc::invalid_token);
  EXPECT_EQ(error("k1:short", {}), Errc::invalid_token);
  EXPECT_EQ(error(known.token, {}), Errc::not_ready);
  EXPECT_EQ(error(":" + known.token.substr(3), with), Errc::invalid_token);
  EXPECT_EQ(error("other:" + known.token.substr(3), with), Errc::invalid_token);
  auto upper = known.token;
  upper[4] = 'F';
  EXPECT_EQ(error(upper, with), Errc::invalid_token);
  with.current = *KeyId::parse("k9");
  EXPECT_EQ(error(known.token, with), Errc::token_expired);
  with.keys.begin()->second.expires_at = t0;
  EXPECT_TRUE(verify_contract_token(with, known.token, known.waitpoint, t0));
  with.keys.begin()->second.expires_at = t0 - 1ms;
  EXPECT_EQ(error(known.token, with), Errc::token_expired);
}

TEST(ContractToken, BindsTheWaitpoint) {
  const auto& known = vectors.front();
  const auto with = ring_with(known.kid, known.secret);
  auto other = known.waitpoint;
  other.created_at_ms += 1;
  EXPECT_FALSE(verify_contract_token(with, known.token, other, t0));
  other = known.waitpoint;
  other.key = "k";
  EXPECT_FALSE(verify_contract_token(with, known.token, other, t0));
}

}  // namespace
}  // namespace ff::core
