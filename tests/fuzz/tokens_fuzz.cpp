// No text is taken for a token that was not signed, and what was signed comes back.
#include "base/text/utf8.hpp"
#include "core/waitpoints/token.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

constexpr TimePoint now{Millis{1'800'000'000'000}};

core::KeyRing make_ring() {
  core::KeyRing ring;
  core::install(ring, *WaitpointSecret::parse("00112233445566778899aabbccddeeff"));
  return ring;
}

void check_text(const core::KeyRing& ring, std::string_view text) {
  expect(!core::verify_token(ring, text, now), "a text that nobody signed is no token");
  expect(is_valid_utf8(core::redacted(text)), "what is logged of a text is UTF-8");
  static_cast<void>(core::verify_contract_token(ring, text, {}, now));
  if (const auto secret = WaitpointSecret::parse(text))
    expect(WaitpointSecret::parse(secret->to_hex()) == *secret, "a secret survives its spelling");
}

// The input as an approver's name, and then as damage to a token.
void check_claims(const core::KeyRing& ring, std::string_view input) {
  core::WaitpointClaims claims{.ns = default_namespace(), .execution = {}, .waitpoint = {}};
  claims.approver = std::string(input);
  if (const auto named = core::mint_token(ring, claims)) {
    expect(named->size() <= core::waitpoint_token_bytes_max, "a token is short");
    expect(core::verify_token(ring, *named, now) == claims, "claims survive a token");
  }
  claims.approver.reset();
  auto token = *core::mint_token(ring, claims);
  const auto genuine = token;
  for (std::size_t i = 0; i + 1 < input.size(); i += 2)
    token[static_cast<unsigned char>(input[i]) % token.size()] = input[i + 1];
  expect(core::verify_token(ring, token, now).has_value() == (token == genuine),
         "a damaged token is refused");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  static const auto ring = fuzz::make_ring();
  const auto input = fuzz::as_text(data, size);
  fuzz::check_text(ring, input);
  fuzz::check_claims(ring, input);
  return 0;
}
