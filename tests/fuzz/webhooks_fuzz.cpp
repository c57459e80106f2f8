// A webhook makes a signal of nothing that is not signed with its secret, and any file is loaded or refused.
#include "http/server/webhooks.hpp"

#include <fstream>

#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "base/text/utf8.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::fuzz {
namespace {

constexpr std::string_view secret = "webhook-secret-0123456789";
constexpr std::string_view webhook = R"({"webhooks":[{"name":"hook","secret_file":"secret",
  "signature":{"header":"X-Signature","prefix":"sha256="},
  "execution":{"pointer":"/run/id"},"signal":{"pointer":"/run/~0a"},
  "only_if":[{"pointer":"/kind","equals":"run"}]}]})";
const TimePoint now{std::chrono::seconds{1'800'000'000}};

class Files {
 public:
  Files() { write("secret", secret); }

  auto load(std::string_view text) const {
    write("webhooks.json", text);
    return http::Webhooks::load(directory_.path() / "webhooks.json");
  }

 private:
  void write(const char* name, std::string_view text) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }
  test::TempDirectory directory_;
};

http::Request request(std::string_view body, const std::string& signature) {
  http::Request made{http::Verb::post, "/v1/webhooks/hook", 11};
  made.set("X-Signature", signature);
  made.body() = body;
  return made;
}

// The input is the body, signed.
void check_signed(const http::Webhooks& webhooks, std::string_view body) {
  const auto signature = "sha256=" + hex_encode(hmac_sha256(secret, body));
  const auto received = webhooks.receive("hook", request(body, signature), now);
  if (received) return;
  expect(received.error().code != Errc::invalid_token, "a signed request is verified");
  expect(is_valid_utf8(received.error().message), "errors are valid UTF-8");
}

// The input is the header; what it says is not a signature of this body.
void check_unsigned(const http::Webhooks& webhooks, std::string_view header) {
  constexpr std::string_view body = R"({"kind":"run","run":{"id":"1","~a":"b"}})";
  std::string signature(header.substr(0, 4096));
  for (char& c : signature)
    if (c == '\r' || c == '\n' || c == '\0') c = ' ';
  const auto right = hex_encode(hmac_sha256(secret, body));
  if (signature.find(right) != std::string::npos) return;
  const auto received = webhooks.receive("hook", request(body, signature), now);
  expect(!received && received.error().code == Errc::invalid_token,
         "what is not signed is refused");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  static const fuzz::Files files;
  static const auto webhooks = must(files.load(fuzz::webhook));
  auto input = fuzz::as_text(data, size);
  switch (fuzz::choose(input, 3)) {
    case 0: fuzz::check_signed(*webhooks, input); break;
    case 1: fuzz::check_unsigned(*webhooks, input); break;
    default: static_cast<void>(files.load(input));
  }
  return 0;
}
