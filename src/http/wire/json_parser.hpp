// JSON of requests, which come from anybody.
#pragma once

#include <flowfabric/error.hpp>

#include <string_view>

#include <boost/json/object.hpp>

namespace ff::http {

// The object that `text` is; messages call it `name`, and say where it is wrong. Fails with invalid_json if it is none, holds more than a million values, or names
// a member of an object twice; it is parsed no further than to there.
Result<boost::json::object> parse_json_object(std::string_view text,
                                              std::string_view name = "the body");

}  // namespace ff::http
