#include "http/server/access/cors.hpp"

#include <algorithm>

#include <boost/url.hpp>

#include "base/text/utf8.hpp"

namespace ff::http {
namespace {

using CorsField = beast::http::field;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// As browsers write it: scheme and host, and the port unless it is the usual one. Empty: it is no origin.
std::string origin_of(std::string_view entry) {
  const auto text = lower_case(entry);
  const auto url = boost::urls::parse_uri(text);
  const bool is_origin = url && (url->scheme() == "http" || url->scheme() == "https") &&
                         !url->host().empty() && !url->has_userinfo() &&
                         url->encoded_path().empty() && !url->has_query() && !url->has_fragment();
  if (!is_origin || (url->has_port() && url->port_number() == 0)) return "";
  const std::string_view usual = url->scheme() == "https" ? ":443" : ":80";
  return text.substr(0, text.ends_with(usual) ? text.size() - usual.size() : text.size());
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Result<Cors> Cors::parse(std::string_view list, std::vector<std::string>* ignored) {
  Cors cors;
  bool is_empty = true;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto entry = without_blanks(list.substr(0, comma));
    list.remove_prefix(std::min(list.size(), comma + 1));
    if (entry.empty()) continue;
    is_empty = false;
    if (entry == "*")
      cors.all_ = true;
    else if (auto origin = origin_of(entry); !origin.empty())
      cors.origins_.push_back(std::move(origin));
    else if (ignored)
      ignored->push_back(printable(entry));
  }
  if (!is_empty && !cors.all_ && cors.origins_.empty())
    return fail(
        Errc::invalid_input,
        "none of the origins is one; write them like https://app.example.com, or * for all");
  return cors;
}

std::string Cors::allowed(std::string_view origin) const {
  if (origin.empty()) return "";
  if (all_) return "*";
  const auto known = std::ranges::find(origins_, lower_case(origin));
  return known == origins_.end() ? "" : std::string(origin);
}

Response Cors::preflight(const std::string& allowed_origin) const {
  constexpr std::string_view an_hour = "3600";
  Response response{beast::http::status::no_content, 11};
  response.set(CorsField::access_control_allow_origin, allowed_origin);
  response.set(CorsField::access_control_allow_methods, "GET, POST, PUT, DELETE");
  response.set(CorsField::access_control_allow_headers,
               "authorization, content-type, idempotency-key, last-event-id, x-request-id");
  response.set(CorsField::access_control_max_age, an_hour);
  return response;
}

bool is_preflight(const Request::header_type& header) {
  return header.method() == beast::http::verb::options && header.count(CorsField::origin) == 1 &&
         header.count(CorsField::access_control_request_method) == 1;
}

}  // namespace ff::http
