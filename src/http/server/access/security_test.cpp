// Access control of every route.
#include <gmock/gmock.h>

#include "base/text/rfc3339.hpp"
#include "http/server/routes.hpp"
#include "http/server/test_support.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* some_id = "%7Bfp:7%7D:01920000-0000-7000-8000-000000000001";

constexpr const char* some_uuid = "01920000-0000-7000-8000-000000000002";

const std::map<Role, std::string> token_of{{Role::read, "read-token-0123456789"},
                                           {Role::submit, "submit-token-0123456789"},
                                           {Role::work, "work-token-0123456789"},
                                           {Role::admin, "admin-token-0123456789"}};
const std::string expired = "expired-token-0123456789";
const std::string of_a = "team-a-token-0123456789";
const std::string of_b = "team-b-token-0123456789";

class SecurityTest : public HttpTest {
 protected:
  SecurityTest() { serve({.credentials = {.access = all_tokens()}}); }
  ~SecurityTest() override { server_.reset(); }  // before the log goes

  std::shared_ptr<const Access> all_tokens() const {
    std::string tokens;
    for (const auto& [role, token] : token_of)
      tokens +=
          fmt::format(R"({{"name":"{0}","token":"{1}","roles":["{0}"]}},)", to_string(role), token);
    for (const auto& [ns, token] : {std::pair{"a", of_a}, {"b", of_b}})
      tokens += fmt::format(
          R"({{"name":"team-{0}","token":"{1}","roles":["submit","work","admin"],"namespace":"{0}"}},)",
          ns, token);
    tokens += fmt::format(
        R"({{"name":"old","token":"{}","roles":["admin"],"expires_at":"2020-01-01T00:00:00Z"}})",
        expired);
    return access(tokens);
  }

  static std::string target_of(const Route& route) {
    std::string target(route.endpoint.path);
    for (const auto& [name, value] : {std::pair<std::string, std::string>{"{id}", some_id},
                                      {"{execution_id}", some_id},
                                      {"{worker}", "w"},
                                      {"{lane}", "l"},
                                      {"{waitpoint}", some_uuid},
                                      {"{name}", "n"}, {"{stream}", "s"}})
      if (const auto at = target.find(name); at != target.npos)
        target.replace(at, name.size(), value);
    return target;
  }
  Response ask_route(const Route& route, const std::string& headers) const {
    return ask({.method = std::string(beast::http::to_string(route.endpoint.method)),
                .target = target_of(route),
                .body = has_body(route.endpoint.method) ? "{}" : "",
                .headers = headers});
  }
  std::string all_executions() const {
    return get("/v1/counts", bearer(token_of.at(Role::admin))).body();
  }

  ff::test::LogCapture log_;
};

TEST_F(SecurityTest, WithoutAValidTokenNothingIsDone) {
  for (const auto& route : routes()) {
    if (route.endpoint.role == Role::nobody) continue;
    const auto& valid = token_of.at(Role::admin);
    for (const auto& header :
         {std::string(), bearer("wrong-token-0123456789"), bearer(""), bearer(expired),
          bearer(valid + "x"), bearer(valid.substr(1)),
          bearer(valid + " "
                         "x"),
          "Authorization: Basic " + valid + "\r\n", "Authorization: " + valid + "\r\n",
          std::string("Authorization: Bearer\r\n"), "X-Authorization: Bearer " + valid + "\r\n"}) {
      const auto refused = ask_route(route, header);
      EXPECT_EQ(refused.result_int(), 401u) << route.endpoint.path << " " << header;
      EXPECT_EQ(refused[beast::http::field::www_authenticate], "Bearer");
      EXPECT_EQ(code_of(refused), "unauthenticated");
    }
  }
  EXPECT_THAT(post("/v1/executions", R"({"kind":"k"})").body(), HasSubstr("unauthenticated"));
  EXPECT_EQ(all_executions(), R"({"counts":[]})");
}

TEST_F(SecurityTest, EveryRouteAsksForItsRole) {
  for (const auto& route : routes()) {
    if (route.endpoint.role == Role::nobody) continue;
    for (const auto& [role, token] : token_of) {
      const bool may =
          route.endpoint.role == Role::read || role == Role::admin || role == route.endpoint.role;
      const auto answer = ask_route(route, bearer(token));
      if (may) {
        EXPECT_THAT(answer.result_int(), Not(::testing::AnyOf(401u, 403u)))
            << to_string(role) << " " << route.endpoint.path;
      } else {
        EXPECT_EQ(answer.result_int(), 403u) << to_string(role) << " " << route.endpoint.path;
        EXPECT_EQ(code_of(answer), "permission_denied");
      }
    }
  }
}

TEST_F(SecurityTest, HealthIsOpenAndEverythingUnknownIsNot) {
  EXPECT_EQ(get("/healthz").result_int(), 200u);
  EXPECT_EQ(get("/readyz").result_int(), 200u);
  EXPECT_EQ(get("/healthz", bearer("wrong-token-0123456789")).result_int(), 200u);
  for (const char* target : {"/", "/nothing", "/v1/executions/", "/healthz/", "/healthz?a=1&a=1",
                             "//healthz", "*", "/healthz%2f", "/%zz"})
    EXPECT_EQ(get(target).result_int(), 401u) << target;
  EXPECT_EQ(ask({.method = "DELETE", .target = "/healthz"}).result_int(), 401u);
  EXPECT_EQ(get("/nothing", bearer(token_of.at(Role::read))).result_int(), 404u);
}

TEST_F(SecurityTest, CredentialsAreExchangedUnderAnOpenConnection) {
  Peer peer(port_);
  const auto status = [&](const std::string& token) {
    peer.send(to_text({.target = "/v1/counts", .headers = bearer(token)}));
    return peer.read().result_int();
  };
  const auto& before = token_of.at(Role::read);
  EXPECT_EQ(status(before), 200u);
  server_->exchange({.access = must(Access::load("another-token-0123456789", ""))});
  EXPECT_EQ(status(before), 401u);
  EXPECT_EQ(status("another-token-0123456789"), 200u);
}

TEST_F(SecurityTest, AnEventStreamEndsWithItsToken) {
  const auto follow = [&](Peer& peer, const std::string& token) {
    peer.send(to_text(
        {.target = "/v1/events", .headers = bearer(token) + "Accept: text/event-stream\r\n"}));
    peer.read_until("\r\n\r\n");
    peer.read_until("\n\n");
  };
  const auto entry = [](const char* token, const std::string& more) {
    return fmt::format(R"({{"name":"n","token":"{}","roles":["submit"]{}}})", token, more);
  };
  constexpr const char* kept = "kept-token-0123456789";
  constexpr const char* ending = "ending-token-0123456789";
  Peer revoked(port_), expiring(port_), valid(port_);
  follow(revoked, token_of.at(Role::read));
  const auto soon = to_rfc3339(SystemClock().now() + Millis{500});
  server_->exchange({.access = access(entry(kept, "") + "," +
                                      entry(ending, R"(,"expires_at":")" + soon + "\""))});
  EXPECT_THAT(revoked.read_all(), Not(HasSubstr("event:")));
  follow(expiring, ending);
  EXPECT_THAT(expiring.read_all(), Not(HasSubstr("event:")));
  // A token that stays valid keeps its stream.
  follow(valid, kept);
  server_->exchange({.access = access(entry(kept, "") + "," + entry(ending, ""))});
  submit(R"({"kind":"k"})", bearer(kept));
  valid.read_until("event: submitted");
}

TEST_F(SecurityTest, NoTokenIsEverTold) {
  std::string told;
  for (const auto& route : routes())
    for (const auto& token : {token_of.at(Role::read), token_of.at(Role::admin), expired, of_a,
                              std::string("wrong-token-0123456789")}) {
      const auto answer = ask_route(route, bearer(token));
      for (const auto& field : answer) told += field.value();
      told += answer.body();
    }
  Peer garbled(port_);
  garbled.send("GET / HTTP/1.1\r\n" + bearer(of_a) + "X Y: z\r\n\r\n");
  told += garbled.read_all();
  server_.reset();
  EXPECT_THAT(log_.text(), HasSubstr("by=team-a"));
  EXPECT_THAT(log_.text() + told, Not(HasSubstr("token-0123456789")));
}

TEST_F(SecurityTest, NoPayloadIsLogged) {
  const auto headers = bearer(token_of.at(Role::submit)) + "Content-Type: text/plain\r\n";
  for (const char* target :
       {"/v1/executions?kind=k&payload=secret-text", "/v1/no?payload=secret-text"})
    ask({.method = "POST", .target = target, .headers = headers});
  server_.reset();
  EXPECT_THAT(log_.text(),
              ::testing::AllOf(HasSubstr("POST /v1/executions "), Not(HasSubstr("secret-text"))));
}

// ---- No tokens ---------------------------------------------------------------------------------------

class OpenServerTest : public HttpTest {
 protected:
  unsigned status(const std::string& method, const std::string& headers) const {
    Peer peer(port_);
    peer.send(fmt::format("{} /v1/executions?kind=k HTTP/1.1\r\n{}\r\n", method, headers));
    return peer.read().result_int();
  }
};

TEST_F(OpenServerTest, WebPagesCanNeitherDriveNorReadIt) {
  serve();
  const std::string host = "Host: localhost:9090\r\n";
  const std::string text = "Content-Type: text/plain\r\nContent-Length: 0\r\n";
  EXPECT_EQ(status("POST", host + text + "Origin: https://evil.example\r\n"), 403u);
  EXPECT_EQ(status("POST", host + text + "Sec-Fetch-Site: cross-site\r\n"), 403u);
  EXPECT_EQ(status("GET", host + "Sec-Fetch-Site: same-site\r\n"), 403u);
  EXPECT_EQ(status("POST", "Host: rebound.example\r\nOrigin: http://rebound.example\r\n" + text),
            403u);
  EXPECT_EQ(get("/v1/counts").body(), R"({"counts":[]})");
  EXPECT_EQ(status("POST", host + text + "Origin: http://localhost:9090\r\n"), 201u);
}

TEST_F(OpenServerTest, OtherNamesNeedTokens) {
  serve();
  for (const char* target : {"/healthz", "http://ff.example/healthz"}) {
    Peer peer(port_);
    peer.send(fmt::format("GET {} HTTP/1.1\r\nHost: ff.example\r\n\r\n", target));
    EXPECT_EQ(code_of(peer.read()), "permission_denied");
  }
  server_->exchange({.access = must(Access::load("another-token-0123456789", ""))});
  Peer peer(port_);
  peer.send("GET http://ff.example/healthz HTTP/1.1\r\nHost: ff.example\r\n\r\n");
  EXPECT_EQ(peer.read().result_int(), 200u);
}

// ---- One namespace ----------------------------------------------------------------------------------

TEST_F(SecurityTest, ATokenForANamespaceMeansItWhenNoneIsSaid) {
  const auto id = submit(R"({"kind":"k"})", bearer(of_a));
  EXPECT_EQ(body_of(get("/v1/executions/" + id, bearer(of_a))).at("namespace"), "a");
  const auto many =
      body_of(post("/v1/executions/batch",
                   R"({"executions":[{"kind":"k"},{"kind":"k","namespace":"b"}]})", bearer(of_a)))
          .at("results")
          .as_array();
  EXPECT_EQ(many[0].as_object().at("status"), "ok");
  EXPECT_EQ(many[1].as_object().at("error").as_object().at("code"), "permission_denied");
  const auto raw =
      post("/v1/executions?kind=k", "bytes", bearer(of_a) + "Content-Type: text/plain\r\n");
  EXPECT_EQ(raw.result_int(), 201u);
  EXPECT_EQ(body_of(get("/v1/executions", bearer(of_a))).at("executions").as_array().size(), 3u);
  EXPECT_THAT(get("/v1/counts", bearer(of_a)).body(), HasSubstr(R"("count":3)"));
  const auto claimed = post("/v1/workers/w/claim-with-lease", R"({"max":10})", bearer(of_a));
  EXPECT_EQ(body_of(claimed).at("executions").as_array().size(), 3u);
  EXPECT_EQ(all_executions(), R"({"counts":[]})");  // of the default one
}

TEST_F(SecurityTest, OtherNamespacesAreDenied) {
  submit(R"({"kind":"k"})", bearer(of_b));
  for (const char* target : {"/v1/executions?namespace=b", "/v1/counts?namespace=b",
                             "/v1/events?namespace=b", "/metrics"})
    EXPECT_EQ(code_of(get(target, bearer(of_a))), "permission_denied") << target;
  for (const auto& [target, body] : {std::pair{"/v1/executions", R"({"kind":"k","namespace":"b"})"},
                                     {"/v1/workers/w/claim-with-lease", R"({"namespace":"b"})"},
                                     {"/v1/workers/w/claim", R"({"namespace":"b"})"},
                                     {"/v1/workers/w/claim?namespace=b", "{}"},
                                     {"/v1/backups", R"({"name":"mine"})"}})
    EXPECT_EQ(code_of(post(target, body, bearer(of_a))), "permission_denied") << target;
  EXPECT_EQ(get("/openapi.json", bearer(of_a)).result_int(), 200u);
}

// Every route with an execution's id: the answer is the same as for an execution that is not there at all.
TEST_F(SecurityTest, OtherNamespacesExecutionsAreNotThere) {
  const auto id = submit(R"({"kind":"k","payload":"secret"})", bearer(of_b));
  auto fence = claim(id, bearer(of_b));
  const auto before = get("/v1/executions/" + id, bearer(of_b)).body();
  fence["worker"] = "w";
  const auto more = json::parse(
      R"({"reason":"r","until_ms":4000000000000,"priority":3,"set":{"a.b":"c"},"key":"w",
          "waitpoint_id":"01920000-0000-7000-8000-000000000002","waitpoint_token":"x",
          "signal_id":"01920000-0000-7000-8000-000000000002","signal_name":"s",
          "written":0,"frames":[{"bytes":"x"}]})");
  for (const auto& field : more.as_object()) fence[field.key()] = field.value();
  std::size_t asked = 0;
  for (const auto& route : routes()) {
    std::string target(route.endpoint.path);
    if (!target.starts_with("/v1/executions/{")) continue;
    target.replace(target.find('{'), target.find('}') - target.find('{') + 1, id);
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"{waitpoint}", some_uuid},
          {"{name}", "n"},
          {"{stream}", "s"},
          {"{attempt}", "0"}})
      if (const auto at = target.find(name); at != target.npos)
        target.replace(at, name.size(), value);
    // Only the fields that it knows: those that it does not are told one by one.
    auto fields = fence;
    Response answer;
    while (true) {
      answer = ask({.method = std::string(beast::http::to_string(route.endpoint.method)),
                    .target = target,
                    .body = route.endpoint.method == Verb::get ? "" : json::serialize(fields),
                    .headers = bearer(of_a)});
      // A reason is free text in some requests and a word of a list in others.
      const bool is_word =
          code_of(answer) == "invalid_input" && text_at(body_of(answer), "field") == "reason";
      if (code_of(answer) != "unknown_field" && !is_word) break;
      fields.erase(std::string_view(body_of(answer).at("field").as_string()));
    }
    EXPECT_EQ(code_of(answer), "execution_not_found") << target << answer.body();
    ++asked;
  }
  EXPECT_GT(asked, 28u);
  fence = {{"lease_id", fence["lease_id"]},
           {"lease_epoch", fence["lease_epoch"]},
           {"attempt_id", fence["attempt_id"]},
           {"id", id}};
  const auto own_id = submit(R"({"kind":"k"})", bearer(of_a));
  auto own = claim(own_id, bearer(of_a));
  own["id"] = own_id;
  const auto batch =
      body_of(post("/v1/executions/complete-batch",
                   json::serialize(json::object{{"executions", json::array{fence, own}}}),
                   bearer(of_a)))
          .at("results")
          .as_array();
  EXPECT_EQ(batch[0].as_object().at("error").as_object().at("code"), "execution_not_found");
  EXPECT_EQ(batch[1].as_object().at("state"), "completed");
  EXPECT_EQ(get("/v1/executions/" + id, bearer(of_b)).body(), before);
}

// A budget acts on the execution that a report names.
TEST_F(SecurityTest, OtherNamespacesExecutionsCannotBeReportedAsSpenders) {
  const auto id = submit(R"({"kind":"k"})", bearer(of_b));
  const auto budget =
      std::string(body_of(post("/v1/budgets", R"({"hard_limits":{"tokens":1}})", bearer(of_a)))
                      .at("id")
                      .as_string());
  auto report = claim(id, bearer(of_b));
  report["execution_id"] = id;
  report["dimensions"] = json::object{{"tokens", 2}};
  const auto target = "/v1/budgets/" + budget;
  EXPECT_EQ(code_of(post(target + "/usage", json::serialize(report), bearer(of_a))),
            "execution_not_found");
  const json::object release{{"execution_id", id}};
  EXPECT_EQ(code_of(post(target + "/release", json::serialize(release), bearer(of_a))),
            "execution_not_found");
  EXPECT_EQ(body_of(get("/v1/executions/" + id, bearer(of_b))).at("state"), "active");
}

TEST_F(SecurityTest, OtherNamespacesBudgetsAndQuotasAreNotThere) {
  for (const auto& [path, body, code] :
       {std::tuple{"/v1/budgets", R"({"hard_limits":{"tokens":10}})", "budget_not_found"},
        {"/v1/quotas", R"({"max_concurrent":1})", "quota_policy_not_found"}}) {
    const auto created = body_of(post(path, body, bearer(of_b)));
    const auto target = std::string(path) + "/" + text_at(created, "id");
    const auto before = get(target, bearer(of_b)).body();
    EXPECT_EQ(code_of(get(target, bearer(of_a))), code);
    EXPECT_EQ(code_of(ask({.method = "DELETE", .target = target, .headers = bearer(of_a)})), code);
    EXPECT_THAT(get(path, bearer(of_a)).body(), Not(HasSubstr(text_at(created, "id"))));
    EXPECT_EQ(get(target, bearer(of_b)).body(), before);
  }
}

TEST_F(SecurityTest, OtherNamespacesBudgetsCannotBeSpentOrReset) {
  const auto id =
      text_at(body_of(post("/v1/budgets", R"({"hard_limits":{"tokens":10}})", bearer(of_b))), "id");
  for (const auto& [verb, body] :
       {std::pair{"/usage", R"({"dimensions":{"tokens":1}})"},
        {"/release", R"({"execution_id":"{fp:7}:01920000-0000-7000-8000-000000000001"})"},
        {"/reset", "{}"}})
    EXPECT_EQ(code_of(post("/v1/budgets/" + id + verb, body, bearer(of_a))), "budget_not_found");
}

TEST_F(SecurityTest, WorkIsNotAttachedToOtherNamespacesBudgetsAndQuotas) {
  const auto made = [&](const char* path, const char* body) {
    return text_at(body_of(post(path, body, bearer(of_b))), "id");
  };
  const auto budget = made("/v1/budgets", R"({"hard_limits":{"tokens":10}})");
  const auto quota = made("/v1/quotas", R"({"max_concurrent":1})");
  const auto with_budget =
      fmt::format(R"({{"kind":"k","policy":{{"budget_ids":["{}"]}}}})", budget);
  const auto with_quota =
      fmt::format(R"({{"kind":"k","policy":{{"quota_policy_id":"{}"}}}})", quota);
  EXPECT_EQ(code_of(post("/v1/executions", with_budget, bearer(of_a))), "budget_not_found");
  EXPECT_EQ(code_of(post("/v1/executions", with_quota, bearer(of_a))), "quota_policy_not_found");
  EXPECT_EQ(post("/v1/executions", with_budget, bearer(of_b)).result_int(), 201u);
}

TEST_F(SecurityTest, WorkersAreSeenInTheirNamespace) {
  post("/v1/workers/w/register", "{}", bearer(of_b));
  EXPECT_EQ(get("/v1/workers", bearer(of_a)).body(), R"({"workers":[]})");
  EXPECT_EQ(code_of(get("/v1/workers/w", bearer(of_a))), "worker_not_found");
  EXPECT_EQ(code_of(get("/v1/workers/w?namespace=b", bearer(of_a))), "permission_denied");
  EXPECT_EQ(code_of(post("/v1/workers/w/drain", "{}", bearer(of_a))), "worker_not_found");
  EXPECT_EQ(get("/v1/workers/w", bearer(of_b)).result_int(), 200u);
}

TEST_F(SecurityTest, ABatchThatIsTooLongIsRefusedAsAWhole) {
  json::array items;
  for (int i = 0; i < 1001; ++i) items.push_back(json::object{{"kind", "k"}, {"namespace", "b"}});
  const auto refused = post("/v1/executions/batch",
                            json::serialize(json::object{{"executions", items}}), bearer(of_a));
  EXPECT_EQ(code_of(refused), "invalid_input");
  EXPECT_EQ(code_of(post("/v1/executions/batch", R"({"executions":[]})", bearer(of_a))),
            "invalid_input");
}

TEST_F(SecurityTest, EventsAreOnlyTheOwn) {
  const auto start = body_of(get("/v1/events", bearer(of_a))).at("next").as_string();
  const auto other = submit(R"({"kind":"k"})", bearer(of_b));
  const auto own = submit(R"({"kind":"k"})", bearer(of_a));
  const auto after = "?after=" + std::string(start);
  const auto events = body_of(get("/v1/events" + after, bearer(of_a))).at("events").as_array();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(text_at(events[0], "id"), own);
  EXPECT_THAT(
      body_of(get("/v1/events" + after + "&id=" + other, bearer(of_a))).at("events").as_array(),
      IsEmpty());
  Peer stream(port_);
  stream.send(to_text(
      {.target = "/v1/events" + after, .headers = bearer(of_a) + "Accept: text/event-stream\r\n"}));
  stream.read_until("\r\n\r\n");
  EXPECT_THAT(stream.read_until("\n\n"), ::testing::AllOf(HasSubstr(own), Not(HasSubstr(other))));
}

TEST_F(SecurityTest, ARepeatedClaimIsKnownOnlyInItsNamespace) {
  submit(R"({"kind":"k"})", bearer(of_b));
  const auto body = R"({"request_id":"01920000-0000-7000-8000-000000000002"})";
  const auto claimed = [&](const std::string& token) {
    return body_of(post("/v1/workers/w/claim-with-lease", body, bearer(token)))
        .at("executions")
        .as_array()
        .size();
  };
  EXPECT_EQ(claimed(of_b), 1u);
  EXPECT_EQ(claimed(of_a), 0u);
  EXPECT_EQ(claimed(of_b), 1u);
}

}  // namespace
}  // namespace ff::http::test
