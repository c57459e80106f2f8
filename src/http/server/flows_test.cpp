// Flows over HTTP.
#include <flowfabric/limits.hpp>

#include <gmock/gmock.h>

#include "base/text/base64.hpp"
#include "http/server/routes.hpp"
#include "http/server/test_support.hpp"

namespace ff::http::test {
namespace {

constexpr const char* chain =
    R"({"nodes":[{"name":"a","kind":"k","payload":{"n":1}},{"name":"b","kind":"k","after":["a"]}]})";

const std::string of_a = "team-a-token-0123456789";
const std::string of_b = "team-b-token-0123456789";

class HttpFlows : public HttpTest {
 protected:
  std::string submit_flow(const std::string& headers = "") const {
    return text_at(body_of(post("/v1/flows", chain, headers)), "id");
  }
  void serve_tenants() {
    std::string tokens;
    for (const auto& [ns, token] : {std::pair{"a", of_a}, {"b", of_b}})
      tokens += fmt::format(
          R"({2}{{"name":"team-{0}","token":"{1}","roles":["submit","work","admin"],"namespace":"{0}"}})",
          ns, token, tokens.empty() ? "" : ",");
    serve({.credentials = {.access = access(tokens)}});
  }
};

TEST_F(HttpFlows, SubmitCreatesAndARepetitionIsADuplicate) {
  serve();
  const auto first = post("/v1/flows", chain, "Idempotency-Key: once\r\n");
  EXPECT_EQ(first.result(), Status::created);
  const auto flow = body_of(first);
  EXPECT_EQ(text_at(flow, "status"), "created");
  EXPECT_EQ(text_at(flow, "state"), "running");
  EXPECT_EQ(flow.at("counts").at("nodes"), 2);
  const auto second = post("/v1/flows", chain, "Idempotency-Key: once\r\n");
  EXPECT_EQ(second.result(), Status::ok);
  EXPECT_EQ(text_at(body_of(second), "status"), "duplicate");
  EXPECT_EQ(text_at(body_of(second), "id"), text_at(flow, "id"));
  const auto other =
      post("/v1/flows", R"({"nodes":[{"name":"x","kind":"k"}]})", "Idempotency-Key: once\r\n");
  EXPECT_EQ(code_of(other), "duplicate_mismatch");
}

TEST_F(HttpFlows, TheGraphComesWithTheFlow) {
  serve();
  const auto id = submit_flow();
  EXPECT_FALSE(body_of(get("/v1/flows/" + id)).contains("nodes"));
  for (const auto* query : {"?graph", "?graph=true", "?wait_ms=0&graph"}) {
    const auto flow = body_of(get("/v1/flows/" + id + query));
    EXPECT_EQ(text_at(flow, "state"), "running");
    const auto& nodes = flow.at("nodes").as_array();
    ASSERT_EQ(nodes.size(), 2u);
    EXPECT_EQ(nodes[1].at("after").at(0).at("node"), "a");
    EXPECT_FALSE(flow.contains("next"));
  }
  EXPECT_FALSE(body_of(get("/v1/flows/" + id + "?graph=false")).contains("nodes"));
  EXPECT_EQ(code_of(get("/v1/flows/" + id + "?graph=maybe")), "invalid_input");
}

TEST_F(HttpFlows, ASubmitNamesItsFlow) {
  serve_tenants();
  const auto mine = bearer(of_a), theirs = bearer(of_b);
  const auto id = submit_flow(mine);
  const auto body =
      fmt::format(R"({{"kind":"k","flow":"{}","node":"c","after":["a",{{"node":"b","on":"finished"}}]}})", id);
  EXPECT_EQ(code_of(post("/v1/executions", body, theirs)), "flow_not_found");
  const auto first = post("/v1/executions", body, mine);
  EXPECT_EQ(first.result(), Status::created);
  EXPECT_EQ(text_at(body_of(first), "state"), "waiting_children");
  const auto again = post("/v1/executions", body, mine);
  EXPECT_EQ(again.result(), Status::ok);
  EXPECT_EQ(text_at(body_of(again), "id"), text_at(body_of(first), "id"));
  const auto other = post("/v1/executions", fmt::format(R"({{"kind":"x","flow":"{}","node":"c"}})", id), mine);
  EXPECT_EQ(code_of(other), "duplicate_mismatch");
  EXPECT_EQ(text_at(body_of(other), "field"), "kind");
}

// ---- The published contract's calls --------------------------------------------------------------

class ContractFlows : public HttpTest {
 protected:
  ContractFlows() { serve(); }

  static constexpr const char* flow_ = "01920000-0000-7000-8000-0000000f1000";

  Response call(const std::string& path, json::object body) const {
    body["flow_id"] = flow_;
    body["now"] = 1'700'000'000'000;
    return post("/v1/flows" + path, json::serialize(body));
  }
  Response on_flow(const std::string& path, json::object body) const {
    return call("/" + std::string(flow_) + path, std::move(body));
  }
  // Text of a reply, after its status.
  static std::string shown(const Response& answer) {
    return fmt::format("{} {}", answer.result_int(), answer.body());
  }
  std::string execution(int number) const {
    const auto uuid = fmt::format("01920000-0000-7000-8000-00000000{:04}", number);
    const auto elsewhere = on_flow("/members", {{"execution_id", "{fp:65534}:" + uuid}});
    const auto detail = text_at(body_of(elsewhere), "detail");  // names the partition
    const auto id = detail.substr(detail.rfind('{')) + uuid;
    post("/v1/executions", json::serialize(json::object{{"id", id}, {"kind", "k"}}));
    return id;
  }
  static json::object edge(const std::string& from, const std::string& to) {
    return {{"edge_id", "01920000-0000-7000-8000-0000ed9e0001"},
            {"upstream_execution_id", from},
            {"downstream_execution_id", to},
            {"dependency_kind", "success_only"}};
  }
};

TEST_F(ContractFlows, AreBuiltCallByCall) {
  const json::object made{{"flow_kind", "batch"}, {"namespace", "default"}};
  const auto flow = fmt::format(R"({{"flow_id":"{}"}})", flow_);
  EXPECT_EQ(shown(call("", made)), "201 {\"Created\":" + flow + "}");
  EXPECT_EQ(shown(call("", made)), "200 {\"AlreadySatisfied\":" + flow + "}");

  const auto one = execution(1), two = execution(2);
  const auto member = [](const std::string& id) { return json::object{{"execution_id", id}}; };
  EXPECT_EQ(shown(on_flow("/members", member(one))),
            R"(201 {"Added":{"execution_id":")" + one + R"(","new_node_count":1}})");
  EXPECT_EQ(shown(on_flow("/members", member(one))),
            R"(200 {"AlreadyMember":{"execution_id":")" + one + R"(","node_count":1}})");
  on_flow("/members", member(two));

  auto staged = edge(one, two);
  staged["expected_graph_revision"] = 1;
  EXPECT_EQ(code_of(on_flow("/edges", staged)), "stale_graph_revision");
  staged["expected_graph_revision"] = 2;
  EXPECT_EQ(shown(on_flow("/edges", staged)),
            R"(201 {"Staged":{"edge_id":"01920000-0000-7000-8000-0000ed9e0001","new_graph_revision":3}})");
  auto applied = edge(one, two);
  applied["graph_revision"] = 3;
  EXPECT_EQ(shown(on_flow("/edges/apply", applied)), R"(200 {"Applied":{"unsatisfied_count":1}})");
  EXPECT_EQ(shown(on_flow("/edges/apply", applied)), R"(200 "AlreadyApplied")");

  const json::object cancel{{"reason", "enough"}, {"cancellation_policy", "cancel_all"}};
  const auto members = fmt::format(R"("member_execution_ids":["{}","{}"])", one, two);
  EXPECT_EQ(shown(on_flow("/cancel?wait=true", cancel)),
            R"(200 {"Cancelled":{"cancellation_policy":"cancel_all",)" + members + "}}");
}

// None of them invites the caller to try again.
TEST_F(ContractFlows, RefusalsAreTheCallers) {
  const auto refused = [](const Response& answer) {
    EXPECT_EQ(body_of(answer).at("retryable"), false) << answer.body();
    return fmt::format("{} {}", answer.result_int(), code_of(answer));
  };
  const auto one = execution(1), two = execution(2);
  EXPECT_EQ(refused(on_flow("/members", {{"execution_id", one}})), "404 flow_not_found");
  EXPECT_EQ(refused(on_flow("/cancel", {{"cancellation_policy", "cancel_all"}})), "404 flow_not_found");
  call("", {{"flow_kind", "batch"}, {"namespace", "default"}});
  auto staged = edge(one, two);
  staged["expected_graph_revision"] = 0;
  EXPECT_EQ(refused(on_flow("/edges", staged)), "409 execution_not_in_flow");
  staged["downstream_execution_id"] = one;
  EXPECT_EQ(refused(on_flow("/edges", staged)), "409 self_referencing_edge");
  staged["data_passing_ref"] = "out";
  EXPECT_EQ(text_at(body_of(on_flow("/edges", staged)), "field"), "data_passing_ref");
  EXPECT_EQ(refused(on_flow("/cancel", {{"cancellation_policy", "some"}})), "400 invalid_input");
  auto elsewhere = json::object{{"flow_id", "01920000-0000-7000-8000-0000000f1001"}, {"execution_id", one}};
  const auto mismatch = post("/v1/flows/" + std::string(flow_) + "/members", json::serialize(elsewhere));
  EXPECT_EQ(text_at(body_of(mismatch), "field"), "flow_id");
}

TEST_F(HttpFlows, DryRunOnlyChecks) {
  serve();
  const auto checked = post("/v1/flows?dry_run=true", chain);
  EXPECT_EQ(checked.result(), Status::ok);
  EXPECT_EQ(text_at(body_of(checked), "status"), "checked");
  EXPECT_TRUE(body_of(get("/v1/flows")).at("flows").as_array().empty());
}

TEST_F(HttpFlows, WrongGraphIsRefusedWithItsPath) {
  serve();
  const auto refusal = [&](const std::string& nodes) {
    const auto body = body_of(post("/v1/flows", R"({"nodes":)" + nodes + "}"));
    return text_at(body, "code") + " " + text_at(body, "field");
  };
  EXPECT_EQ(refusal(R"([{"name":"a","kind":"k","after":["b"]}])"),
            "node_not_found nodes[0].after[0]");
  EXPECT_EQ(refusal(R"([{"name":"a","kind":"k","after":["a"]}])"),
            "self_referencing_edge nodes[0].after[0]");
  EXPECT_EQ(
      refusal(R"([{"name":"a","kind":"k","after":["b"]},{"name":"b","kind":"k","after":["a"]}])"),
      "cycle_detected nodes[0].after[0]");
  EXPECT_EQ(refusal(R"([{"name":"a","kind":"k","before":[]}])"), "unknown_field nodes[0].before");
  for (const char* delay : {R"("delay_ms":1)", R"("delay_until_ms":1)"})
    EXPECT_EQ(
        refusal(fmt::format(R"([{{"name":"a","flow":{{"nodes":[{{"name":"b","kind":"k"}}]}},{}}}])",
                            delay)),
        "invalid_input nodes[0].flow");
}

TEST_F(HttpFlows, AWrongNameOfAnInputIsCalledSo) {
  serve();
  const auto body = body_of(post(
      "/v1/flows",
      R"({"nodes":[{"name":"a","kind":"k"},{"name":"b","kind":"k","after":[{"node":"a","input":"!"}]}]})"));
  EXPECT_EQ(text_at(body, "field"), "nodes[1].after[0].input");
  EXPECT_THAT(text_at(body, "detail"), ::testing::HasSubstr("input '!'"));
}

TEST_F(HttpFlows, TooManyNodesAreRefusedBeforeTheyAreRead) {
  serve();
  std::string nodes;
  for (std::size_t i = 0; i <= limits::flow_call_nodes_max; ++i) nodes += i == 0 ? "7" : ",7";
  EXPECT_EQ(code_of(post("/v1/flows", R"({"nodes":[)" + nodes + "]}")), "flow_limit_exceeded");
}

TEST_F(HttpFlows, BodyMayBeAsLargeAsItsPayloads) {
  serve();
  std::string nodes;
  const std::string payload(limits::payload_bytes_max, 'x');
  for (int i = 0; i < 16; ++i)
    nodes += fmt::format(R"({}{{"name":"n{}","kind":"k","payload":"{}"}})", i == 0 ? "" : ",", i,
                         payload);
  EXPECT_EQ(post("/v1/flows", R"({"nodes":[)" + nodes + "]}").result(), Status::created);
}

TEST_F(HttpFlows, NodesAndInputsAreShown) {
  serve();
  const auto id = submit_flow();
  const auto nodes = body_of(get("/v1/flows/" + id + "/nodes")).at("nodes").as_array();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(text_at(nodes[1], "state"), "waiting_children");
  EXPECT_EQ(text_at(nodes[1].at("after").at(0), "node"), "a");
  const auto first = text_at(nodes[0], "id");
  EXPECT_EQ(text_at(body_of(get("/v1/executions/" + first)), "node"), "a");
  auto fence = claim(first);
  fence["result"] = "done";
  EXPECT_EQ(post("/v1/executions/" + first + "/complete", json::serialize(fence)).result(),
            Status::ok);
  const auto inputs =
      body_of(get("/v1/executions/" + text_at(nodes[1], "id") + "/inputs")).at("inputs").as_array();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(text_at(inputs[0], "name"), "a");
  EXPECT_EQ(text_at(inputs[0], "result"), "done");
}

TEST_F(HttpFlows, OperatorsPauseResumeCancelAndRedrive) {
  serve();
  const auto path = "/v1/flows/" + submit_flow();
  const auto done = [&](const char* what, const char* body = "{}") {
    const auto reply = body_of(post(path + what, body));
    return text_at(reply, "status") + " " + text_at(reply, "state");
  };
  EXPECT_EQ(done("/pause", R"({"reason":"freeze"})"), "paused paused");
  EXPECT_EQ(done("/resume"), "resumed running");
  EXPECT_EQ(done("/cancel", R"({"reason":"enough","wait_ms":10000})"), "cancelled cancelled");
  EXPECT_TRUE(body_of(get(path + "?wait_ms=10000")).contains("ended_at_ms"));
  EXPECT_EQ(done("/redrive", R"({"dry_run":true})"), "checked cancelled");
  EXPECT_EQ(done("/redrive"), "redriven running");
}

TEST_F(HttpFlows, LargeGraphIsBuiltAndSealed) {
  serve();
  const auto id = text_at(body_of(post("/v1/flows", R"({"building":true})")), "id");
  const auto path = "/v1/flows/" + id;
  EXPECT_EQ(text_at(body_of(post(path + "/nodes", chain)), "status"), "extended");
  const auto sealed = body_of(post(path + "/seal", "{}"));
  EXPECT_EQ(text_at(sealed, "state"), "running");
  EXPECT_EQ(sealed.at("counts").at("nodes"), 2);
  const auto extended = body_of(post(path + "/nodes", R"({"nodes":[{"name":"c","kind":"k"}]})"));
  EXPECT_EQ(extended.at("counts").at("nodes"), 3);
}

TEST_F(HttpFlows, OtherTenantsFlowsLookAbsent) {
  serve_tenants();
  const auto id = submit_flow(bearer(of_a));
  EXPECT_EQ(text_at(body_of(get("/v1/flows/" + id, bearer(of_a))), "namespace"), "a");
  const auto absent = get("/v1/flows/01920000-0000-7000-8000-000000000009", bearer(of_b));
  const auto foreign = get("/v1/flows/" + id, bearer(of_b));
  EXPECT_EQ(foreign.result(), absent.result());
  EXPECT_EQ(code_of(foreign), "flow_not_found");
  EXPECT_EQ(code_of(get("/v1/flows/" + id + "/nodes", bearer(of_b))), "flow_not_found");
  for (const auto& [what, body] : {std::pair{"/nodes", chain},
                                   {"/seal", "{}"},
                                   {"/cancel", "{}"},
                                   {"/pause", "{}"},
                                   {"/resume", "{}"},
                                   {"/redrive", "{}"}})
    EXPECT_EQ(code_of(post("/v1/flows/" + id + what, body, bearer(of_b))), "flow_not_found")
        << what;
  const auto node =
      text_at(body_of(get("/v1/flows/" + id + "/nodes", bearer(of_a))).at("nodes").at(0), "id");
  EXPECT_EQ(code_of(get("/v1/executions/" + node + "/inputs", bearer(of_b))),
            "execution_not_found");
  EXPECT_TRUE(body_of(get("/v1/flows", bearer(of_b))).at("flows").as_array().empty());
  EXPECT_EQ(code_of(get("/v1/flows?namespace=a", bearer(of_b))), "permission_denied");
  EXPECT_EQ(code_of(post("/v1/flows?namespace=a", chain, bearer(of_b))), "permission_denied");
}

TEST_F(HttpFlows, OtherTenantsBudgetsCannotBeSpent) {
  serve_tenants();
  const auto budget =
      text_at(body_of(post("/v1/budgets", R"({"hard_limits":{"tokens":5}})", bearer(of_a))), "id");
  const auto of_flow =
      fmt::format(R"({{"budget_ids":["{}"],"nodes":[{{"name":"a","kind":"k"}}]}})", budget);
  const auto of_node = fmt::format(
      R"({{"nodes":[{{"name":"a","kind":"k","policy":{{"budget_ids":["{}"]}}}}]}})", budget);
  EXPECT_EQ(post("/v1/flows", of_flow, bearer(of_a)).result(), Status::created);
  EXPECT_EQ(code_of(post("/v1/flows", of_flow, bearer(of_b))), "budget_not_found");
  EXPECT_EQ(code_of(post("/v1/flows", of_node, bearer(of_b))), "budget_not_found");
  const auto building =
      text_at(body_of(post("/v1/flows", R"({"building":true})", bearer(of_b))), "id");
  EXPECT_EQ(code_of(post("/v1/flows/" + building + "/nodes", of_node, bearer(of_b))),
            "budget_not_found");
}

TEST_F(HttpFlows, EventsOfOneFlowCanBeRead) {
  serve();
  const auto place = text_at(body_of(get("/v1/events")), "next");
  const auto id = submit_flow();
  submit();
  std::string types;
  const auto page = body_of(get("/v1/events?flow=" + id + "&after=" + place + "&wait_ms=10000"));
  for (const auto& event : page.at("events").as_array()) {
    types += text_at(event, "type") + " ";
    EXPECT_EQ(text_at(event, "flow"), id);
  }
  EXPECT_NE(types.find("flow_submitted"), types.npos) << types;
}

}  // namespace
}  // namespace ff::http::test
