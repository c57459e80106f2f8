#include "core/waitpoints/token.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "core/waitpoints/signed_text.hpp"

namespace ff::core {
namespace {

constexpr SignedForm token_form{.prefix = "ffw1.", .bytes_max = waitpoint_token_bytes_max};
constexpr std::size_t contract_digest_size = 40;

enum Flag : std::uint8_t { expires = 1, has_approver = 2, all_flags = 3 };

// One error for everything that can be wrong: it tells a forger nothing.
std::unexpected<Error> invalid_token() {
  return fail(Errc::invalid_token, "the token is not valid for this waitpoint");
}
std::unexpected<Error> token_expired() {
  return fail(Errc::token_expired, "the token has expired; ask for another one");
}
std::unexpected<Error> no_secret() {
  return fail(Errc::not_ready,
              "no secret for waitpoint tokens is installed; ff secrets rotate installs one",
              {{"what", "waitpoint_secret"}});
}

std::string encode(const WaitpointClaims& claims) {
  std::string bytes;
  bytes +=
      static_cast<char>((claims.expires_at ? expires : 0) | (claims.approver ? has_approver : 0));
  append_number(bytes, claims.execution.partition());
  const auto& execution = claims.execution.uuid().bytes();
  const auto& waitpoint = claims.waitpoint.uuid().bytes();
  bytes.append(execution.begin(), execution.end());
  bytes.append(waitpoint.begin(), waitpoint.end());
  if (claims.expires_at)
    append_number(bytes, static_cast<std::uint64_t>(claims.expires_at->time_since_epoch().count()));
  bytes += static_cast<char>(claims.ns.str().size());
  bytes += claims.ns.str();
  return bytes + claims.approver.value_or("");
}

std::optional<WaitpointClaims> decode(std::string_view bytes) {
  BodyReader read(bytes);
  WaitpointClaims claims;
  const auto flags = read.number<std::uint8_t>();
  const auto partition = read.number<PartitionIndex>();
  claims.execution = {partition, read.uuid()};
  claims.waitpoint = WaitpointId{read.uuid()};
  if (flags & expires)
    claims.expires_at = TimePoint{Millis{static_cast<Millis::rep>(read.number<std::uint64_t>())}};
  const auto size = read.number<std::uint8_t>();
  auto ns = Namespace::parse(std::string(read.take(size)));
  auto approver = read.rest();
  const bool has_name = (flags & has_approver) != 0;
  if (!read.ok || !ns || (flags & ~all_flags) || has_name == approver.empty()) return std::nullopt;
  claims.ns = std::move(*ns);
  if (has_name) claims.approver = std::move(approver);
  return claims;
}

std::string contract_digest(const WaitpointSecret& secret, const ContractWaitpoint& waitpoint) {
  return hex_encode(hmac_sha1(secret.bytes(), fmt::format("{}|{}|{}", waitpoint.id, waitpoint.key,
                                                          waitpoint.created_at_ms)));
}

}  // namespace

Result<std::string> mint_token(const KeyRing& ring, const WaitpointClaims& claims) {
  const auto& approver = claims.approver;
  if (approver && (approver->empty() || approver->size() > limits::approver_bytes_max ||
                   !is_valid_utf8(*approver)))
    return fail_field(
        Errc::invalid_input, "approver",
        fmt::format("approver must be UTF-8 text of 1 to {} bytes", limits::approver_bytes_max));
  auto token = sign(ring, token_form, encode(claims));
  if (!token) return no_secret();
  return std::move(*token);
}

Result<WaitpointClaims> verify_token(const KeyRing& ring, std::string_view token, TimePoint now) {
  const auto text = open_signed(ring, token_form, token);
  if (!text) return invalid_token();
  auto claims = decode(text->body);
  if (!claims) return invalid_token();
  if (!is_valid(ring, text->kid, now) || (claims->expires_at && *claims->expires_at < now))
    return token_expired();
  return std::move(*claims);
}

std::optional<KeyId> kid_of_token(std::string_view token) {
  const auto parts = split_signed(token_form, token);
  return parts ? std::optional(parts->kid) : std::nullopt;
}

std::string redacted(std::string_view token) {
  constexpr std::string_view malformed = "<REDACTED:malformed>";
  if (const auto parts = split_signed(token_form, token))
    return fmt::format("{}{}.<REDACTED:len={}>", token_form.prefix, parts->kid.str(),
                       parts->body.size() + 1 + parts->mac.size());
  const auto colon = token.find(':');
  if (colon == std::string_view::npos || colon + 1 == token.size()) return std::string(malformed);
  const auto kid = KeyId::parse(std::string(token.substr(0, colon)));
  if (!kid) return std::string(malformed);
  return fmt::format("{}:<REDACTED:len={}>", kid->str(), token.size() - colon - 1);
}

// ---- The contract's -----------------------------------------------------------------------------

Result<std::string> mint_contract_token(const KeyRing& ring, const ContractWaitpoint& waitpoint) {
  const auto* secret = ring.signing();
  if (!secret) return no_secret();
  return fmt::format("{}:{}", ring.current->str(), contract_digest(*secret, waitpoint));
}

Result<void> verify_contract_token(const KeyRing& ring, std::string_view token,
                                   const ContractWaitpoint& waitpoint, TimePoint now) {
  if (token.empty()) return fail(Errc::missing_token, "the token of the waitpoint is missing");
  const auto colon = token.find(':');
  if (colon == std::string_view::npos || token.size() - colon - 1 != contract_digest_size)
    return invalid_token();
  if (!ring.current) return no_secret();
  const auto kid = KeyId::parse(std::string(token.substr(0, colon)));
  const auto key = kid ? ring.keys.find(*kid) : ring.keys.end();
  if (key == ring.keys.end()) return invalid_token();
  if (!is_valid(ring, *kid, now)) return token_expired();
  if (!same_bytes(contract_digest(key->second.secret, waitpoint), token.substr(colon + 1)))
    return invalid_token();
  return {};
}

}  // namespace ff::core
