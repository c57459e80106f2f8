// Errors over HTTP: application/problem+json, with the code that all of FlowFabric uses.
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace ff::http {

inline constexpr std::string_view problem_type = "application/problem+json";

boost::json::object to_problem(const Error& error);

// Whatever a server (or something between it and us) answered with, as an error.
Error from_problem(unsigned status, std::string_view body);

// The error that an object made by to_problem is, if it is one.
std::optional<Error> from_problem(const boost::json::object& problem);

}  // namespace ff::http
