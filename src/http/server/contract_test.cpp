// The API's document, read aloud to a real server: each does what the other says.
#include <gmock/gmock.h>

#include "http/server/test_support.hpp"
#include "http/wire/openapi.hpp"
#include "http/wire/problem.hpp"
#include "http/wire/schema_check.hpp"
#include "tests/support/faulty_env.hpp"

namespace ff::http::test {
namespace {

constexpr const char* no_such_id = "{fp:7}:01920000-0000-7000-8000-000000000009";
constexpr const char* no_such_uuid = "01920000-0000-7000-8000-000000000009";
const std::string admin = bearer("admin-token-0123456789");
const std::string reader = bearer("read-token-0123456789");
const std::string team_a = bearer("team-a-token-0123456789");

// A request by its fields; those of the path are filled in, the others go where the method wants them.
struct Call {
  std::string method;
  std::string path;
  json::object fields = {};
};

class ContractTest : public HttpTest {
 protected:
  ContractTest() {
    serve({.credentials = {.access = access(
                               R"({"name":"a","token":"admin-token-0123456789","roles":["admin"]},
        {"name":"r","token":"read-token-0123456789","roles":["read"]},
        {"name":"t","token":"team-a-token-0123456789","roles":["read"],"namespace":"a"})")},
           .limits = {.waitpoint_rate = {.per_second = 1'000'000, .burst = 1'000'000}}});
  }

  // ---- Asking ---------------------------------------------------------------------------------------

  static std::string text_of(const json::value& value) {
    return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
  }
  static Ask to_ask(Call call, const std::string& headers = admin) {
    Ask ask{.target = call.path, .headers = headers};
    ask.method.clear();
    for (char c : call.method) ask.method += static_cast<char>(std::toupper(c));
    for (auto open = ask.target.find('{'); open != std::string::npos;
         open = ask.target.find('{', open + 1)) {
      const auto close = ask.target.find('}', open);
      const auto name = ask.target.substr(open + 1, close - open - 1);
      const auto value = text_of(call.fields.at(name));
      call.fields.erase(name);
      ask.target.replace(open, close - open + 1, value);
      open += value.size();
    }
    if (const auto* token = call.fields.if_contains("token");
        token && call.path == "/v1/waitpoint") {
      ask.headers = "Authorization: Waitpoint " + text_of(*token) + "\r\n";
      call.fields.erase("token");
    }
    if (call.method == "get" || call.method == "delete") {
      char separator = '?';
      for (const auto& field : call.fields)
        ask.target +=
            std::exchange(separator, '&') + std::string(field.key()) + "=" + text_of(field.value());
    } else {
      ask.body = json::serialize(call.fields);
    }
    return ask;
  }
  Response send(const Call& call, const std::string& headers = admin) const {
    return ask(to_ask(call, headers));
  }

  // ---- Subjects of requests -------------------------------------------------------------------------

  json::object claimed() const {
    const auto id = submit(R"({"kind":"k","lane":"held"})", admin);
    auto fields = claim(id, admin);
    fields["id"] = id;
    return fields;
  }
  std::string completed(const json::object& with = {{"result", "r"}}) const {
    auto fields = claimed();
    for (const auto& field : with) fields[field.key()] = field.value();
    send({"post", "/v1/executions/{id}/complete", fields});
    return std::string(fields.at("id").as_string());
  }
  std::string granted() const {
    submit(R"({"kind":"k","lane":"granted"})", admin);
    const auto reply = body_of(
        post("/v1/workers/w/claim", R"({"lanes":["granted"],"grant_ttl_ms":60000})", admin));
    return std::string(reply.at("execution").as_object().at("id").as_string());
  }

  std::string created(const char* path, const char* body) const {
    return std::string(body_of(post(path, body, admin)).at("id").as_string());
  }
  std::string budget() const { return created("/v1/budgets", R"({"hard_limits":{"tokens":10}})"); }
  std::string quota() const { return created("/v1/quotas", R"({"max_concurrent":1})"); }
  // A namespace runs only so many jobs at a time.
  static json::object bulk_fields() {
    static int number = 0;
    return {
        {"action", "cancel"}, {"where", "kind:none"}, {"namespace", fmt::format("n{}", ++number)}};
  }
  std::string bulk() const { return created("/v1/bulks", json::serialize(bulk_fields()).c_str()); }
  std::string registered() const {
    post("/v1/workers/w/register", "{}", admin);
    return "w";
  }

  static json::object waitpoint(const char* key = "w") {
    return {{"key", key},
            {"question",
             {{"choices", json::array{{{"signal", "yes"}, {"label", "Yes"}},
                                      {{"signal", "no"}, {"label", "No"}}}}}}};
  }
  // An execution that waits for two sources, so that one answer leaves it waiting.
  json::object suspended() const {
    auto fields = claimed();
    fields["condition"] = {{"count", 2}, {"of", "sources"}};
    fields["waitpoints"] = json::array{waitpoint()};
    const auto reply = body_of(send({"post", "/v1/executions/{id}/suspend", fields}));
    const auto& opened = reply.at("waitpoints").as_array().at(0).as_object();
    return {{"id", fields.at("id")},
            {"waitpoint", opened.at("id")},
            {"token", opened.at("tokens").as_array().at(0).as_object().at("token")}};
  }
  // The same, after its end.
  json::object ended() const {
    auto waiting = suspended();
    post("/v1/executions/" + text_of(waiting.at("id")) + "/cancel", "{}", admin);
    return waiting;
  }
  static json::object only(const json::object& fields, std::initializer_list<const char*> names) {
    json::object chosen;
    for (const auto* name : names) chosen[name] = fields.at(name);
    return chosen;
  }
  // The published contract's signal to a waitpoint.
  static json::object contract_signal(const json::object& waiting) {
    return {{"execution_id", waiting.at("id")},
            {"waitpoint_id", waiting.at("waitpoint")},
            {"waitpoint_token", waiting.at("token")},
            {"signal_id", no_such_uuid},
            {"signal_name", "yes"}};
  }

  // The least that an operation on a waiting execution succeeds with; `waiting` is one of suspended() or
  // ended().
  std::optional<json::object> good_for_waiting(const std::string& operation,
                                               const json::object& waiting) const {
    if (operation == "ReadWaitpoint") return only(waiting, {"token"});
    if (operation == "AnswerWaitpoint") return with(only(waiting, {"token"}), "signal", "yes");
    if (operation == "DeliverSignal") return contract_signal(waiting);
    if (operation == "Resume") return only(waiting, {"id"});
    if (operation == "SendSignal") return with(only(waiting, {"id", "waitpoint"}), "name", "yes");
    if (operation == "GetWaitpointTokens" || operation == "CloseWaitpoint")
      return only(waiting, {"id", "waitpoint"});
    return std::nullopt;
  }
  std::optional<json::object> good_for_worker(const std::string& operation) const {
    if (operation == "Suspend") return with(claimed(), "waitpoints", json::array{waitpoint()});
    if (operation == "CreateWaitpoint") {
      auto fields = claimed();
      for (const auto& field : waitpoint()) fields[field.key()] = field.value();
      return fields;
    }
    if (operation == "PutStep") return with(claimed(), "name", "s");
    if (operation == "AppendFrames") {
      auto fields = with(with(claimed(), "stream", "s"), "written", 0);
      fields["frames"] = json::array{json::object{}};
      return fields;
    }
    if (operation == "ReadStream") return with(claimed_id(), "stream", "s");
    if (operation == "ListStreams") return claimed_id();
    if (operation.ends_with("AttemptStream")) return with(claimed_id(), "attempt", 0);
    if (operation == "GetStep") {
      auto fields = with(claimed(), "name", "s");
      send({"put", "/v1/executions/{id}/steps/{name}", fields});
      return only(fields, {"id", "name"});
    }
    return std::nullopt;
  }

  static json::object schedule_fields() {
    static int number = 0;
    return {{"name", fmt::format("s{}", ++number)}, {"cron", "@daily"}, {"execution", {{"kind", "k"}}}};
  }
  json::value schedule() const {
    const auto fields = schedule_fields();
    send({"put", "/v1/schedules/{name}", fields});
    return fields.at("name");
  }
  std::optional<json::object> good_for_schedule(const std::string& operation) const {
    if (operation == "ListSchedules" || operation.find("Schedule") == std::string::npos)
      return std::nullopt;
    if (operation == "PutSchedule") return schedule_fields();
    if (operation == "PreviewSchedule") return json::object{{"cron", "@daily"}};
    return json::object{{"name", schedule()}};
  }

  // The least that an operation about budgets, quotas, workers, jobs, lanes or schedules succeeds with.
  std::optional<json::object> good_for_resource(const std::string& operation) const {
    if (auto fields = good_for_schedule(operation)) return *fields;
    if (operation.ends_with("Lane")) return json::object{{"lane", "quiet"}};
    if (operation == "CreateBudget") return json::object{{"hard_limits", {{"tokens", 10}}}};
    if (operation == "CreateQuota") return json::object{{"max_concurrent", 1}};
    if (operation == "ReportUsage") {
      auto fields = claimed();
      fields["execution_id"] = std::exchange(fields["id"], budget());
      fields["dimensions"] = {{"tokens", 1}};
      return fields;
    }
    if (operation == "ReleaseUsage")
      return json::object{{"id", budget()}, {"execution_id", no_such_id}};
    if (operation == "StartBulk") return bulk_fields();
    if (operation.ends_with("Bulk")) return json::object{{"id", bulk()}};
    if (operation.ends_with("Budget")) return json::object{{"id", budget()}};
    if (operation.ends_with("Quota")) return json::object{{"id", quota()}};
    if (operation.ends_with("Worker")) return json::object{{"worker", registered()}};
    return std::nullopt;
  }

  static json::object flow_node(const char* name = "a") {
    return {{"name", name}, {"kind", "k"}, {"lane", "flows"}};
  }
  std::string flow(bool building = false) const {
    const json::object fields{{"nodes", json::array{flow_node()}}, {"building", building}};
    return text_of(body_of(post("/v1/flows", json::serialize(fields), admin)).at("id"));
  }
  std::string completed_flow() const {
    const auto id = flow();
    const auto nodes = body_of(get("/v1/flows/" + id + "/nodes", admin));
    const auto node = text_of(nodes.at("nodes").as_array().at(0).as_object().at("id"));
    send({"post", "/v1/executions/{id}/complete", with(claim(node, admin), "id", node)});
    return id;
  }
  std::string cancelled_flow(bool building) const {
    const auto id = flow(building);
    post("/v1/flows/" + id + "/cancel", "{}", admin);
    return id;
  }
  // The least that an operation on flows succeeds with.
  std::optional<json::object> good_for_flow(const std::string& operation) const {
    if (operation == "ListFlows" || operation.find("Flow") == std::string::npos)
      return std::nullopt;
    if (operation == "SubmitFlow") return json::object{{"nodes", json::array{flow_node()}}};
    if (operation == "ExtendFlow")
      return json::object{{"id", flow(true)}, {"nodes", json::array{flow_node("b")}}};
    if (operation == "SealFlow") return json::object{{"id", flow(true)}};
    return json::object{{"id", flow()}};
  }
  // Fields of a valid request that conflicts with the state of a flow.
  json::object conflicting_flow(const std::string& operation) const {
    if (operation == "SubmitFlow") {
      send({"post", "/v1/flows", with(*good_for_flow(operation), "idempotency_key", "taken")});
      return {{"nodes", json::array{flow_node("other")}}, {"idempotency_key", "taken"}};
    }
    if (operation == "ExtendFlow")
      return {{"id", completed_flow()}, {"nodes", json::array{flow_node("b")}}};
    if (operation == "SealFlow") return {{"id", cancelled_flow(true)}};
    if (operation == "RedriveFlow") return {{"id", flow()}, {"from", "a"}};
    return {{"id", completed_flow()}};
  }

  static std::string uuid() {
    static int number = 0;
    return fmt::format("01920000-0000-7000-8000-0000000{:05}", ++number);
  }
  // A flow that an execution can be added to, and such an execution.
  json::object open_flow(bool is_there = true) const {
    const auto flow = uuid();
    if (is_there) post("/v1/flows", json::serialize(json::object{{"flow_id", flow}}), admin);
    const auto elsewhere = body_of(post("/v1/flows/" + flow + "/members",
                                        R"({"execution_id":"{fp:65534}:)" + uuid() + R"("})", admin));
    const auto detail = text_of(elsewhere.at("detail"));  // names the partition
    const auto id = detail.substr(detail.rfind('{')) + uuid();
    post("/v1/executions", json::serialize(json::object{{"id", id}, {"kind", "k"}, {"lane", "open"}}),
         admin);
    return {{"flow_id", flow}, {"execution_id", id}};
  }
  // Two members of such a flow.
  json::object edge(bool is_there = true) const {
    auto fields = open_flow(is_there);
    const auto members = "/v1/flows/" + text_of(fields.at("flow_id")) + "/members";
    const auto add = [&](const json::value& id) {
      post(members, json::serialize(json::object{{"execution_id", id}}), admin);
    };
    const auto first = text_of(fields.at("execution_id"));
    const auto second = first.substr(0, first.find(':', 4) + 1) + uuid();
    post("/v1/executions",
         json::serialize(json::object{{"id", second}, {"kind", "k"}, {"lane", "open"}}), admin);
    add(json::value(first));
    add(json::value(second));
    return {{"flow_id", fields.at("flow_id")},
            {"edge_id", no_such_uuid},
            {"upstream_execution_id", first},
            {"downstream_execution_id", second}};
  }
  std::optional<json::object> good_for_open_flow(const std::string& operation) const {
    if (operation == "AddFlowMember") return open_flow();
    if (operation == "StageEdge") return with(edge(), "expected_graph_revision", 2);
    if (operation == "ApplyEdge") {
      const auto fields = edge();
      send({"post", "/v1/flows/{flow_id}/edges", with(fields, "expected_graph_revision", 2)});
      return fields;
    }
    return std::nullopt;
  }
  json::object conflicting_open_flow(const std::string& operation) const {
    auto fields = *good_for_open_flow(operation);
    post("/v1/flows/" + text_of(fields.at("flow_id")) + "/cancel", "{}", admin);
    return fields;
  }

  // The least that an operation succeeds with.
  json::object good(const std::string& operation) const {
    static int number = 0;
    if (auto fields = good_for_resource(operation)) return *fields;
    if (auto fields = good_for_worker(operation)) return *fields;
    if (auto fields = good_for_open_flow(operation)) return *fields;
    if (auto fields = good_for_flow(operation)) return *fields;
    const json::object any{{"id", 0}, {"waitpoint", 0}, {"token", 0}};
    if (good_for_waiting(operation, any)) return *good_for_waiting(operation, suspended());
    if (operation == "RotateWaitpointSecret")
      return {{"new_kid", "k2"}, {"new_secret_hex", std::string(64, 'a')}};
    const auto id = [&] { return submit(R"({"kind":"k","lane":"ready"})", admin); };
    if (operation == "Submit") return {{"kind", "k"}};
    if (operation == "SubmitMany")
      return {{"executions", json::array{json::object{{"kind", "k"}}}}};
    if (operation == "GetResult") return {{"id", completed()}};
    if (operation == "CreateStreamTicket" || operation == "ExplainExecution" || operation == "ListWaitpoints" ||
        operation == "ListSteps")
      return {{"id", id()}};
    if (operation.starts_with("Get") && operation != "GetMetrics" && operation != "GetOpenApi")
      return {{"id", id()}};
    if (operation == "Claim" || operation == "Grant") {
      id();
      return {{"worker", "w"}, {"lanes", json::array{"ready"}}};
    }
    if (operation == "ClaimGranted") return {{"id", granted()}, {"worker", "w"}};
    if (operation == "ClaimExecution") return {{"id", id()}, {"worker", "w"}};
    if (operation == "CompleteMany") return {{"executions", json::array{claimed()}}};
    if (operation == "Fail") return with(claimed(), "reason", "r");
    if (operation == "Delay") return with(claimed(), "until_ms", 4'000'000'000'000);
    if (operation == "RevokeLease") return {{"id", claimed().at("id")}};
    if (operation == "ChangePriority") return {{"id", id()}, {"priority", 5}};
    if (operation == "SetTags") return {{"id", id()}, {"set", json::object{{"a.b", "c"}}}};
    if (operation == "Replay") return {{"id", completed()}};
    if (operation == "Backup") return {{"name", fmt::format("b{}", ++number)}};
    for (const char* fenced :
         {"Renew", "UpdateProgress", "Complete", "HandBack", "WaitForChildren", "Cancel"})
      if (operation == fenced) return claimed();
    return {};
  }

  // Fields of a valid request that conflicts with the state.
  json::object conflicting(const std::string& operation) const {
    if (good_for_open_flow(operation)) return conflicting_open_flow(operation);
    if (good_for_flow(operation)) return conflicting_flow(operation);
    auto fields = good(operation);
    if (operation == "Submit") {
      post("/v1/executions", R"({"kind":"k","idempotency_key":"taken"})", admin);
      return {{"kind", "other"}, {"idempotency_key", "taken"}};
    }
    if (operation == "CreateBudget") return {{"id", budget()}, {"hard_limits", {{"tokens", 11}}}};
    if (operation == "CreateQuota") return {{"id", quota()}, {"max_concurrent", 2}};
    if (operation == "StartBulk") return with(fields, "id", bulk());
    if (operation == "StopBulk") {
      send({"post", "/v1/bulks/{id}/stop", fields});
      return fields;
    }
    if (operation == "ReportUsage") {
      fields["dedup_key"] = "taken";
      send({"post", "/v1/budgets/{id}/usage", fields});
      return with(fields, "dimensions", json::object{{"tokens", 2}});
    }
    if (operation == "Backup") {
      send({"post", "/v1/backups", fields});
      return fields;
    }
    if (operation == "SendSignal" || operation == "DeliverSignal")
      return *good_for_waiting(operation, ended());
    if (operation == "Resume") return claimed_id();
    if (operation == "AnswerWaitpoint") {
      send({"post", "/v1/waitpoint", fields});
      return with(fields, "signal", "no");
    }
    if (operation == "RotateWaitpointSecret") return with(fields, "new_secret_hex", std::string(64, 'b'));
    if (operation == "ClaimExecution") return with(claimed_id(), "worker", "w");
    if (operation == "ClaimGranted") return with(claimed_id(), "worker", "w");
    if (operation == "GetResult" || operation == "Replay") return claimed_id();
    if (operation == "Cancel" || operation == "RevokeLease") return {{"id", completed()}};
    if (operation == "ChangePriority") return with(fields, "id", completed());
    return with(fields, "lease_id", "01920000-0000-7000-8000-00000000000f");
  }
  // Fields of a valid request about a waitpoint that is closed.
  json::object over(const std::string& operation) const {
    const auto waiting = suspended();
    send({"post", "/v1/executions/{id}/waitpoints/{waitpoint}/close",
          only(waiting, {"id", "waitpoint"})});
    return *good_for_waiting(operation, waiting);
  }
  json::object claimed_id() const { return {{"id", claimed().at("id")}}; }
  static json::object with(json::object fields, std::string_view name, const auto& value) {
    fields[name] = json::value_from(value);
    return fields;
  }

  // ---- The document ---------------------------------------------------------------------------------

  template <class Each>
  void for_each_operation(Each each) {
    for (const auto& path : document_.at("paths").as_object())
      for (const auto& method : path.value().as_object()) {
        const auto& described = method.value().as_object();
        std::string name(described.at("operationId").as_string());
        if (name == "LogIn" || name == "LogOut") continue;  // no operations of the engine: sessions_test.cpp
        SCOPED_TRACE(name);
        for (const std::string_view suffix : {"Alias", "ByHeader"})  // the same operation
          if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
        each(name, Call{std::string(method.key()), std::string(path.key())}, described);
      }
  }
  static const json::object* body_schema(const json::object& described) {
    const auto* body = described.if_contains("requestBody");
    if (!body) return nullptr;
    const auto& types = body->as_object().at("content").as_object();
    return &types.at("application/json").as_object().at("schema").as_object();
  }

  // The status, once the answer is seen to be what the document says of it.
  std::string checked(const json::object& described, const Response& answer) const {
    const auto status = std::to_string(answer.result_int());
    const auto& responses = described.at("responses").as_object();
    const auto* known = responses.if_contains(status);
    EXPECT_TRUE(known) << status << " is not in the document: " << answer.body();
    if (!known) return status;
    const auto* content = known->as_object().if_contains("content");
    if (!content) {
      EXPECT_EQ(answer.body(), "");
      return status;
    }
    std::string type(answer[beast::http::field::content_type]);
    type.resize(std::min(type.size(), type.find(';')));
    const auto* schema = content->as_object().if_contains(type);
    if (!schema) schema = content->as_object().if_contains("*/*");
    EXPECT_TRUE(schema) << type;
    if (schema && type.ends_with("json")) {
      EXPECT_EQ(check_(json::parse(answer.body()), schema->as_object().at("schema").as_object()),
                "")
          << answer.body();
    }
    return status;
  }

  const json::object document_ = openapi();
  const SchemaCheck check_{document_};
};

TEST_F(ContractTest, EveryStatusIsProducedAndNoOther) {
  for_each_operation([&](const std::string& name, Call call, const json::object& described) {
    std::set<std::string> seen;
    const auto see = [&](const Response& answer) { seen.insert(checked(described, answer)); };
    const auto& responses = described.at("responses").as_object();
    const auto named = [&](const char* status) { return responses.contains(status); };
    const auto ask_for = [&](json::object fields, const std::string& headers = admin) {
      auto with_fields = call;
      with_fields.fields = std::move(fields);
      see(send(with_fields, headers));
    };
    const auto missing = [&]() -> json::object {
      if (call.path.starts_with("/v1/waitpoint")) return with(good(name), "token", "x");
      if (name == "PutSchedule") {
        const json::object policy{{"budget_ids", json::array{no_such_uuid}}};
        return with(good(name), "execution", json::object{{"kind", "k"}, {"policy", policy}});
      }
      if (call.path.starts_with("/v1/schedules")) return with(good(name), "name", "nobody");
      if (call.path.find("{execution_id}") != std::string::npos)
        return with(good(name), "execution_id", no_such_id);
      if (name == "SubmitFlow")
        return {{"nodes", json::array{with(flow_node(), "after", json::array{"x"})}}};
      if (name == "Submit") return {{"kind", "k"}, {"flow", no_such_uuid}};
      if (name == "AddFlowMember") {
        auto fields = good(name);
        auto& id = fields.at("execution_id").as_string();
        id.replace(id.size() - 5, 5, "88888");
        return fields;
      }
      if (name == "StageEdge") return with(edge(false), "expected_graph_revision", 2);
      if (name == "ApplyEdge") return edge(false);
      if (call.path.find("{id}") == std::string::npos) return {{"worker", "nobody"}};
      const bool of_execution = call.path.starts_with("/v1/executions");
      return with(good(name), "id", of_execution ? no_such_id : no_such_uuid);
    };

    ask_for(good(name));
    if (name == "Submit" || name == "SubmitFlow")
      for (int i = 0; i < 2; ++i) ask_for(with(good(name), "idempotency_key", "twice"));
    for (const char* creating :
         {"CreateWaitpoint", "PutStep", "AppendFrames", "AnswerWaitpoint", "SendSignal"}) {
      if (name != creating) continue;
      auto fields = good(name);
      if (name == "SendSignal") fields["idempotency_key"] = "twice";
      for (int i = 0; i < 2; ++i) ask_for(fields);
    }
    if (name == "SubmitMany")
      ask_for({{"executions", json::array{json::object{{"kind", "k"}, {"priority", -1}},
                                          json::object{{"kind", "k"}}}}});
    if (name == "CompleteMany")
      ask_for({{"executions", json::array{with(claimed(), "id", no_such_id), claimed()}}});
    if (name == "Grant") ask_for({{"worker", "w"}, {"lanes", json::array{"nothing-here"}}});
    if (name == "Claim") ask_for({{"worker", "w"}, {"lanes", json::array{"nothing-here"}}});
    if (name == "GetResult") ask_for({{"id", completed({})}});
    if (name == "Fail") {
      const auto id = submit(R"({"kind":"k","policy":{"retry_policy":{}}})", admin);
      ask_for(with(with(claim(id, admin), "id", id), "reason", "again"));
    }
    if (name == "AddFlowMember") {
      const auto fields = good(name);
      for (int i = 0; i < 2; ++i) ask_for(fields);
    }
    ask_for(with(good(name), "no_such_field", 1));
    if (named("401")) ask_for(good(name), "");
    if (named("403"))
      described.at("x-role") != "read" ? ask_for(good(name), reader)
      : name == "GetMetrics"           ? ask_for({}, team_a)
                                       : ask_for(with(good(name), "namespace", "b"), team_a);
    if (name == "RunSchedule") {
      const auto fields = with(good(name), "request_id", no_such_uuid);
      for (int i = 0; i < 2; ++i) ask_for(fields);
    }
    if (name == "CreateBudget" || name == "CreateQuota" || name == "StartBulk") {
      const auto fields = with(good(name), "id", "01920000-0000-7000-8000-000000000002");
      for (int i = 0; i < 2; ++i) ask_for(fields);
    }
    if (named("404")) ask_for(missing());
    if (named("409")) ask_for(conflicting(name));
    if (named("410")) ask_for(over(name));
    if (body_schema(described)) {
      call.fields = good(name);
      auto large = to_ask(call);
      large.body.clear();
      large.headers += "Content-Length: 100000000\r\n";
      see(ask(large));
      auto odd = to_ask(call);
      const bool takes_anything =
          name == "Submit" || name == "Complete" || name == "SendSignal" || name == "PutStep";
      odd.body = "x";
      odd.headers += takes_anything ? "Content-Type:\r\n" : "Content-Type: text/plain\r\n";
      see(ask(odd));
    }
    if (named("429")) {
      auto listener = must(Listener::bind("127.0.0.1:0"));
      const auto port = listener.port();
      const Server busy(*engine_, std::move(listener),
                        {.limits = {.long_polls = 0, .tails = 0, .waitpoint_rate = {}}});
      call.fields = good(name);
      if (name == "ReadStream" || name == "ReadFlowStream") call.fields["wait_ms"] = 1;
      see(test::ask(port, to_ask(call)));
    }
    if (named("503")) {
      ff::test::TempDirectory temp;
      ff::test::FaultyEnv disk;
      const auto broken = open_engine(temp.path(), disk.env());
      auto listener = must(Listener::bind("127.0.0.1:0"));
      const auto port = listener.port();
      const Server server(*broken, std::move(listener));
      disk.fail(ff::test::DiskFault::full);
      test::ask(port, {.method = "POST", .target = "/v1/executions", .body = R"({"kind":"k"})"});
      see(test::ask(port, to_ask(call)));
    }

    std::set<std::string> said;
    for (const auto& each : responses)
      if (each.key() != "default") said.emplace(each.key());
    EXPECT_EQ(seen, said);
  });
}

// A value that no field of this type can have.
json::value wrong_for(const json::object& schema) {
  const auto* type = schema.if_contains("type");
  if (!type || *type == "object" || *type == "array" || *type == "string") return 5;
  return "wrong";
}

class FieldsTest : public ContractTest {
 protected:
  // Each described field with a wrong value, and one that is not described, at every depth. `make` puts an
  // object where this one stands in a request; `prefix` is what the server calls it.
  using Make = std::function<json::object(json::object)>;
  void try_fields(const Call& call, const json::object& described_schema, const json::object& valid,
                  const std::string& prefix, const Make& make) {
    const auto& schema = check_.resolve(described_schema);
    expect_refused(call, make(with(valid, "no_such_field", 1)), "unknown_field",
                   prefix + "no_such_field");
    for (const auto& property : schema.at("properties").as_object()) {
      const std::string name(property.key());
      if (prefix == "executions[0]." && name == "spawn") continue;  // not in a batch, whatever it says
      const auto& inner = check_.resolve(property.value().as_object());
      const auto put = [&](const json::value& value) {
        auto fields = with(valid, name, value);
        if (prefix.empty() && name == "flow") fields.erase("execution");  // a schedule has one of them
        return make(std::move(fields));
      };
      const bool takes_anything = !inner.contains("type") && !inner.contains("oneOf");
      if (!takes_anything) expect_refused(call, put(wrong_for(inner)), "", prefix + name);
      const bool is_deep = prefix.contains("flow.") && name == "flow";  // a flow in a flow in a flow
      if (inner.contains("properties") && !is_deep)
        try_fields(call, inner, member(valid, name), prefix + name + ".", put);
      if (const auto* items = inner.if_contains("items"); items && has_members(*items))
        try_fields(call, items->as_object(), first(valid, name), prefix + name + "[0].",
                   [&](json::object item) { return put(json::array{std::move(item)}); });
      if (const auto* alternatives = inner.if_contains("oneOf"))
        for (const auto& each : alternatives->as_array()) {
          const auto& alternative = check_.resolve(each.as_object());
          if (!alternative.contains("properties")) continue;  // a text or a number
          if (!alternative.at("properties").as_object().contains("type")) continue;
          const auto type = alternative.at("properties").as_object().at("type").as_object();
          json::object least{{"type", type.at("enum").as_array().at(0)}};
          if (least.at("type") == "fixed") least["delay_ms"] = 1;
          try_fields(call, alternative, least, prefix + name + ".", put);
        }
    }
  }
  bool has_members(const json::value& schema) const {
    return check_.resolve(schema.as_object()).contains("properties");
  }
  static json::object member(const json::object& fields, const std::string& name) {
    const auto least = name == "map"    ? json::object{{"over", "list"}}
                       : name == "flow" ? json::object{{"nodes", json::array{flow_node()}}}
                                        : json::object{};
    return fields.contains(name) ? fields.at(name).as_object() : least;
  }
  static json::object first(const json::object& fields, const std::string& name) {
    const bool is_node = name == "spawn" || name == "children";
    const auto least = is_node ? flow_node() : json::object{};
    return fields.contains(name) ? fields.at(name).as_array().at(0).as_object() : least;
  }

  void expect_refused(Call call, json::object fields, const std::string& code,
                      const std::string& field) const {
    call.fields = std::move(fields);
    const auto answer = send(call);
    EXPECT_EQ(answer.result_int(), 400u) << field;
    const auto body = body_of(answer);
    const auto* named = body.if_contains("field");
    EXPECT_EQ(named ? text_of(*named) : "", field) << answer.body();
    if (!code.empty())
      EXPECT_EQ(code_of(answer), code) << field;
    else
      EXPECT_NE(code_of(answer), "unknown_field") << field;
  }
};

TEST_F(FieldsTest, OfBodiesAreExactlyThoseDescribed) {
  for_each_operation([&](const std::string& name, const Call& call, const json::object& described) {
    if (const auto* schema = body_schema(described))
      try_fields(call, *schema, good(name), "", [](json::object fields) { return fields; });
  });
}

TEST_F(FieldsTest, AMissingRequiredFieldIsReported) {
  for_each_operation([&](const std::string& name, const Call& call, const json::object& described) {
    const auto* schema = body_schema(described);
    const auto* required = schema ? schema->if_contains("required") : nullptr;
    if (!required) return;
    for (const auto& each : required->as_array()) {
      auto fields = good(name);
      ASSERT_TRUE(fields.erase(each.as_string())) << each;
      expect_refused(call, fields, "", text_of(each));
    }
  });
}

TEST_F(FieldsTest, OfQueriesAreExactlyThoseDescribed) {
  for_each_operation([&](const std::string& name, Call call, const json::object& described) {
    if (body_schema(described)) return;
    const auto* parameters = described.if_contains("parameters");
    expect_refused(call, with(good(name), "no_such_field", 1), "unknown_field", "no_such_field");
    for (const auto& each : parameters ? parameters->as_array() : json::array{}) {
      const auto& parameter = each.as_object();
      if (parameter.at("in") == "header") continue;
      const auto field = text_of(parameter.at("name"));
      if (field == "token" || field == "ticket") continue;  // a wrong one opens nothing
      const auto& schema = check_.resolve(parameter.at("schema").as_object());
      const bool any_text =
          schema.at("type") == "string" && !schema.contains("enum") && !schema.contains("pattern");
      // Text may be anything but too long, a place anything but nonsense.
      const std::string wrong = any_text ? std::string(300, 'x') : "wrong";
      expect_refused(call, with(good(name), field, wrong), "", field);
    }
  });
}

}  // namespace
}  // namespace ff::http::test
