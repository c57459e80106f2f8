// Tokens: a signed right to answer a waitpoint, for someone who has no other rights.
//
//   token  := signed text (signed_text.hpp) with the prefix "ffw1." and the claims as its body
//   claims := flags:1 partition:be16 execution:16 waitpoint:16 [expires_at_ms:be64] length:1 namespace
//             [approver, up to the end]             flags: 1 expires, 2 has an approver
//
// The published contract has a form of its own, which binds only the waitpoint:
//
//   contract token := kid ":" hex(HMAC-SHA-1(secret of kid, waitpoint_id "|" waitpoint_key "|" created_at_ms))
#pragma once

#include <string>
#include <string_view>

#include "core/waitpoints/key_ring.hpp"

namespace ff::core {

// Everything that a token grants.
struct WaitpointClaims {
  Namespace ns;
  ExecutionId execution;
  WaitpointId waitpoint;
  std::optional<TimePoint> expires_at = {};  // the last moment at which it is valid
  std::optional<std::string> approver = {};  // the person that it is for
  bool operator==(const WaitpointClaims&) const = default;
};

inline constexpr std::size_t waitpoint_token_bytes_max = 512;

// Fails with not_ready if no secret is installed, and with invalid_input if the approver's name is too long.
Result<std::string> mint_token(const KeyRing& ring, const WaitpointClaims& claims);

// Fails with invalid_token, whatever is wrong, or with token_expired if the token was genuine.
Result<WaitpointClaims> verify_token(const KeyRing& ring, std::string_view token, TimePoint now);

// The id of the secret that a token says it is signed with; nothing if it has not the form of a token.
std::optional<KeyId> kid_of_token(std::string_view token);

// The token without what makes it valid, for logs.
std::string redacted(std::string_view token);

// ---- The contract's -----------------------------------------------------------------------------

struct ContractWaitpoint {
  std::string id;
  std::string key;
  std::int64_t created_at_ms = 0;
};
Result<std::string> mint_contract_token(const KeyRing& ring, const ContractWaitpoint& waitpoint);
// Fails with missing_token, invalid_token or token_expired.
Result<void> verify_contract_token(const KeyRing& ring, std::string_view token,
                                   const ContractWaitpoint& waitpoint, TimePoint now);

}  // namespace ff::core
