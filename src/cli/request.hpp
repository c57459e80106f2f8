// An operation's fields, by the names of the HTTP API, as the command line gives them.
#pragma once

#include <string_view>

#include "http/wire/wire.hpp"

namespace ff::cli {

struct Request {
  http::json::object texts;   // to be read as in a URL: numbers, names and lists are text
  http::json::object values;  // as in a JSON body

  // `path` has dots between the objects that it goes through: policy.retry_policy.max_retries.
  void set(std::string_view path, http::json::value value);

  // Fails with invalid_input, naming the field.
  template <class Op>
  Result<Op> to() const {
    return http::from_fields<Op>({.url = texts, .body = values});
  }
};

}  // namespace ff::cli
