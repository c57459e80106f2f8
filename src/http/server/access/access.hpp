// Access control: bearer tokens, their roles and namespaces.
#pragma once

#include <flowfabric/caller.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff::http {

// The tokens of a server. Only their digests are kept.
class Access {
 public:
  // No tokens: everybody is admin.
  static std::shared_ptr<const Access> open_to_all();

  // One token with all rights, and those of a file; either may be missing (empty). The file is JSON:
  //   {"tokens": [{"name": "ci", "token": "…" or "token_sha256": "…", "roles": ["submit"],
  //                "namespace": "team-a", "expires_at": "2027-01-31T00:00:00Z", "payloads": false}]}
  // Fails with invalid_input; the message never holds a token.
  static Result<std::shared_ptr<const Access>> load(std::string_view admin_token,
                                                    const std::filesystem::path& tokens_file);

  // From the value of a request's Authorization header; unauthenticated if it names no valid token.
  Result<Caller> admit(std::string_view authorization, TimePoint now) const;

  using Digest = std::array<unsigned char, 32>;
  static Digest digest_of(std::string_view token);
  // The token in the value of an Authorization header; empty if there is none.
  static std::string_view token_in(std::string_view authorization);
  // The caller of the token with this digest, as admit() has it.
  Result<Caller> caller_of(const Digest& token, TimePoint now) const;

  bool is_open() const { return tokens_.empty(); }

 private:
  struct Token {
    Caller caller;
    Digest digest;
  };
  Result<void> add_file(const std::filesystem::path& file);

  std::vector<Token> tokens_;
};

}  // namespace ff::http
