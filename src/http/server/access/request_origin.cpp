#include "http/server/access/request_origin.hpp"

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff::http {
namespace {

using Field = beast::http::field;

// Of an absolute URL or an Origin; empty if there is no scheme that we know.
std::string_view without_scheme(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (beast::iequals(url.substr(0, scheme.size()), scheme)) return url.substr(scheme.size());
  return {};
}

std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    return close == std::string_view::npos ? authority : authority.substr(1, close - 1);
  }
  return authority.substr(0, authority.find(':'));
}

}  // namespace

Result<Target> read_target(const RequestHeader& header) {
  const auto hosts = header.count(Field::host);
  if (hosts > 1 || (hosts == 0 && header.version() >= 11))
    return fail(Errc::invalid_input, "a request must have exactly one Host header");
  const std::string_view target = header.target();
  const auto rest = without_scheme(target);
  if (rest.empty()) return Target{.authority = header[Field::host], .path = target};
  const auto slash = std::min(rest.find_first_of("/?"), rest.size());
  const auto path = rest.substr(slash);
  return Target{.authority = rest.substr(0, slash), .path = path.empty() ? "/" : path};
}

bool is_loopback(std::string_view authority) {
  const auto host = without_port(authority);
  constexpr std::string_view name = "localhost";
  if (beast::iequals(host, name)) return true;
  if (host.size() > name.size() && host[host.size() - name.size() - 1] == '.' &&
      beast::iequals(host.substr(host.size() - name.size()), name))
    return true;
  error_code invalid;
  const auto address = asio::ip::make_address(host, invalid);
  return !invalid && address.is_loopback();
}

Result<void> refuse_foreign_page(const RequestHeader& header, std::string_view authority) {
  const auto site = header["Sec-Fetch-Site"];
  const bool foreign_site = !site.empty() && site != "same-origin" && site != "none";
  const auto origin = header.find(Field::origin);
  const bool foreign_origin =
      origin != header.end() && !beast::iequals(without_scheme(origin->value()), authority);
  if (!foreign_site && !foreign_origin) return {};
  return fail(
      Errc::permission_denied,
      fmt::format("a server without tokens refuses web pages of other origins, and so does a login session; this "
                  "request is for '{}'. A proxy in front of the server must keep the Host header, or requests must "
                  "carry a token (FF_API_TOKEN)",
                  printable(authority)));
}

Result<void> refuse_foreign_host(std::string_view authority) {
  if (is_loopback(authority)) return {};
  return fail(
      Errc::permission_denied,
      fmt::format("this server has no tokens, so it answers only at localhost or a loopback "
                  "address, not at '{}'; to use another name, give it tokens (FF_API_TOKEN)",
                  printable(authority)));
}

}  // namespace ff::http
