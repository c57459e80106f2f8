// Login sessions of browsers: a token is presented once, and a cookie stands for it from then on.
//
//   cookie     := session_cookie "=" id                  HttpOnly, SameSite=Strict, for the paths of the API only
//   id         := hex of 32 random bytes
//   csrf token := hex(HMAC-SHA-256(id, "csrf"))          for the header X-CSRF-Token of requests that change something
#pragma once

#include <list>
#include <map>
#include <mutex>

#include "http/server/access/access.hpp"
#include "http/server/access/request_origin.hpp"

namespace ff::http {

inline constexpr std::string_view session_cookie = "ff_session";
inline constexpr std::string_view session_path = "/v1";
inline constexpr std::string_view csrf_header = "X-CSRF-Token";

struct SessionLimits {
  Millis ttl = std::chrono::hours{12};
  std::size_t of_token = 32;  // one more ends the oldest
  std::size_t all = 10'000;
};

// Only digests of ids and tokens are kept, in memory: a restart of the server ends all sessions. Thread-safe.
class Sessions {
 public:
  explicit Sessions(SessionLimits limits) : limits_(limits) {}

  struct Opened {
    std::string id;
    Caller caller;
  };
  // For the token of an Authorization header. Fails with unauthenticated as Access::admit does, with resource_exhausted
  // if there are too many sessions, and with invalid_input if the server has no tokens.
  Result<Opened> open(const Access& access, std::string_view authorization, TimePoint now);

  // The caller whose session it is. Fails with unauthenticated if it is over or its token is not valid any more.
  Result<Caller> admit(const Access& access, const std::string& id, TimePoint now);

  void close(const std::string& id);

  std::size_t size() const;

 private:
  struct Session {
    Access::Digest id;
    Access::Digest token;
    TimePoint expires_at;
  };
  using Order = std::list<Session>;  // the oldest first

  void remove(Order::iterator session);
  void remove_expired(TimePoint now);
  Order::iterator find(const std::string& id);

  const SessionLimits limits_;
  mutable std::mutex mutex_;
  Order sessions_;
  std::map<Access::Digest, Order::iterator> by_id_;
  std::map<Access::Digest, std::size_t> count_of_token_;
};

// The session that a request presents; empty if it presents none. Fails with unauthenticated if it presents more than
// one, or something else under the name: a page of a neighbouring host may have planted it.
Result<std::string> presented_session(const RequestHeader& header);

std::string csrf_token_of(const std::string& session);

// Of a request with a session: it comes from a page of this server, and if it changes something, it has the session's
// CSRF token. Fails with permission_denied.
Result<void> check_session_request(const RequestHeader& header, std::string_view authority,
                                   const std::string& session);

// The values of Set-Cookie.
std::string cookie_of(const std::string& session, Millis age, bool is_secure);
std::string cookie_that_ends(bool is_secure);

}  // namespace ff::http
