// Static web pages, compiled into the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/transport/stream.hpp"

namespace ff::http {

// A file of web/ at a path, or a redirection. Files refer to each other and to the API by relative URLs, so
// that they also work behind a proxy that adds a prefix to paths.
struct Page {
  std::string path;
  std::string_view content_type = {};
  std::string text = {};
  std::string_view location = {};  // of a redirection, relative to the path
  bool is_kept = false;            // browsers need not ask again: another version has another path
};

// The approval page; the dashboard, which is one document for all paths below /ui/; and what they load.
std::span<const Page> pages();

// With headers that forbid everything but scripts, styles and requests of this server.
Response page_response(const Page& page);

}  // namespace ff::http
