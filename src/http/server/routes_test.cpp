#include "http/server/routes.hpp"

#include <gtest/gtest.h>

namespace ff::http {
namespace {

constexpr const char* encoded_id = "%7Bfp:7%7D:01920000-0000-7000-8000-000000000001";

Request request(Verb method, std::string target, std::string body = "",
                std::string type = "application/json") {
  Request made{method, target, 11};
  made.body() = std::move(body);
  made.set(beast::http::field::content_type, type);
  return made;
}

// "path {fields}" or "code".
std::string matched(const Request& request) {
  auto found = find_route(request.method(), request.method_string(), request.target());
  if (!found) return std::string(found.error().name());
  const auto path = found->route->endpoint.path;
  const auto fields = read_fields(std::move(*found), request, std::nullopt);
  if (!fields) return std::string(fields.error().name());
  return fmt::format("{} {} {}", path, json::serialize(fields->url), json::serialize(fields->body));
}

TEST(Routes, JoinPathQueryAndBody) {
  EXPECT_EQ(matched(request(Verb::get, "/healthz")), "/healthz {} {}");
  EXPECT_EQ(
      matched(
          request(Verb::get, std::string("/v1/executions/") + encoded_id + "/result?wait_ms=5")),
      R"(/v1/executions/{id}/result {"id":"{fp:7}:01920000-0000-7000-8000-000000000001","wait_ms":"5"} {})");
  EXPECT_EQ(matched(request(Verb::post, "/v1/workers/w%20x/claim-with-lease", R"({"max":2})")),
            R"(/v1/workers/{worker}/claim-with-lease {"worker":"w x"} {"max":2})");
}

// The server adds members of its own to what was sent.
TEST(Routes, KeepJsonPayloadsByteForByte) {
  auto post = request(Verb::post, "/v1/executions/batch",
                      R"({"executions":[{"kind":"k"}, {"payload": {"a": 1.0} ,"kind":"k"}]})");
  post.set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  auto found = find_route(post.method(), post.method_string(), post.target());
  const auto& route = *found->route;
  const auto fields = read_fields(std::move(*found), post, Namespace::parse("tenant").value());
  const auto call = route.read(*fields);
  const auto& submits = (*call)->get_if<SubmitMany>()->operation.executions;
  EXPECT_EQ(submits[0].payload, "");
  EXPECT_EQ(submits[1].payload, R"({"a": 1.0})");
  EXPECT_EQ(submits[1].ns.str(), "tenant");
}

TEST(Routes, AnAliasIsTheSameOperation) {
  const auto reader = [](std::string_view path) {
    const auto found = find_route(Verb::post, "POST", path);
    return found ? found->route->read : nullptr;
  };
  EXPECT_NE(reader("/v1/workers/w/grant"), nullptr);
  EXPECT_EQ(reader("/v1/workers/w/claim"), reader("/v1/workers/w/grant"));
  EXPECT_NE(reader("/v1/executions/complete-batch"), nullptr);
  EXPECT_EQ(reader("/v1/complete-batch"), reader("/v1/executions/complete-batch"));
}

TEST(Routes, EveryPathAndMethodIsItsOwn) {
  std::set<std::pair<std::string_view, Verb>> seen;
  for (const auto& route : routes()) {
    // Flows are opened at the path where they are submitted: the body tells which.
    if (route.endpoint.summary == endpoint<OpenFlow>.summary) continue;
    EXPECT_TRUE(seen.emplace(route.endpoint.path, route.endpoint.method).second)
        << route.endpoint.path;
  }
}

TEST(Routes, KnowWhatIsNotThere) {
  for (const char* target :
       {"/v1", "/v1/executions/", "/v1/executions/x/y/z", "/healthz/", "//healthz", "*", "no"})
    EXPECT_EQ(matched(request(Verb::get, target)), target == std::string_view("/v1/executions/")
                                                       ? R"(/v1/executions/{id} {"id":""} {})"
                                                       : "route_not_found")
        << target;
}

TEST(Routes, NameTheMethodsOfAPath) {
  const auto wrong = find_route(Verb::delete_, "DELETE", "/v1/executions");
  EXPECT_EQ(wrong.error().code, Errc::method_not_allowed);
  EXPECT_EQ(wrong.error().details.at(0).value, "POST, GET, HEAD");
}

TEST(Routes, RefuseBodiesThatAreNotJsonObjects) {
  const auto post = [](std::string body, std::string type = "application/json") {
    return matched(request(Verb::post, "/v1/executions", std::move(body), std::move(type)));
  };
  EXPECT_EQ(post("{"), "invalid_json");
  EXPECT_EQ(post("[]"), "invalid_json");
  EXPECT_EQ(post(R"({"a":1} x)"), "invalid_json");
  EXPECT_EQ(post("{\"a\":\"\xff\"}"), "invalid_json");
  EXPECT_EQ(post(std::string(1000, '[')), "invalid_json");
  EXPECT_EQ(post("{}", ""), "unsupported_media_type");
  EXPECT_EQ(matched(request(Verb::post, "/v1/backups", "{}", "text/plain")),
            "unsupported_media_type");
  EXPECT_EQ(post("{}", "application/json; charset=utf-8"), "/v1/executions {} {}");
  EXPECT_EQ(post("{}", "application/json ; charset=utf-8"), "/v1/executions {} {}");
  EXPECT_EQ(post("{}", "application/vnd.api+json"), "/v1/executions {} {}");
}

TEST(Routes, RefuseABatchOfTooManyItemsUnread) {
  std::string items = "0";
  for (int i = 0; i < 1000; ++i) items += ",0";
  for (const char* path : {"/v1/executions/batch", "/v1/executions/complete-batch"})
    EXPECT_EQ(matched(request(Verb::post, path, R"({"executions":[)" + items + "]}")),
              "invalid_input");
}

TEST(Routes, TakeABodyThatIsNotJsonAsThePayloadItself) {
  EXPECT_EQ(matched(request(Verb::post, "/v1/executions?kind=k", "bytes", "image/png")),
            R"(/v1/executions {"kind":"k"} {"payload":"bytes","content_type":"image/png"})");
  EXPECT_EQ(matched(request(Verb::post, "/v1/executions?kind=k", "", "application/octet-stream")),
            R"(/v1/executions {"kind":"k"} {"payload":""})");
}

TEST(Routes, TakeTheIdempotencyKeyAndTheTraceFromHeaders) {
  auto submit = request(Verb::post, "/v1/executions", R"({"kind":"k"})");
  submit.set("Idempotency-Key", "once");
  submit.set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(
      matched(submit),
      R"(/v1/executions {"idempotency_key":"once"} {"kind":"k","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})");
  submit.set("traceparent", "garbage");
  EXPECT_EQ(matched(submit), R"(/v1/executions {"idempotency_key":"once"} {"kind":"k"})");
  auto other = request(Verb::post, "/v1/backups", R"({"name":"n"})");
  other.set("Idempotency-Key", "once");
  EXPECT_EQ(matched(other), "invalid_input");
}

TEST(Routes, RefuseAParameterThatIsGivenTwice) {
  EXPECT_EQ(matched(request(Verb::get, "/v1/executions/a?id=b")), "invalid_input");
  EXPECT_EQ(matched(request(Verb::get, "/healthz?a=1&a=1")), "invalid_input");
}

TEST(Routes, TakeAnEmptyQueryForNone) {
  EXPECT_EQ(matched(request(Verb::get, "/healthz?")), "/healthz {} {}");
  EXPECT_EQ(matched(request(Verb::get, "/v1/counts?lane=a&&")), R"(/v1/counts {"lane":"a"} {})");
}

TEST(Routes, TakeExecutionIdsWithPlainBraces) {
  EXPECT_EQ(matched(request(Verb::get, "/v1/executions/{fp:7}:x")),
            R"(/v1/executions/{id} {"id":"{fp:7}:x"} {})");
}

TEST(Routes, TakeTheTokenOfAWaitpointFromItsHeader) {
  auto read = request(Verb::get, "/v1/waitpoint");
  EXPECT_EQ(matched(read), "missing_token");
  for (const char* other : {"Bearer t", "Waitpoint", "Waitpoint ", "t"}) {
    read.set(beast::http::field::authorization, other);
    EXPECT_EQ(matched(read), "missing_token") << other;
  }
  read.set(beast::http::field::authorization, "waitpoint t.o.k");
  EXPECT_EQ(matched(read), R"(/v1/waitpoint {"token":"t.o.k"} {})");
  read.target("/v1/waitpoint?token=u");
  EXPECT_EQ(matched(read), "invalid_input");
}

TEST(Routes, ShowPathsWithoutQueriesAndTokens) {
  EXPECT_EQ(shown_path("/v1/executions?payload=p"), "/v1/executions");
  EXPECT_EQ(shown_path("/v1/executions/7-x/waitpoints/y/close"),
            "/v1/executions/7-x/waitpoints/y/close");
  for (const char* target :
       {"/v1/waitpoints/TOKEN", "/v1/waitpoints/TOKEN/more?x=1", "/v1/wait%70oints/TOKEN",
        "/%76%31%2fwaitpoints/TOKEN", "/v1/waitpoints/TOKEN%zz"})
    EXPECT_EQ(shown_path(target), "/v1/waitpoints/…") << target;
  EXPECT_EQ(shown_path("http://host/v1/waitpoints/TOKEN"), "http://host/v1/waitpoints/…");
}

}  // namespace
}  // namespace ff::http
