#include "http/wire/openapi.hpp"

#include <array>

#include "base/version.hpp"
#include "http/server/streams/event_stream.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/problem.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

constexpr std::string_view json_type = "application/json";

// An operation as the document sees it.
struct Operation {
  std::size_t index;  // in EngineOperations
  Endpoint at;
  std::string name;
  std::string reply_name;
  void (*describe_request)(Fields&);
  void (*describe_reply)(Fields&);  // null: the reply is bytes
  std::string_view raw_body_field;
  std::string_view token_header_path;
  bool creates;
  bool waits;
  bool checks_only;
  bool names_namespace;

  template <class... Ops>
  bool is() const {
    return ((index == index_of<EngineOperations, Ops>) || ...);
  }
};

template <class Op>
Operation make_operation() {
  using Reply = typename Op::Reply;
  Operation made{.index = index_of<EngineOperations, Op>,
                 .at = endpoint<Op>,
                 .name = name_of(typeid(Op)),
                 .reply_name = name_of(typeid(Reply)),
                 .describe_request = &describe_default<Op>,
                 .describe_reply = nullptr,
                 .raw_body_field = raw_body_field<Op>,
                 .token_header_path = token_header_path<Op>,
                 .creates = Creates<Reply> && !std::same_as<Op, ApplyEdge>,
                 .waits = Waiting<Op>,
                 .checks_only = ChecksOnly<Op>,
                 .names_namespace = NamesNamespace<Op>};
  if constexpr (!is_raw_body<Reply>) made.describe_reply = &describe_default<Reply>;
  return made;
}

// True if the operation can be answered with 409.
bool may_conflict(const Operation& op) {
  return op.is<Submit, GetResult, Backup, CreateBudget, CreateQuota, ReportUsage, AnswerWaitpoint,
               DeliverSignal, RotateWaitpointSecret, SubmitFlow, StartBulk, StopBulk>() ||
         (op.at.path.starts_with("/v1/flows/{") && op.at.method != Verb::get) ||
         (op.at.path.starts_with("/v1/executions/{id}/") && op.at.method != Verb::get &&
          !op.is<SetTags, CloseWaitpoint, CreateStreamTicket>());
}

// True if the operation can be answered with 410: its waitpoint is closed.
bool may_be_over(const Operation& op) {
  return op.is<ReadWaitpoint, AnswerWaitpoint, SendSignal, DeliverSignal, GetWaitpointTokens>();
}

// The description of a 404 answer; empty if the operation has none.
std::string_view may_be_missing(const Operation& op) {
  if (op.is<ReadWaitpoint, AnswerWaitpoint>()) return "the token is not valid";
  if (op.is<CloseWaitpoint, GetWaitpointTokens>()) return "there is no such execution or waitpoint";
  if (op.is<GetStep>()) return "there is no such execution or step";
  if (op.at.path.starts_with("/v1/executions/{")) return "there is no such execution";
  if (op.is<Submit, RedriveFlow, ExtendFlow, SubmitFlow>()) return "there is no such flow or node";
  if (op.is<AddFlowMember>()) return "there is no such flow or execution";
  if (op.at.path.starts_with("/v1/flows/{")) return "there is no such flow";
  if (op.at.path.starts_with("/v1/budgets/{id}")) return "there is no such budget";
  if (op.at.path.starts_with("/v1/quotas/{id}")) return "there is no such quota";
  if (op.at.path.starts_with("/v1/bulks/{id}")) return "there is no such bulk job";
  if (op.is<PutSchedule>()) return "there is no such budget or quota";
  if (op.at.path.starts_with("/v1/schedules/{")) return "there is no such schedule";
  if (op.is<GetWorker, HeartbeatWorker, DrainWorker>()) return "there is no such worker";
  return "";
}

// Whether some token that may read is refused.
bool may_be_denied(const Operation& op) {
  return op.at.role > Role::read || op.names_namespace || op.is<GetMetrics>();
}

struct Tag {
  std::string_view name;
  std::string_view description;
};
constexpr std::array tags{
    Tag{"Health", "Whether the server works."},
    Tag{"Outsiders", "Answers with the token of a waitpoint, and no other."},
    Tag{"Reading",
        "Executions, flows, events, budgets, quotas, bulk jobs, schedules and workers; role read."},
    Tag{"Submitting and changing",
        "New executions and flows, and changes to those there are; role submit."},
    Tag{"Working", "Claims, leases, results and usage; role work."},
    Tag{"Operating", "Budgets, quotas, bulk jobs, schedules, drains, revocations and backups; role admin."},
};

// The OpenAPI tag for the operations of a role.
std::string_view tag_of(Role role) {
  switch (role) {
    case Role::nobody: return tags[0].name;
    case Role::read: return tags[2].name;
    case Role::submit: return tags[3].name;
    case Role::work: return tags[4].name;
    case Role::admin: return tags[5].name;
  }
  return "";
}

json::object content(std::string_view type, json::object schema) {
  return {{type, json::object{{"schema", std::move(schema)}}}};
}

json::object problem(std::string_view what) {
  return {{"description", what}, {"content", content(problem_type, reference("Problem"))}};
}

json::object problem_schema() {
  json::object properties;
  const auto add = [&](std::string_view name, std::string_view type) {
    properties[name] = described("Problem", name, type_schema(type));
  };
  for (const auto* text : {"title", "code", "detail", "field"}) add(text, "string");
  add("status", "integer");
  add("retryable", "boolean");
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", json::array{"title", "status", "code", "detail", "retryable"}}};
}

// The words that a reply can have. A check creates nothing.
std::vector<std::string_view> words_of(const Operation& op, Status status) {
  const auto& words = op.at.words;
  if (op.checks_only && op.creates && status == Status::created) return {words.usual};
  if (op.checks_only) return {op.creates ? words.otherwise : words.usual, checked};
  if (words.otherwise.empty()) return {words.usual};
  return {words.usual, words.otherwise};
}

// The schema of a reply, with its status word.
json::object reply_schema(const Operation& op, Status status, NamedSchemas& named) {
  const auto& words = op.at.words;
  if (words.usual.empty()) return named_schema(named, op.reply_name, op.describe_reply);
  SchemaWriter fields(named, op.reply_name);
  fields.words("status", words_of(op, status));
  op.describe_reply(fields);
  return fields.finish();
}

json::object success(const Operation& op, Status status, NamedSchemas& named) {
  if (op.is<GetMetrics>())
    return {{"description", "Prometheus' text"},
            {"content", content("text/plain", type_schema("string"))}};
  if (!op.describe_reply)
    return {{"description", "the bytes, with the content type they were given"},
            {"content", content("*/*", json::object{})}};
  auto types = content(json_type, reply_schema(op, status, named));
  if (op.is<ReadEvents, ReadStream, ReadFlowStream>()) types[event_stream_type] = {{"schema", type_schema("string")}};
  return {{"description", "done"}, {"content", std::move(types)}};
}

json::object responses(const Operation& op, NamedSchemas& named) {
  json::object all;
  const bool always_creates = op.is<StageEdge>();
  if (always_creates) all["201"] = success(op, Status::created, named);
  if (!always_creates) all["200"] = success(op, Status::ok, named);
  if (op.creates) all["201"] = success(op, Status::created, named);
  if (op.is<Grant>()) all["204"] = {{"description", "nothing to do"}};
  if (op.is<GetResult>()) all["204"] = {{"description", "it completed without a result"}};
  all["400"] = problem("a field is wrong, missing or unknown");
  if (op.at.role != Role::nobody) {
    all["401"] = problem("no valid token");
    if (may_be_denied(op)) all["403"] = problem("the token does not allow this");
  }
  if (const auto missing = may_be_missing(op); !missing.empty()) all["404"] = problem(missing);
  if (may_conflict(op)) all["409"] = problem("its state does not allow this");
  if (may_be_over(op)) all["410"] = problem("the waitpoint is closed");
  if (has_body(op.at.method)) {
    all["413"] = problem("the body is too large");
    all["415"] = problem("the body has a content type that is not known here");
  }
  if (op.waits) all["429"] = problem("too many requests wait already");
  if (!op.token_header_path.empty()) all["429"] = problem("too many requests from this address");
  if (op.is<Health, CheckReady>()) all["503"] = problem("it cannot, or not yet");
  all["default"] = problem("anything else");
  return all;
}

json::object parameter(std::string_view name, std::string_view in, bool required,
                       json::object schema) {
  json::object made{{"name", name}, {"in", in}, {"required", required}};
  if (const auto* text = schema.if_contains("description")) made["description"] = *text;
  made["schema"] = std::move(schema);
  return made;
}

json::object operation(const Operation& op, NamedSchemas& named) {
  const auto& at = op.at;
  const bool has_token_header = at.path == op.token_header_path;
  SchemaWriter writer(named, op.name);
  op.describe_request(writer);
  auto fields = writer.finish();
  auto& properties = fields.at("properties").get_object();
  if (has_token_header) properties.erase("token");
  const auto is_required = [&](std::string_view name) {
    const auto* required = fields.if_contains("required");
    return required && std::ranges::find(required->get_array(), json::value(name)) !=
                           required->get_array().end();
  };

  json::array parameters;
  json::object body = fields;
  auto& body_properties = body.at("properties").get_object();
  for (const auto& field : properties) {
    const std::string_view name = field.key();
    const bool in_path = at.path.find(fmt::format("{{{}}}", name)) != at.path.npos;
    if (!in_path && has_body(at.method)) continue;
    parameters.push_back(parameter(name, in_path ? "path" : "query", in_path || is_required(name),
                                   field.value().get_object()));
    body_properties.erase(name);
  }
  json::array still_required;
  for (const auto& field : body_properties)
    if (is_required(field.key())) still_required.emplace_back(field.key());
  body.erase("required");
  if (!still_required.empty()) body["required"] = std::move(still_required);
  body["additionalProperties"] = false;

  const auto tag = op.token_header_path.empty() ? tag_of(at.role) : tags[1].name;
  json::object described{
      {"operationId", op.name}, {"summary", at.summary}, {"tags", json::array{tag}}};
  if (op.is<SubmitFlow>())
    described["description"] =
        "With flow_id in the body, it makes an open flow, as the published contract has it: fields "
        "flow_id, flow_kind, namespace and now; reply {\"Created\": {\"flow_id\"}}, or AlreadySatisfied.";
  if (op.is<CancelFlow>())
    described["description"] =
        "With flow_id in the body, it is the published contract's call: fields flow_id, reason, "
        "cancellation_policy and now, and wait=true in the query; reply Cancelled, CancellationScheduled or "
        "PartiallyCancelled.";
  if (op.is<Submit, SendSignal, SubmitFlow>())
    parameters.push_back(
        parameter("Idempotency-Key", "header", false, Codec<IdempotencyKey>::schema(named)));
  if (op.is<Submit, SubmitMany>())
    parameters.push_back(
        parameter("traceparent", "header", false, Codec<TraceParent>::schema(named)));
  if (op.is<ReadEvents, ReadStream, ReadFlowStream>())
    parameters.push_back(parameter("Last-Event-ID", "header", false, type_schema("string")));
  if (!parameters.empty()) described["parameters"] = std::move(parameters);
  if (has_body(at.method)) {
    auto types = content(json_type, std::move(body));
    json::object request_body;
    if (!op.raw_body_field.empty()) {
      types["*/*"] = {{"schema", json::object{}}};
      request_body["description"] = fmt::format(
          "The fields as JSON; or, with any other content type, the {} itself, and "
          "the other fields in the query.",
          op.raw_body_field);
    }
    request_body["content"] = std::move(types);
    described["requestBody"] = std::move(request_body);
  }
  described["responses"] = responses(op, named);
  if (has_token_header)
    described["security"] = json::array{json::object{{"waitpoint", json::array{}}}};
  else if (at.role == Role::nobody)
    described["security"] = json::array{};
  else
    described["x-role"] = to_string(at.role);
  return described;
}

std::string method_name(Verb method) {
  std::string name(beast::http::to_string(method));
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

json::object& at_path(json::object& paths, std::string_view path) {
  return paths.emplace(path, json::object{}).first->value().get_object();
}

template <class... Ops>
std::vector<Operation> make_operations(OperationList<Ops...>) {
  return {make_operation<Ops>()...};
}

// The server's own, which are no operations of an engine.
json::object login(NamedSchemas& named) {
  Identity identity;
  SchemaWriter fields(named, "Login");
  fields.constant("status", "logged_in");
  describe(fields, identity);
  named["Login"] = fields.finish();
  const json::object token{{"type", "object"},
                           {"properties", json::object{{"token", type_schema("string")}}},
                           {"additionalProperties", false}};
  return {{"operationId", "LogIn"},
          {"summary", login_endpoint.summary},
          {"description",
           "The token is in the header Authorization or in the body. The reply sets an HttpOnly cookie; its csrf_token "
           "is to be sent as X-CSRF-Token with each request that changes something."},
          {"tags", json::array{tag_of(login_endpoint.role)}},
          {"security", json::array{json::object{{"bearer", json::array{}}}, json::object{}}},
          {"requestBody", json::object{{"content", content(json_type, token)}}},
          {"responses",
           json::object{{"200", json::object{{"description", "a login session"},
                                             {"content", content(json_type, reference("Login"))}}},
                        {"400", problem("the body is not such an object, or the server has no tokens")},
                        {"401", problem("no valid token")},
                        {"413", problem("the body is too large")},
                        {"415", problem("the body is not JSON")},
                        {"429", problem("too many logins")},
                        {"default", problem("anything else")}}},
          {"x-role", to_string(login_endpoint.role)}};
}

json::object logout() {
  return {{"operationId", "LogOut"},
          {"summary", logout_endpoint.summary},
          {"tags", json::array{tag_of(logout_endpoint.role)}},
          {"security", json::array{json::object{}}},
          {"responses",
           json::object{{"200", json::object{{"description", "the session is over"},
                                             {"content", content(json_type, type_schema("object"))}}},
                        {"403", problem("no CSRF token, or a page of another origin")},
                        {"default", problem("anything else")}}},
          {"x-role", to_string(logout_endpoint.role)}};
}

json::object paths(NamedSchemas& named) {
  json::object all;
  for (auto op : make_operations(EngineOperations{})) {
    if (op.is<OpenFlow, CancelMembers>()) continue;  // at the paths of SubmitFlow and CancelFlow
    const auto method = method_name(op.at.method);
    at_path(all, op.at.path)[method] = operation(op, named);
    if (!op.token_header_path.empty()) {
      const auto with_token = std::exchange(op.at.path, op.token_header_path);
      auto by_header = operation(op, named);
      by_header["operationId"] = op.name + "ByHeader";
      by_header["description"] =
          fmt::format("The same as {}, with a token that no log of URLs has.", with_token);
      at_path(all, op.at.path)[method] = std::move(by_header);
    }
    if (op.at.alias.empty()) continue;
    const auto same_as = std::exchange(op.at.path, op.at.alias);
    auto alias = operation(op, named);
    alias["operationId"] = op.name + "Alias";
    alias["description"] = fmt::format("The same as {}.", same_as);
    alias["deprecated"] = true;
    at_path(all, op.at.path)[method] = std::move(alias);
  }
  at_path(all, openapi_endpoint.path)["get"] = {
      {"operationId", "GetOpenApi"},
      {"summary", openapi_endpoint.summary},
      {"tags", json::array{tag_of(openapi_endpoint.role)}},
      {"responses",
       json::object{{"200", json::object{{"description", "this document"},
                                         {"content", content(json_type, json::object{})}}},
                    {"400", problem("a field is unknown")},
                    {"401", problem("no valid token")},
                    {"default", problem("anything else")}}},
      {"x-role", to_string(openapi_endpoint.role)}};
  at_path(all, login_endpoint.path)["post"] = login(named);
  at_path(all, logout_endpoint.path)["post"] = logout();
  return all;
}

}  // namespace

json::object openapi() {
  NamedSchemas named{{"Problem", problem_schema()}};
  auto all_paths = paths(named);
  json::object schemas;
  for (auto& [name, schema] : named) schemas[name] = std::move(schema);
  json::array all_tags;
  for (const auto& tag : tags)
    all_tags.push_back({{"name", tag.name}, {"description", tag.description}});
  return {
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "FlowFabric"},
                            {"version", version},
                            {"description",
                             "A durable execution engine. Times are milliseconds since the "
                             "Unix epoch; in requests also RFC 3339 text. Fields that are not "
                             "described are refused."},
                            {"license",
                             json::object{{"name", "Apache 2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers",
       json::array{json::object{{"url", "/"}, {"description", "The server of this document"}}}},
      {"tags", std::move(all_tags)},
      {"security", json::array{json::object{{"bearer", json::array{}}}}},
      {"paths", std::move(all_paths)},
      {"components",
       json::object{{"securitySchemes",
                     json::object{{"bearer", json::object{{"type", "http"}, {"scheme", "bearer"}}},
                                  {"waitpoint", json::object{{"type", "apiKey"},
                                                             {"in", "header"},
                                                             {"name", "Authorization"},
                                                             {"description", "Waitpoint TOKEN"}}}}},
                    {"schemas", std::move(schemas)}}}};
}

}  // namespace ff::http
