// Static web pages, compiled into the program.
#pragma once

#include <span>
#include <string_view>

#include "http/transport/stream.hpp"

namespace ff::http {

// A file of web/. Files refer to each other and to the API by relative URLs, so that they also work behind
// a proxy that adds a prefix to paths.
struct Page {
  std::string_view path;
  std::string_view content_type;
  std::string_view text;
};

std::span<const Page> pages();

// With headers that forbid everything but scripts, styles and requests of this server.
Response page_response(const Page& page);

}  // namespace ff::http
