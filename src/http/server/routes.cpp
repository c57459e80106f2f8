#include "http/server/routes.hpp"

#include <flowfabric/limits.hpp>

#include <vector>

#include <boost/beast/http/field.hpp>
#include <boost/url.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "http/server/webhooks.hpp"
#include "http/wire/json_parser.hpp"
#include "http/wire/openapi.hpp"
#include "http/wire/problem.hpp"

namespace ff::http {
namespace {

namespace urls = boost::urls;
using Field = beast::http::field;

constexpr std::string_view json_type = "application/json";

// A payload as base64, and room for tags and a policy beside it.
constexpr std::uint64_t request_bytes_max =
    base64_encoded_size(limits::payload_bytes_max) + 1024 * 1024;
constexpr std::uint64_t batch_bytes_max =
    base64_encoded_size(limits::batch_bytes_max) + 4 * 1024 * 1024;
constexpr std::uint64_t flow_bytes_max = base64_encoded_size(limits::flow_call_bytes_max) +
                                         8 * 1024 * 1024;  // names, edges and policies beside
constexpr std::uint64_t answer_bytes_max = 64 * 1024;      // of a waitpoint
constexpr std::uint64_t login_bytes_max = 4 * 1024;
constexpr std::uint64_t contract_signal_bytes_max = 256 * 1024;

template <class Op>
constexpr std::uint64_t body_bytes_max() {
  if (std::same_as<Op, AnswerWaitpoint>) return answer_bytes_max;
  if (std::same_as<Op, DeliverSignal>) return contract_signal_bytes_max;
  if (HasNodes<Op>) return flow_bytes_max;
  return Batched<Op> ? batch_bytes_max : request_bytes_max;
}

// The paths below this one hold a token.
constexpr std::string_view token_paths = "/v1/waitpoints/";
constexpr std::size_t path_shown_max = 256;

Response success(Bytes& bytes, const HttpRow::Words&) {
  const auto type =
      bytes.content_type ? std::string_view(bytes.content_type->str()) : unknown_content_type;
  return make_response(http_status(bytes), type, std::move(bytes.bytes));
}

Response json_response(Status status, const json::object& fields) {
  const bool empty = status == Status::no_content;
  return make_response(status, json_type, empty ? "" : json::serialize(fields));
}

template <class Reply>
Response success(Reply& reply, const HttpRow::Words& words) {
  FieldWriter fields;
  if (!words.usual.empty())
    fields.word("status", is_otherwise(reply) ? words.otherwise : words.usual);
  describe(fields, reply);
  return json_response(http_status(reply), fields.finish());
}

// The contract writes a variant without fields as its name alone.
Response success(ApplyEdgeReply& reply, const HttpRow::Words&) {
  const auto fields = to_fields(reply);
  return make_response(http_status(reply), json_type,
                       reply.duplicate ? json::serialize(json::value(fields.begin()->key()))
                                       : json::serialize(fields));
}

template <class Op>
bool checks_only(const Op& operation) {
  if constexpr (ChecksOnly<Op>)
    return operation.dry_run;
  else
    return false;
}

template <class Op>
Result<std::unique_ptr<EngineCall>> read_call(const RequestFields& fields) {
  auto call = std::make_unique<OperationCall<Op>>(Op{});
  FieldReader reader(fields.url, fields.body, {Source::json, fields.text});
  describe(reader, call->operation);
  FF_TRY(reader.finish());
  return call;
}

// Users' bytes have users' content types: a browser that is led to them must not run them as a page.
void forbid_display(Response& response) {
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Content-Security-Policy", "default-src 'none'; sandbox");
  response.set(Field::content_disposition, "attachment");
}

template <class Op>
Response respond(EngineCall& answered) {
  auto& call = *answered.get_if<Op>();
  auto& reply = *call.reply;
  if (!reply) return error_response(reply.error());
  const bool only_checked = checks_only(call.operation);
  auto response =
      success(*reply, only_checked ? HttpRow::Words{checked, checked} : endpoint<Op>.words);
  if (only_checked) response.result(Status::ok);
  if constexpr (std::same_as<Op, GetPayload> || std::same_as<Op, GetResult> ||
                std::same_as<Op, GetStep>)
    forbid_display(response);
  return response;
}

Response openapi_response(const RequestFields& fields) {
  if (auto none = FieldReader(fields.url, fields.body, Source::json).finish(); !none)
    return error_response(none.error());
  static const std::string document = json::serialize(openapi());
  return make_response(Status::ok, json_type, document);
}

template <class Op>
constexpr bool is_stream_op =
    std::same_as<Op, ReadAttemptStream> || std::same_as<Op, TailAttemptStream>;

template <class Op>
Route make_route() {
  constexpr bool submits = std::same_as<Op, Submit> || std::same_as<Op, SubmitMany>;
  constexpr bool for_outsiders = !token_header_path<Op>.empty();
  return {.endpoint = endpoint<Op>,
          .read = &read_call<Op>,
          .respond = &respond<Op>,
          .audience = for_outsiders ? Audience::token_holders : Audience::callers,
          .body_bytes_max = body_bytes_max<Op>(),
          .may_wait = Waiting<Op>,
          .is_stream_op = is_stream_op<Op>,
          .is_batch = Batched<Op>,
          .has_nodes = HasNodes<Op>,
          .is_audited = Op::row.is_audited,
          .has_secrets = has_secrets<Op>,
          .shows_payloads = shows_payloads<Op>,
          .takes_namespace = NamesNamespace<Op> || submits,
          .takes_key = std::same_as<Op, Submit> || std::same_as<Op, SendSignal> ||
                       std::same_as<Op, SubmitFlow>,
          .takes_trace = submits,
          .takes_ticket = TakesTicket<Op>,
          .sends_events = sends_events<Op>,
          .is_tail = std::same_as<Op, ReadStream> || std::same_as<Op, ReadFlowStream>,
          .raw_body_field = raw_body_field<Op>};
}

template <class Op>
void add_routes(std::vector<Route>& all) {
  auto route = make_route<Op>();
  all.push_back(route);
  route.endpoint.path = route.endpoint.alias;
  if (!route.endpoint.alias.empty()) all.push_back(route);
  route.endpoint.path = token_header_path<Op>;
  route.takes_token_header = true;
  if (!token_header_path<Op>.empty()) all.push_back(route);
}

template <class... Ops>
std::vector<Route> make_routes(OperationList<Ops...>) {
  std::vector<Route> all;
  (add_routes<Ops>(all), ...);
  all.push_back({.endpoint = openapi_endpoint});
  all.push_back({.endpoint = webhook_endpoint,
                 .audience = Audience::webhooks,
                 .body_bytes_max = webhook_bytes_max,
                 .is_audited = true});
  for (const auto& endpoint : {login_endpoint, logout_endpoint})
    all.push_back({.endpoint = endpoint,
                   .audience = Audience::logins,
                   .body_bytes_max = login_bytes_max,
                   .is_audited = true,
                   .has_secrets = true});
  for (const auto& page : pages())
    all.push_back({.endpoint = {Verb::get, page.path, Role::nobody, "A page for people"},
                   .audience = Audience::browsers,
                   .page = &page});
  return all;
}

// The parts of a path, decoded.
using Segments = std::vector<std::string>;

// True if `path` has the form of `pattern`. If `fields` are wanted, they get what stands for its {names}.
bool match_path(std::string_view pattern, const Segments& path, json::object* fields = nullptr) {
  auto segment = path.begin();
  pattern.remove_prefix(1);
  while (true) {
    const auto slash = pattern.find('/');
    const auto part = pattern.substr(0, slash);
    if (segment == path.end()) return false;
    const bool is_name = part.starts_with('{');
    if (!is_name && part != *segment) return false;
    if (is_name && fields) fields->emplace(part.substr(1, part.size() - 2), *segment);
    ++segment;
    if (slash == std::string_view::npos) return segment == path.end();
    pattern.remove_prefix(slash + 1);
  }
}

// Adds the parameters of the query to what the path said.
Result<void> add_query(json::object& fields, const urls::url_view& url) {
  for (const auto& parameter : url.params()) {
    if (parameter.key.empty() && parameter.value.empty()) continue;  // of "?" or "&&"
    if (!is_valid_utf8(parameter.key) || !is_valid_utf8(parameter.value))
      return fail_field(Errc::invalid_input, printable(parameter.key),
                        fmt::format("{} must be UTF-8, percent-encoded", printable(parameter.key)));
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

bool is_json(std::string_view content_type) {
  auto essence = content_type.substr(0, content_type.find(';'));
  while (essence.ends_with(' ')) essence.remove_suffix(1);
  return beast::iequals(essence, json_type) || essence.ends_with("+json");
}

Result<json::object> parse_body(const Route& route, Request& request) {
  const auto type = request[Field::content_type];
  if (request.body().empty() && (type.empty() || is_json(type))) return json::object{};
  if (is_json(type)) return parse_json_object(request.body());
  if (route.raw_body_field.empty())
    return fail(Errc::unsupported_media_type, "send the body as Content-Type: application/json");
  if (type.empty())
    return fail(Errc::unsupported_media_type,
                fmt::format("say what the body is: Content-Type: application/json for fields, any "
                            "other type if it is the {} itself",
                            route.raw_body_field));
  json::object body{{route.raw_body_field, std::exchange(request.body(), {})}};
  if (type != unknown_content_type) body["content_type"] = type;
  return body;
}

// Before its items are read: each takes more memory as an operation than as JSON.
Result<void> check_batch_size(const json::object& body) {
  const auto* items = body.if_contains("executions");
  if (!items || !items->is_array() || items->get_array().size() <= limits::batch_items_max)
    return {};
  return fail_field(Errc::invalid_input, "executions",
                    fmt::format("executions must be a list of 1 to {}, got {}",
                                limits::batch_items_max, items->get_array().size()));
}

// Likewise for the nodes of a flow and their edges.
Result<void> check_graph_size(const json::object& body) {
  const auto* nodes = body.if_contains("nodes");
  if (!nodes || !nodes->is_array()) return {};
  std::size_t edges = 0;
  for (const auto& node : nodes->get_array())
    if (const auto* after = node.is_object() ? node.get_object().if_contains("after") : nullptr)
      if (after->is_array()) edges += after->get_array().size();
  if (nodes->get_array().size() <= limits::flow_call_nodes_max &&
      edges <= limits::flow_call_edges_max)
    return {};
  return fail_field(Errc::flow_limit_exceeded, "nodes",
                    fmt::format("nodes has {} entries with {} dependencies, and one call takes at "
                                "most {} with {}; send them in several calls, of which the first "
                                "submits the flow with building set and the last seals it",
                                nodes->get_array().size(), edges, limits::flow_call_nodes_max,
                                limits::flow_call_edges_max));
}

// Fields of a submit, or of each one in a batch.
template <class Add>
void for_each_submit(const Route& route, RequestFields& fields, Add add) {
  if (!route.is_batch) return add(fields.body);
  auto* items = fields.body.if_contains("executions");
  if (!items || !items->is_array()) return;
  for (auto& item : items->get_array())
    if (item.is_object()) add(item.get_object());
}

// The token of a waitpoint in `Authorization: Waitpoint TOKEN`.
Result<std::string> read_token(const Request& request) {
  const std::string_view authorization = request[Field::authorization];
  const bool is_token = beast::iequals(authorization.substr(0, token_scheme.size()), token_scheme);
  if (is_token && authorization.size() > token_scheme.size())
    return std::string(authorization.substr(token_scheme.size()));
  return fail(Errc::missing_token,
              "send the token of the waitpoint as Authorization: Waitpoint TOKEN");
}

void add_if_absent(RequestFields& fields, json::object& body, std::string_view name,
                   std::string_view value) {
  if (!fields.url.contains(name)) body.emplace(name, value);
}

}  // namespace

std::span<const Route> routes() {
  static const auto table = make_routes(EngineOperations{});
  return table;
}

Result<Found> find_route(Verb method, std::string_view method_text, std::string_view raw_target) {
  const auto target = with_braces_encoded(raw_target);
  const auto url = urls::parse_origin_form(target);
  if (!url)
    return fail(Errc::route_not_found,
                fmt::format("'{}' is not a valid path", shown_path(raw_target)));

  Segments path;
  for (const auto& segment : url->segments()) path.emplace_back(segment);
  std::string allow;  // the methods that this path knows
  for (const auto& route : routes()) {
    if (!match_path(route.endpoint.path, path)) continue;
    const bool answers_head = route.endpoint.method == Verb::get;
    if (route.endpoint.method != method && !(answers_head && method == Verb::head)) {
      allow +=
          (allow.empty() ? "" : ", ") + std::string(beast::http::to_string(route.endpoint.method));
      if (answers_head) allow += ", HEAD";
      continue;
    }
    json::object fields;
    match_path(route.endpoint.path, path, &fields);
    FF_TRY(add_query(fields, *url));
    return Found{&route, std::move(fields)};
  }
  if (allow.empty())
    return fail(Errc::route_not_found,
                fmt::format("there is nothing at {}", shown_path(raw_target)));
  return fail(Errc::method_not_allowed,
              fmt::format("{} does not know the method {}, only {}", shown_path(raw_target),
                          printable(method_text), allow),
              {{"allow", allow}});
}

Result<RequestFields> read_fields(Found found, Request request,
                                  const std::optional<Namespace>& default_ns) {
  const auto& route = *found.route;
  const std::string key(request["Idempotency-Key"]);
  Result<std::string> token = std::string{};
  if (route.takes_token_header) token = read_token(request);
  FF_TRY(token);
  const auto trace = TraceParent::parse(std::string(request["traceparent"]));
  auto body = parse_body(route, request);
  FF_TRY(body);
  if (route.is_batch) FF_TRY(check_batch_size(*body));
  if (route.has_nodes) FF_TRY(check_graph_size(*body));
  RequestFields fields{.url = std::move(found.url_fields),
                       .body = std::move(*body),
                       .text = std::move(request.body())};
  if (!token->empty() && !fields.url.emplace("token", std::move(*token)).second)
    return fail_field(Errc::invalid_input, "token", "token is given twice, in URL and header");

  if (!key.empty() && !route.takes_key)
    return fail_field(
        Errc::invalid_input, "Idempotency-Key",
        "the header Idempotency-Key belongs to submits and signals; elsewhere, repeat "
        "with the same ids");
  if (!key.empty()) {
    const auto* in_body = fields.body.if_contains("idempotency_key");
    if (in_body && !in_body->is_null() && *in_body != json::value(key))
      return fail_field(Errc::invalid_input, "idempotency_key",
                        "idempotency_key is given twice, as the header Idempotency-Key and in the "
                        "body, with different values");
    if (!fields.url.emplace("idempotency_key", key).second)
      return fail_field(Errc::invalid_input, "idempotency_key",
                        "idempotency_key is given twice, in the URL and as a header");
  }
  // A trace that is malformed is left alone, as its standard asks.
  if (trace && route.takes_trace)
    for_each_submit(route, fields, [&](json::object& submit) {
      add_if_absent(fields, submit, "traceparent", trace->str());
    });
  if (default_ns && route.takes_namespace)
    for_each_submit(route, fields, [&](json::object& submit) {
      add_if_absent(fields, submit, "namespace", default_ns->str());
    });
  return fields;
}

std::string shown_path(std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  const auto encoded = urls::make_pct_string_view(path);
  const auto decoded = encoded ? encoded->decode() : std::string(path);
  // Also on a path that is none of ours, what looks like a token is not shown.
  const auto token = std::min(decoded.find("ffw1."), decoded.find("fft1."));
  if (token != std::string::npos) return printable(decoded.substr(0, token), path_shown_max) + "…";
  const auto at = decoded.find(token_paths);
  if (at == std::string::npos) return printable(path, path_shown_max);
  return printable(decoded.substr(0, at + token_paths.size()), path_shown_max) + "…";
}

namespace {

// Two operations have one path if the published contract has it, too: its body names the flow, or its policy.
const Route& by_body(const Route& found, RequestFields& fields) {
  if (!fields.body.contains("flow_id") && !fields.body.contains("cancellation_policy"))
    return found;
  std::string path(found.endpoint.path);
  if (const auto at = path.find("{id}"); at != path.npos) path.replace(at, 4, "{flow_id}");
  const auto is_other = [&](const Route& other) {
    return &other != &found && other.endpoint.method == found.endpoint.method &&
           other.endpoint.path == path;
  };
  const auto other = std::ranges::find_if(routes(), is_other);
  if (other == routes().end()) return found;
  if (const auto* id = fields.url.if_contains("id")) {
    auto flow_id = *id;
    fields.url.erase("id");
    fields.url["flow_id"] = std::move(flow_id);
  }
  return *other;
}

// Clients such as curl send JSON under another type unless they are told its own.
Error with_hint(Error error, const Route& route, const RequestFields& fields) {
  const bool is_raw = !route.raw_body_field.empty() && fields.text.empty() &&
                      fields.body.contains(route.raw_body_field);
  if (is_raw && (error.code == Errc::fence_required || error.message.ends_with(" is missing")))
    error.message += fmt::format(
        "; the body was taken for the {} itself, as its Content-Type is not JSON: send fields as "
        "Content-Type: application/json",
        route.raw_body_field);
  return error;
}

}  // namespace

asio::awaitable<Response> run(const Route& found, Engine& engine, RequestFields fields,
                              const Caller* caller) {
  const Route& route = by_body(found, fields);
  if (route.page) co_return page_response(*route.page);
  if (!route.read) co_return openapi_response(fields);
  const auto call = route.read(fields);
  if (!call) co_return error_response(with_hint(call.error(), route, fields));
  fields = {};  // the operation may wait long
  (*call)->caller = caller;
  co_await engine.perform(**call);
  co_return route.respond(**call);
}

Response make_response(Status status, std::string_view type, std::string body) {
  Response response{status, 11};
  if (status != Status::no_content) response.set(Field::content_type, type);
  response.body() = std::move(body);
  return response;
}

Response status_response(std::string_view word) {
  return json_response(Status::ok, {{"status", word}});
}

Result<std::string> read_login(const Request& request) {
  const std::string_view header = request[Field::authorization];
  Login login;
  if (!request.body().empty()) {
    if (!is_json(request[Field::content_type]))
      return fail(Errc::unsupported_media_type, "send the body as Content-Type: application/json");
    const auto body = parse_json_object(request.body());
    FF_TRY(body);
    auto read = from_fields<Login>({}, *body, Source::json);
    FF_TRY(read);
    login = std::move(*read);
  }
  if (login.token && !header.empty())
    return fail_field(Errc::invalid_input, "token", "token is given twice, in a header and in the body");
  return login.token ? "Bearer " + *login.token : std::string(header);
}

Response login_response(const Caller& caller) {
  Identity identity{.name = caller.name,
                    .roles = caller.roles,
                    .ns = caller.ns,
                    .expires_at = caller.expires_at,
                    .sees_payloads = caller.sees_payloads,
                    .needs_token = caller.needs_token,
                    .csrf_token = caller.csrf_token};
  FieldWriter fields;
  fields.word("status", "logged_in");
  describe(fields, identity);
  return json_response(Status::ok, fields.finish());
}

Response error_response(const Error& error) {
  const auto status = static_cast<Status>(info(error.code).http_status);
  auto response = make_response(status, problem_type, json::serialize(to_problem(error)));
  for (const auto& detail : error.details)
    if (detail.name == "allow") response.set(Field::allow, detail.value);
  if (status == Status::unauthorized) response.set(Field::www_authenticate, "Bearer");
  if (status == Status::too_many_requests || status == Status::service_unavailable)
    response.set(Field::retry_after, "1");
  return response;
}

}  // namespace ff::http
