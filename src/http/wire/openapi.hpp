// The API's description of itself (OpenAPI 3.1), made from what the server works with.
#pragma once

#include <boost/json.hpp>

#include "http/wire/endpoints.hpp"

namespace ff::http {

inline constexpr Endpoint openapi_endpoint{Verb::get, "/openapi.json", Role::read, "This document"};

boost::json::object openapi();

}  // namespace ff::http
