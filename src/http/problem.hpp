// Errors over HTTP: application/problem+json, with the code that all of FlowFabric uses.
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>

namespace ff::http {

inline constexpr std::string_view problem_type = "application/problem+json";

std::string to_problem(const Error& error);

// Whatever a server (or something between it and us) answered with, as an error.
Error from_problem(unsigned status, std::string_view body);

}  // namespace ff::http
