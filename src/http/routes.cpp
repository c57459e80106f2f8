#include "http/routes.hpp"

#include <array>
#include <vector>

#include <boost/beast/http/field.hpp>
#include <boost/url.hpp>

#include "base/utf8.hpp"
#include "http/problem.hpp"

namespace ff::http {
namespace {

namespace urls = boost::urls;
using Field = beast::http::field;

Response make_response(Status status, std::string_view type, std::string body) {
  Response response{status, 11};
  response.set(Field::content_type, type);
  response.body() = std::move(body);
  return response;
}

template <class Reply>
Response success(Reply reply) {
  if constexpr (is_raw_body<Reply>)
    return make_response(
        reply.absent ? Status::no_content : Status::ok,
        reply.content_type ? std::string_view(reply.content_type->str()) : unknown_content_type,
        std::move(reply.bytes));
  else
    return make_response(status_of(reply), "application/json", json::serialize(to_fields(reply)));
}

template <class Op>
asio::awaitable<Response> run(Engine& engine, RequestFields fields) {
  auto operation = from_fields<Op>(std::move(fields));
  if (!operation) co_return error_response(operation.error());
  auto reply = co_await engine.run(std::move(*operation));
  if (!reply) co_return error_response(reply.error());
  co_return success(std::move(*reply));
}

template <class... Ops>
std::array<Route, sizeof...(Ops)> make_routes(OperationList<Ops...>) {
  return {Route{endpoint<Ops>, Waiting<Ops>, &run<Ops>}...};
}

// True if `path` has the form of `pattern`; then `fields` holds what stands for its {names}.
bool match_path(std::string_view pattern, const urls::segments_view& path, json::object& fields) {
  auto segment = path.begin();
  pattern.remove_prefix(1);
  while (true) {
    const auto slash = pattern.find('/');
    const auto part = pattern.substr(0, slash);
    if (segment == path.end()) return false;
    const std::string given(*segment++);
    if (part.starts_with('{'))
      fields[part.substr(1, part.size() - 2)] = given;
    else if (part != given)
      return false;
    if (slash == std::string_view::npos) return segment == path.end();
    pattern.remove_prefix(slash + 1);
  }
}

bool is_json(std::string_view content_type) {
  auto essence = content_type.substr(0, content_type.find(';'));
  while (essence.ends_with(' ')) essence.remove_suffix(1);
  return beast::iequals(essence, "application/json") || essence.ends_with("+json");
}

Result<json::object> parse_body(const Request& request) {
  if (request.body().empty()) return json::object{};
  if (!is_json(request[Field::content_type]))
    return fail(Errc::unsupported_media_type, "send the body as Content-Type: application/json");
  boost::system::error_code malformed;
  auto body = json::parse(request.body(), malformed);
  if (malformed)
    return fail(Errc::invalid_json,
                fmt::format("the body is not valid JSON: {}", malformed.message()));
  if (!body.is_object()) return fail(Errc::invalid_json, "the body must be a JSON object");
  return std::move(body.get_object());
}

// Adds the parameters of the query to what the path said.
Result<void> add_query(json::object& fields, const urls::url_view& url) {
  for (const auto& parameter : url.params()) {
    const auto [present, added] =
        fields.emplace(std::string(parameter.key), std::string(parameter.value));
    if (!added)
      return fail_field(Errc::invalid_input, printable(parameter.key),
                        fmt::format("{} is given twice in the URL", printable(parameter.key)));
  }
  return {};
}

// Execution ids hold braces, which a strict parser refuses; people and scripts write them plainly.
std::string with_braces_encoded(std::string_view target) {
  std::string encoded;
  for (const char c : target) {
    if (c == '{')
      encoded += "%7B";
    else if (c == '}')
      encoded += "%7D";
    else
      encoded += c;
  }
  return encoded;
}

}  // namespace

std::span<const Route> routes() {
  static const auto table = make_routes(EngineOperations{});
  return table;
}

Result<Match> match(const Request& request) {
  const auto target = with_braces_encoded(request.target());
  const auto shown = printable(request.target());
  const auto url = urls::parse_origin_form(target);
  if (!url) return fail(Errc::route_not_found, fmt::format("'{}' is not a valid path", shown));

  std::string allow;  // the methods that this path knows
  for (const auto& route : routes()) {
    RequestFields fields;
    if (!match_path(route.endpoint.path, url->segments(), fields.url)) continue;
    if (route.endpoint.method != request.method()) {
      allow +=
          (allow.empty() ? "" : ", ") + std::string(beast::http::to_string(route.endpoint.method));
      continue;
    }
    if (auto added = add_query(fields.url, *url); !added) return std::unexpected(added.error());
    auto body = parse_body(request);
    if (!body) return std::unexpected(body.error());
    fields.body = std::move(*body);
    return Match{&route, std::move(fields)};
  }
  if (allow.empty())
    return fail(Errc::route_not_found, fmt::format("there is nothing at {}", shown));
  return fail(Errc::method_not_allowed,
              fmt::format("{} does not know the method {}, only {}", shown,
                          printable(request.method_string()), allow),
              {{"allow", allow}});
}

asio::awaitable<Response> respond(Engine& engine, Result<Match> matched) {
  if (!matched) co_return error_response(matched.error());
  co_return co_await matched->route->run(engine, std::move(matched->fields));
}

Response error_response(const Error& error) {
  auto response = make_response(static_cast<Status>(info(error.code).http_status), problem_type,
                                json::serialize(to_problem(error)));
  for (const auto& detail : error.details)
    if (detail.name == "allow") response.set(Field::allow, detail.value);
  return response;
}

}  // namespace ff::http
