#include "http/server/pages.hpp"

#include <array>
#include <string>

namespace ff::http {
namespace {

constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

constexpr std::string_view approve_html =
#include "web/approve.html.inc"
    ;
constexpr std::string_view approve_css =
#include "web/approve.css.inc"
    ;
constexpr std::string_view approve_js =
#include "web/approve.js.inc"
    ;

constexpr std::array all{
    Page{"/approve", "text/html; charset=utf-8", approve_html},
    Page{"/approve.css", "text/css; charset=utf-8", approve_css},
    Page{"/approve.js", "text/javascript; charset=utf-8", approve_js},
};

}  // namespace

std::span<const Page> pages() { return all; }

Response page_response(const Page& page) {
  using Field = beast::http::field;
  Response response{beast::http::status::ok, 11};
  response.set(Field::content_type, page.content_type);
  response.set(Field::cache_control, "no-cache");
  response.set("Content-Security-Policy", policy);
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Referrer-Policy", "no-referrer");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.body() = page.text;
  return response;
}

}  // namespace ff::http
