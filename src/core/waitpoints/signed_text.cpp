#include "core/waitpoints/signed_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "base/text/hmac.hpp"

namespace ff::core {
namespace {

std::string signed_mac(const WaitpointSecret& secret, std::string_view is_signed) {
  return base64url_encode(hmac_sha256(secret.bytes(), is_signed));
}

}  // namespace

std::optional<std::string> sign(const KeyRing& ring, const SignedForm& form,
                                std::string_view body) {
  const auto* secret = ring.signing();
  if (!secret) return std::nullopt;
  auto text = fmt::format("{}{}.{}", form.prefix, ring.current->str(), base64url_encode(body));
  return text + '.' + signed_mac(*secret, text);
}

// A kid may have dots, so body and mac are found from the end.
std::optional<SignedParts> split_signed(const SignedForm& form, std::string_view text) {
  if (text.size() > form.bytes_max || !text.starts_with(form.prefix)) return std::nullopt;
  const auto mac_dot = text.rfind('.');
  const auto body_dot = mac_dot == 0 ? std::string_view::npos : text.rfind('.', mac_dot - 1);
  if (body_dot == std::string_view::npos || body_dot < form.prefix.size()) return std::nullopt;
  auto kid =
      KeyId::parse(std::string(text.substr(form.prefix.size(), body_dot - form.prefix.size())));
  if (!kid) return std::nullopt;
  return SignedParts{.kid = std::move(*kid),
                     .body = text.substr(body_dot + 1, mac_dot - body_dot - 1),
                     .mac = text.substr(mac_dot + 1),
                     .is_signed = text.substr(0, mac_dot)};
}

std::optional<SignedText> open_signed(const KeyRing& ring, const SignedForm& form,
                                      std::string_view text) {
  auto parts = split_signed(form, text);
  if (!parts) return std::nullopt;
  const auto key = ring.keys.find(parts->kid);
  if (key == ring.keys.end()) return std::nullopt;
  if (!same_bytes(signed_mac(key->second.secret, parts->is_signed), parts->mac))
    return std::nullopt;
  auto body = base64url_decode(parts->body);
  if (!body) return std::nullopt;
  return SignedText{.kid = std::move(parts->kid), .body = std::move(*body)};
}

Uuid BodyReader::uuid() {
  Uuid::Bytes bytes{};
  std::ranges::copy(take(bytes.size()), bytes.begin());
  return Uuid{bytes};
}

}  // namespace ff::core
