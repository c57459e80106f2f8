#include "http/wire/problem.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff::http {

namespace json = boost::json;

namespace {

Error unexplained(unsigned status, std::string_view body) {
  // From something between us and the server, most likely: it may go away.
  const bool passing = status == 502 || status == 503 || status == 504;
  return {passing ? Errc::unreachable : Errc::malformed_response,
          fmt::format("the server answered with status {} and no explanation: {}", status,
                      printable(body))};
}

json::value to_json(const Error::Detail& detail) {
  std::uint64_t number = 0;
  const auto* end = detail.value.data() + detail.value.size();
  if (detail.is_number && std::from_chars(detail.value.data(), end, number).ptr == end)
    return number;
  return json::string(detail.value);
}

}  // namespace

json::object to_problem(const Error& error) {
  json::object problem{{"title", error.name()},
                       {"status", info(error.code).http_status},
                       {"code", error.name()},
                       {"detail", error.message},
                       {"retryable", error.retryable()}};
  for (const auto& detail : error.details) problem.emplace(detail.name, to_json(detail));
  return problem;
}

Error from_problem(unsigned status, std::string_view body) {
  boost::system::error_code malformed;
  const auto parsed = json::parse(body, malformed);
  if (malformed || !parsed.is_object()) return unexplained(status, body);
  auto error = from_problem(parsed.get_object());
  return error ? std::move(*error) : unexplained(status, body);
}

std::optional<Error> from_problem(const json::object& problem) {
  const auto text = [&](std::string_view name) -> std::string {
    const auto* value = problem.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : "";
  };
  const auto code = errc_from_name(text("code"));
  if (!code) return std::nullopt;
  Error error{*code, text("detail")};
  for (const auto& field : problem) {
    const std::string_view name = field.key();
    const bool own = name == "title" || name == "status" || name == "code" || name == "detail" ||
                     name == "retryable";
    if (own) continue;
    if (field.value().is_string())
      error.details.push_back({std::string(name), std::string(field.value().get_string())});
    else if (field.value().is_number())
      error.details.push_back({std::string(name), json::serialize(field.value()), true});
  }
  return error;
}

}  // namespace ff::http
