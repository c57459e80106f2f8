// Web pages of other origins that may use the server, as browsers ask for it (CORS).
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "http/transport/stream.hpp"

namespace ff::http {

class Cors {
 public:
  Cors() = default;  // no page of another origin

  // Origins like https://app.example.com:8443, comma-separated; `*` stands for all. Entries that are no origin are
  // left out and returned in `ignored`; fails with invalid_input if nothing is left.
  static Result<Cors> parse(std::string_view list, std::vector<std::string>* ignored = nullptr);

  bool is_for_all() const { return all_; }

  // The Access-Control-Allow-Origin of a response to this origin; empty if its pages may not read it.
  std::string allowed(std::string_view origin) const;

  // Whether responses differ by origin, which caches must know.
  bool varies() const { return !all_ && !origins_.empty(); }

  // The answer to a browser that asks before it sends a request.
  Response preflight(const std::string& allowed_origin) const;

 private:
  bool all_ = false;
  std::vector<std::string> origins_;  // in lower case
};

// A browser sends a preflight before a request that is not a simple one.
bool is_preflight(const Request::header_type& header);

}  // namespace ff::http
