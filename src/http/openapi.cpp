#include "http/openapi.hpp"

#include "base/version.hpp"
#include "http/event_stream.hpp"
#include "http/problem.hpp"
#include "http/schema.hpp"

namespace ff::http {
namespace {

constexpr std::string_view json_type = "application/json";

// What an operation can be refused with, beside what any request can.
template <class Op>
constexpr bool may_conflict = std::same_as<Op, Submit> || std::same_as<Op, GetResult> ||
                              std::same_as<Op, Backup> || std::same_as<Op, CreateBudget> ||
                              std::same_as<Op, CreateQuota> || std::same_as<Op, ReportUsage> ||
                              (endpoint<Op>.path.starts_with("/v1/executions/{id}/") &&
                               endpoint<Op>.method != Verb::get && !std::same_as<Op, SetTags>);

// What is not there if the answer is 404; empty if it cannot be.
template <class Op>
constexpr std::string_view may_be_missing() {
  constexpr auto path = endpoint<Op>.path;
  if (path.starts_with("/v1/executions/{id}")) return "there is no such execution";
  if (path.starts_with("/v1/budgets/{id}")) return "there is no such budget";
  if (path.starts_with("/v1/quotas/{id}")) return "there is no such quota";
  if (std::same_as<Op, GetWorker> || std::same_as<Op, HeartbeatWorker> ||
      std::same_as<Op, DrainWorker>)
    return "there is no such worker";
  return "";
}

// Whether some token that may read is refused.
template <class Op>
constexpr bool may_be_denied =
    endpoint<Op>.role > Role::read || NamesNamespace<Op> || std::same_as<Op, GetMetrics>;

// What the operations of a role are for.
std::string_view tag_of(Role role) {
  switch (role) {
    case Role::nobody: return "Health";
    case Role::read: return "Reading";
    case Role::submit: return "Submitting and changing";
    case Role::work: return "Working";
    case Role::admin: return "Operating";
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

// The schema of a reply, with its status word.
template <class Op>
json::object reply_schema(NamedSchemas& named) {
  using Reply = typename Op::Reply;
  if constexpr (endpoint<Op>.words.usual.empty()) {
    return schema_of<Reply>(named);
  } else {
    SchemaWriter fields(named, name_of<Reply>());
    fields.word("status", endpoint<Op>.words);
    Reply reply;
    describe(fields, reply);
    return fields.finish();
  }
}

template <class Op>
json::object success(NamedSchemas& named) {
  using Reply = typename Op::Reply;
  if constexpr (std::same_as<Op, GetMetrics>)
    return {{"description", "Prometheus' text"},
            {"content", content("text/plain", type_schema("string"))}};
  if constexpr (is_raw_body<Reply>) {
    return {{"description", "the bytes, with the content type they were given"},
            {"content", content("*/*", json::object{})}};
  } else {
    auto types = content(json_type, reply_schema<Op>(named));
    if (std::same_as<Op, ReadEvents>)
      types[event_stream_type] = {{"schema", type_schema("string")}};
    return {{"description", "done"}, {"content", std::move(types)}};
  }
}

template <class Op>
json::object responses(NamedSchemas& named) {
  constexpr auto& at = endpoint<Op>;
  json::object all;
  all["200"] = success<Op>(named);
  if (Creates<typename Op::Reply>) all["201"] = success<Op>(named);
  if (std::same_as<Op, Grant>) all["204"] = {{"description", "nothing to do"}};
  if (std::same_as<Op, GetResult>) all["204"] = {{"description", "it completed without a result"}};
  all["400"] = problem("a field is wrong, missing or unknown");
  if (at.role != Role::nobody) {
    all["401"] = problem("no valid token");
    if (may_be_denied<Op>) all["403"] = problem("the token does not allow this");
  }
  if (constexpr auto missing = may_be_missing<Op>(); !missing.empty())
    all["404"] = problem(missing);
  if (may_conflict<Op>) all["409"] = problem("its state does not allow this");
  if (has_body(at.method)) {
    all["413"] = problem("the body is too large");
    all["415"] = problem("the body has a content type that is not known here");
  }
  if (Waiting<Op>) all["429"] = problem("too many requests wait already");
  if (std::same_as<Op, Health> || std::same_as<Op, CheckReady>)
    all["503"] = problem("it cannot, or not yet");
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

template <class Op>
json::object operation(NamedSchemas& named) {
  constexpr auto& at = endpoint<Op>;
  SchemaWriter writer(named, name_of<Op>());
  Op op;
  describe(writer, op);
  auto fields = writer.finish();
  auto& properties = fields.at("properties").get_object();
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

  json::object described{{"operationId", name_of<Op>()},
                         {"summary", at.summary},
                         {"tags", json::array{tag_of(at.role)}}};
  if (std::same_as<Op, Submit>)
    parameters.push_back(
        parameter("Idempotency-Key", "header", false, schema_of<IdempotencyKey>(named)));
  if (std::same_as<Op, Submit> || std::same_as<Op, SubmitMany>)
    parameters.push_back(parameter("traceparent", "header", false, schema_of<TraceParent>(named)));
  if (std::same_as<Op, ReadEvents>)
    parameters.push_back(parameter("Last-Event-ID", "header", false, type_schema("string")));
  if (!parameters.empty()) described["parameters"] = std::move(parameters);
  if (has_body(at.method)) {
    auto types = content(json_type, std::move(body));
    if (!raw_body_field<Op>.empty())
      types["*/*"] = {{"schema", json::object{}},
                      {"description", fmt::format("the {} itself; other fields in the query",
                                                  raw_body_field<Op>)}};
    described["requestBody"] = {{"content", std::move(types)}};
  }
  described["responses"] = responses<Op>(named);
  if (at.role == Role::nobody)
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
json::object paths(OperationList<Ops...>, NamedSchemas& named) {
  json::object all;
  ((at_path(all, endpoint<Ops>.path)[method_name(endpoint<Ops>.method)] = operation<Ops>(named)),
   ...);
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
  return all;
}

}  // namespace

json::object openapi() {
  NamedSchemas named{{"Problem", problem_schema()}};
  auto all_paths = paths(EngineOperations{}, named);
  json::object schemas;
  for (auto& [name, schema] : named) schemas[name] = std::move(schema);
  return {{"openapi", "3.1.0"},
          {"info", json::object{{"title", "FlowFabric"},
                                {"version", version},
                                {"description",
                                 "A durable execution engine. Times are milliseconds since the "
                                 "Unix epoch. Fields that are not described are refused."}}},
          {"security", json::array{json::object{{"bearer", json::array{}}}}},
          {"paths", std::move(all_paths)},
          {"components",
           json::object{
               {"securitySchemes",
                json::object{{"bearer", json::object{{"type", "http"}, {"scheme", "bearer"}}}}},
               {"schemas", std::move(schemas)}}}};
}

}  // namespace ff::http
