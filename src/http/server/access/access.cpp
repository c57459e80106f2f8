#include "http/server/access/access.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <boost/beast/core/string.hpp>

#include "base/text/hex.hpp"
#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "http/wire/json_codec.hpp"

namespace ff::http {
namespace {

constexpr std::size_t token_bytes_min = 16;
constexpr std::size_t token_bytes_max = 1024;
constexpr std::size_t tokens_max = 10'000;

// The roles that a token may have: `nobody` is the role of a request without one.
struct TokenRole {
  Role role = Role::nobody;
};

// A token as the file says it.
struct Entry {
  std::string name;
  std::optional<std::string> token = {};
  std::optional<std::string> token_sha256 = {};
  std::vector<TokenRole> roles = {};
  std::optional<Namespace> ns = {};
  std::optional<std::string> expires_at = {};
  bool payloads = true;
};

struct Entries {
  std::vector<Entry> tokens;
};

}  // namespace

template <>
struct Codec<TokenRole> {
  static Result<TokenRole> read(const json::value& value, Source source) {
    const auto names = std::span(Names<Role>::values).subspan(1);
    const auto position = detail::read_name(value, source, names);
    FF_TRY(position);
    return TokenRole{static_cast<Role>(*position + 1)};
  }
  static json::value write(TokenRole value) { return Codec<Role>::write(value.role); }
  static json::object schema(NamedSchemas& named) { return Codec<Role>::schema(named); }
};

namespace {

void describe(Fields& fields, Entry& entry) {
  fields.required("name", entry.name);
  fields.optional("token", entry.token);
  fields.optional("token_sha256", entry.token_sha256);
  fields.required("roles", entry.roles);
  fields.optional("namespace", entry.ns);
  fields.optional("expires_at", entry.expires_at);
  fields.defaulted("payloads", entry.payloads);
}

void describe(Fields& fields, Entries& entries) { fields.required("tokens", entries.tokens); }

Result<void> token_valid(std::string_view token) {
  const bool visible = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
  if (visible && token.size() >= token_bytes_min && token.size() <= token_bytes_max) return {};
  return fail(Errc::invalid_input,
              fmt::format("a token must have {} to {} visible ASCII characters; make one with "
                          "'openssl rand -hex 32'",
                          token_bytes_min, token_bytes_max));
}

bool has_role(const std::vector<TokenRole>& roles, Role wanted) {
  return std::ranges::find(roles, wanted, &TokenRole::role) != roles.end();
}

std::unexpected<Error> in_file(const std::filesystem::path& file, Error error) {
  error.code = Errc::invalid_input;
  error.message = fmt::format("tokens file {}: {}", file.string(), error.message);
  return std::unexpected(std::move(error));
}

Result<Entries> read_entries(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail(Errc::invalid_input, "it cannot be read");
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  boost::system::error_code malformed;
  auto parsed = json::parse(text, malformed);
  if (malformed || !parsed.is_object())
    return fail(Errc::invalid_input, R"(it must be a JSON object like {"tokens": [...]})");
  auto entries = from_fields<Entries>({}, parsed.get_object(), Source::json);
  if (!entries) return entries;
  if (entries->tokens.empty() || entries->tokens.size() > tokens_max)
    return fail(Errc::invalid_input, fmt::format("it must hold from 1 to {} tokens", tokens_max));
  return entries;
}

}  // namespace

Access::Digest Access::digest_of(std::string_view token) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

std::shared_ptr<const Access> Access::open_to_all() { return std::make_shared<const Access>(); }

Result<std::shared_ptr<const Access>> Access::load(std::string_view admin_token,
                                                   const std::filesystem::path& tokens_file) {
  auto access = std::make_shared<Access>();
  if (!admin_token.empty()) {
    FF_TRY(token_valid(admin_token));
    access->tokens_.push_back(
        {.caller = {.name = "admin", .roles = {Role::admin}, .needs_token = true},
         .digest = digest_of(admin_token)});
  }
  if (!tokens_file.empty())
    if (auto added = access->add_file(tokens_file); !added)
      return in_file(tokens_file, std::move(added.error()));
  return access;
}

Result<void> Access::add_file(const std::filesystem::path& file) {
  auto entries = read_entries(file);
  FF_TRY(entries);
  for (auto& entry : entries->tokens) {
    const auto refuse = [&](std::string_view why) {
      return fail(Errc::invalid_input, fmt::format("token '{}' {}", printable(entry.name), why));
    };
    Token token{.caller = {.name = entry.name,
                           .roles = {},
                           .ns = entry.ns,
                           .sees_payloads = entry.payloads,
                           .needs_token = true},
                .digest = {}};
    for (const auto& [role] : entry.roles) token.caller.roles.push_back(role);
    if (entry.name.empty()) return refuse("needs a name, which logs will show");
    if (entry.roles.empty()) return refuse("needs roles: read, submit, work or admin");
    if (!entry.payloads && has_role(entry.roles, Role::work))
      return refuse("may not have the role work without payloads: workers get payloads");
    if (entry.token.has_value() == entry.token_sha256.has_value())
      return refuse("needs either token or token_sha256");
    if (entry.token) {
      if (auto valid = token_valid(*entry.token); !valid) return refuse(valid.error().message);
      token.digest = digest_of(*entry.token);
    } else {
      const auto bytes = hex_decode(*entry.token_sha256);
      if (!bytes || bytes->size() != token.digest.size())
        return refuse("has a token_sha256 that is not 64 hex digits");
      std::ranges::copy(*bytes, token.digest.begin());
    }
    if (entry.expires_at) {
      const auto time = parse_rfc3339(*entry.expires_at);
      if (!time) return refuse("has an expires_at that is not like 2027-01-31T00:00:00Z");
      token.caller.expires_at = *time;
    }
    const auto twin = std::ranges::find(tokens_, token.digest, &Token::digest);
    if (twin != tokens_.end())
      return refuse(fmt::format("is the same token as '{}'; give each its own",
                                printable(twin->caller.name)));
    tokens_.push_back(std::move(token));
  }
  return {};
}

std::string_view Access::token_in(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  const bool is_bearer = boost::beast::iequals(authorization.substr(0, scheme.size()), scheme);
  return is_bearer ? authorization.substr(scheme.size()) : std::string_view{};
}

Result<Caller> Access::admit(std::string_view authorization, TimePoint now) const {
  if (is_open()) return Caller{.name = "anyone", .roles = {Role::admin}};
  const auto token = token_in(authorization);
  if (token.empty())
    return fail(Errc::unauthenticated,
                "this server wants a token; send it as Authorization: Bearer TOKEN");
  return caller_of(digest_of(token), now);
}

Result<Caller> Access::caller_of(const Digest& digest, TimePoint now) const {
  // Every token is looked at, each in constant time: how long it takes tells nothing.
  const Token* found = nullptr;
  for (const auto& token : tokens_)
    if (CRYPTO_memcmp(token.digest.data(), digest.data(), digest.size()) == 0) found = &token;
  if (!found)
    return fail(Errc::unauthenticated, "this server does not know that token; check it for typos");
  const auto& expires_at = found->caller.expires_at;
  if (expires_at && *expires_at <= now)
    return fail(Errc::unauthenticated, "that token has expired; ask its issuer for another one");
  return found->caller;
}

}  // namespace ff::http
