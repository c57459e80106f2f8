// Texts that an engine signs with the secrets of its key ring, and later recognises as its own.
//
//   signed text := prefix kid "." base64url(body) "." mac       letters, digits, '.', '_' and '-' only
//   mac         := base64url(HMAC-SHA-256(secret of kid, everything before the last '.'))
//
// The prefix is signed, too: a text of one kind is never valid as one of another kind.
#pragma once

#include <string>
#include <string_view>

#include "core/waitpoints/key_ring.hpp"

namespace ff::core {

struct SignedForm {
  std::string_view prefix;
  std::size_t bytes_max = 0;  // of the whole text
};

// Nothing if no secret is installed.
std::optional<std::string> sign(const KeyRing& ring, const SignedForm& form, std::string_view body);

struct SignedText {
  KeyId kid;
  std::string body;
};

// Nothing if it is not of this form, or not signed with a secret of the ring. The comparison takes constant time.
// Whether the secret has expired is left to the caller.
std::optional<SignedText> open_signed(const KeyRing& ring, const SignedForm& form,
                                      std::string_view text);

// A signed text by its parts, as the grammar names them.
struct SignedParts {
  KeyId kid;
  std::string_view body;
  std::string_view mac;
  std::string_view is_signed;  // everything before the mac's dot
};
std::optional<SignedParts> split_signed(const SignedForm& form, std::string_view text);

// ---- Numbers and ids in a body --------------------------------------------------------------------

// Big-endian.
template <class Number>
void append_number(std::string& bytes, Number number) {
  for (std::size_t byte = sizeof number; byte-- > 0;)
    bytes += static_cast<char>(number >> (8 * byte) & 0xff);
}

// Takes values off the front; `ok` is false once there are too few bytes.
class BodyReader {
 public:
  explicit BodyReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(std::size_t size) {
    ok = ok && size <= bytes_.size();
    const auto taken = bytes_.substr(0, ok ? size : 0);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  template <class Number>
  Number number() {
    Number value = 0;
    for (const char byte : take(sizeof value))
      value = static_cast<Number>(value << 8 | static_cast<std::uint8_t>(byte));
    return value;
  }
  Uuid uuid();
  std::string rest() { return std::string(take(bytes_.size())); }

  bool ok = true;

 private:
  std::string_view bytes_;
};

}  // namespace ff::core
