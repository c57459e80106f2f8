#include "http/server/pages.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace ff::http {
namespace {

// Scripts can make no HTML of text: only the script of a worker is let through, by a policy of that name.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types ff-worker";

struct WebFile {
  std::string_view name;
  std::string_view text;
};

#include "web/files.inc"

struct Suffix {
  std::string_view suffix;
  std::string_view content_type;
};

constexpr std::string_view html = "text/html; charset=utf-8";

constexpr std::array suffixes{
    Suffix{".html", html},
    Suffix{".css", "text/css; charset=utf-8"},
    Suffix{".js", "text/javascript; charset=utf-8"},
    Suffix{".svg", "image/svg+xml"},
};

std::string_view content_type_of(std::string_view name) {
  const auto found =
      std::ranges::find_if(suffixes, [&](const Suffix& row) { return name.ends_with(row.suffix); });
  return found == suffixes.end() ? "application/octet-stream" : found->content_type;
}

constexpr std::string_view ui_folder = "ui/";
constexpr std::string_view ui_document = "ui/index.html";
constexpr std::string_view assets_mark = "@assets@";  // in the document: where its files are

// The document of the dashboard at a path that is `up` below /ui/.
Page ui_page(std::string path, std::string_view text, std::string_view up) {
  Page page{.path = std::move(path), .content_type = html, .text = std::string(text)};
  const auto assets = fmt::format("{}assets/{}", up, web_version);
  for (auto at = page.text.find(assets_mark); at != page.text.npos;
       at = page.text.find(assets_mark))
    page.text.replace(at, assets_mark.size(), assets);
  return page;
}

void add_pages(std::vector<Page>& all, const WebFile& file) {
  if (file.name == ui_document) {
    all.push_back(ui_page("/ui/", file.text, ""));
    all.push_back(ui_page("/ui/{page}", file.text, ""));
    all.push_back(ui_page("/ui/{page}/{id}", file.text, "../"));
  } else if (file.name.starts_with(ui_folder)) {
    all.push_back(
        {.path = fmt::format("/ui/assets/{}/{}", web_version, file.name.substr(ui_folder.size())),
         .content_type = content_type_of(file.name),
         .text = std::string(file.text),
         .is_kept = true});
  } else {
    const auto name = file.name.ends_with(".html")
                          ? file.name.substr(0, file.name.size() - std::string_view(".html").size())
                          : file.name;
    all.push_back({.path = fmt::format("/{}", name),
                   .content_type = content_type_of(file.name),
                   .text = std::string(file.text)});
  }
}

}  // namespace

std::span<const Page> pages() {
  static const auto all = [] {
    std::vector<Page> made{{.path = "/", .location = "ui/"}, {.path = "/ui", .location = "ui/"}};
    for (const auto& file : web_files) add_pages(made, file);
    return made;
  }();
  return all;
}

Response page_response(const Page& page) {
  using Field = beast::http::field;
  Response response{beast::http::status::ok, 11};
  if (!page.location.empty()) {
    response.result(beast::http::status::found);
    response.set(Field::location, page.location);
  } else {
    response.set(Field::content_type, page.content_type);
  }
  response.set(Field::cache_control,
               page.is_kept ? "public, max-age=31536000, immutable" : "no-cache");
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
