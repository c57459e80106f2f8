#include "http/server/access/sessions.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "base/random.hpp"
#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "base/try.hpp"

namespace ff::http {
namespace {

constexpr std::size_t id_bytes = 32;

std::string new_id() {
  SystemRandom random;
  std::array<std::uint8_t, id_bytes> bytes{};
  random.fill(bytes);
  return hex_encode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool is_id(std::string_view text) {
  return text.size() == 2 * id_bytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::unexpected<Error> session_over() {
  return fail(Errc::unauthenticated, "this login session is over; log in again");
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Sessions::Order::iterator Sessions::find(const std::string& id) {
  const auto digest = Access::digest_of(id);
  const auto found = by_id_.find(digest);
  const bool same = found != by_id_.end() &&
                    CRYPTO_memcmp(found->first.data(), digest.data(), digest.size()) == 0;
  return same ? found->second : sessions_.end();
}

void Sessions::remove(Order::iterator session) {
  by_id_.erase(session->id);
  const auto count = count_of_token_.find(session->token);
  if (--count->second == 0) count_of_token_.erase(count);
  sessions_.erase(session);
}

// All live equally long, unless their tokens end before.
void Sessions::remove_expired(TimePoint now) {
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const auto session = at++;
    if (session->expires_at <= now) remove(session);
  }
}

Result<Sessions::Opened> Sessions::open(const Access& access, std::string_view authorization,
                                        TimePoint now) {
  if (access.is_open())
    return fail(Errc::invalid_input,
                "this server has no tokens, so there is nothing to log in with: everybody may do "
                "everything");
  auto caller = access.admit(authorization, now);
  FF_TRY(caller);
  const auto id = new_id();
  Session session{.id = Access::digest_of(id),
                  .token = Access::digest_of(Access::token_in(authorization)),
                  .expires_at = now + limits_.ttl};
  if (caller->expires_at) session.expires_at = std::min(session.expires_at, *caller->expires_at);
  caller->expires_at = session.expires_at;
  caller->csrf_token = csrf_token_of(id);
  const std::lock_guard lock(mutex_);
  const auto count = count_of_token_.find(session.token);
  if (count != count_of_token_.end() && count->second >= limits_.of_token)
    remove(std::ranges::find(sessions_, session.token, &Session::token));
  if (sessions_.size() >= limits_.all) remove_expired(now);
  if (sessions_.size() >= limits_.all)
    return fail(Errc::resource_exhausted,
                fmt::format("this server has {} login sessions already; try again later, or send "
                            "the token with each request",
                            limits_.all));
  ++count_of_token_[session.token];
  by_id_[session.id] = sessions_.insert(sessions_.end(), session);
  return Opened{.id = id, .caller = std::move(*caller)};
}

Result<Caller> Sessions::admit(const Access& access, const std::string& id, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto session = find(id);
  if (session == sessions_.end()) return session_over();
  auto caller = session->expires_at > now ? access.caller_of(session->token, now)
                                          : Result<Caller>(session_over());
  if (!caller) {
    remove(session);
    return session_over();
  }
  caller->expires_at = session->expires_at;
  caller->csrf_token = csrf_token_of(id);
  return caller;
}

void Sessions::close(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (const auto session = find(id); session != sessions_.end()) remove(session);
}

std::size_t Sessions::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

Result<std::string> presented_session(const RequestHeader& header) {
  const auto wrong = [] {
    return fail(Errc::unauthenticated,
                "the cookie of the login session is not as this server makes it; delete it, then "
                "log in again");
  };
  std::string id;
  const auto [begin, end] = header.equal_range(beast::http::field::cookie);
  for (auto field = begin; field != end; ++field) {
    std::string_view rest = field->value();
    while (!rest.empty()) {
      const auto semicolon = std::min(rest.find(';'), rest.size());
      const auto pair = trimmed(rest.substr(0, semicolon));
      rest.remove_prefix(std::min(rest.size(), semicolon + 1));
      const auto equals = pair.find('=');
      if (equals == pair.npos || pair.substr(0, equals) != session_cookie) continue;
      const auto value = pair.substr(equals + 1);
      if (!id.empty() || !is_id(value)) return wrong();
      id = value;
    }
  }
  return id;
}

std::string csrf_token_of(const std::string& session) {
  return hex_encode(hmac_sha256(session, "csrf"));
}

Result<void> check_session_request(const RequestHeader& header, std::string_view authority,
                                   const std::string& session) {
  FF_TRY(refuse_foreign_page(header, authority));
  const bool reads =
      header.method() == beast::http::verb::get || header.method() == beast::http::verb::head;
  if (reads) return {};
  const auto given = header.find(csrf_header);
  if (given != header.end() && header.count(csrf_header) == 1 &&
      same_bytes(given->value(), csrf_token_of(session)))
    return {};
  return fail(Errc::permission_denied,
              fmt::format("a request with a login session that changes something needs the header "
                          "{} with the csrf_token of the login",
                          csrf_header));
}

std::string cookie_of(const std::string& session, Millis age, bool is_secure) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  return fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Strict{}", session_cookie,
                     session, session_path, seconds, is_secure ? "; Secure" : "");
}

std::string cookie_that_ends(bool is_secure) { return cookie_of("", Millis{0}, is_secure); }

}  // namespace ff::http
