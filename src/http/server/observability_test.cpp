// Metrics, readiness, request ids and traces of a server.
#include <gmock/gmock.h>

#include "http/server/test_support.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/faulty_env.hpp"

namespace ff::http::test {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using Field = beast::http::field;

class ObservabilityTest : public HttpTest {};

// ---- Metrics ----------------------------------------------------------------------------------------

TEST_F(ObservabilityTest, MetricsAreWhatPrometheusReads) {
  serve();
  submit();
  get("/nothing");
  post("/v1/workers/w/claim-with-lease", "{}");
  const auto answer = get("/metrics");
  EXPECT_EQ(answer[Field::content_type], "text/plain; version=0.0.4; charset=utf-8");
  std::set<std::string> helped, typed, samples;
  std::istringstream lines(answer.body());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, what, name;
    words >> hash >> what >> name;
    if (line.starts_with("# HELP ")) {
      EXPECT_TRUE(helped.insert(name).second) << line;
    } else if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(typed.insert(name).second) << line;
    } else if (!line.empty()) {
      EXPECT_THAT(line, MatchesRegex(R"([a-z_]+(\{.*\})? [-+0-9.eInfNa]+)"));
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
      auto family = line.substr(0, line.find_first_of("{ "));
      for (const char* suffix : {"_bucket", "_sum", "_count"})
        if (!typed.contains(family) && family.ends_with(suffix))
          family.resize(family.size() - std::strlen(suffix));
      EXPECT_TRUE(typed.contains(family)) << line;
    }
  }
  EXPECT_EQ(helped, typed);
  EXPECT_GT(samples.size(), 20u);
}

TEST_F(ObservabilityTest, CountersMoveWithWhatHappens) {
  serve();
  const auto requests = [&](const std::string& labels) {
    return metric("ff_http_requests_total{" + labels + "}");
  };
  const auto id = submit();
  const auto fence = json::serialize(claim(id));
  const auto path = "/v1/executions/" + id;
  EXPECT_EQ(post(path + "/renew", fence).result_int(), 200u);
  EXPECT_EQ(post(path + "/complete", fence).result_int(), 200u);
  EXPECT_EQ(post(path + "/renew", fence).result_int(), 409u);
  submit();
  post("/v1/workers/w/claim-with-lease", "{}");
  get("/nothing");
  EXPECT_EQ(requests(R"(method="POST",path="/v1/executions",status="201")"), 2);
  EXPECT_EQ(requests(R"(method="POST",path="/v1/executions/{id}/renew",status="200")"), 1);
  EXPECT_EQ(requests(R"(method="POST",path="/v1/executions/{id}/renew",status="409")"), 1);
  EXPECT_EQ(requests(R"(method="GET",path="unknown",status="404")"), 1);
  EXPECT_EQ(metric(R"(ff_lease_renewal_total{outcome="ok"})"), 1);
  EXPECT_EQ(metric(R"(ff_lease_renewal_total{outcome="error"})"), 1);
  EXPECT_EQ(metric(R"(ff_attempt_outcome_total{lane="default",outcome="ok"})"), 1);
  EXPECT_EQ(metric(R"(ff_claimed_total{lane="default"})"), 1);
  EXPECT_EQ(metric(R"(ff_events_total{type="submitted"})"), 2);
  EXPECT_EQ(metric(R"(ff_executions{lane="default",state="completed"})"), 1);
}

// ---- Readiness --------------------------------------------------------------------------------------

TEST_F(ObservabilityTest, IsNotReadyWhenTheStoreCannotBeWritten) {
  ff::test::FaultyEnv disk;
  engine_ = open_engine(temp_.path() / "data", disk.env());
  serve();
  EXPECT_EQ(get("/healthz").result_int(), 200u);
  disk.fail(ff::test::DiskFault::full);
  EXPECT_EQ(post("/v1/executions", R"({"kind":"k"})").result_int(), 503u);
  for (const char* target : {"/readyz", "/healthz"}) {
    const auto answer = get(target);
    EXPECT_EQ(answer.result_int(), 503u);
    EXPECT_EQ(answer[Field::retry_after], "1");
    EXPECT_EQ(code_of(answer), "store_unavailable");
  }
  server_.reset();
  engine_.reset();
}

class Failing final : public Scanner {
 public:
  std::string_view name() const override { return "failing"; }
  Async<Scan> run_once() override { co_return fail(Errc::internal, "as it should"); }
};

TEST_F(ObservabilityTest, IsNotReadyWhenAScannerKeepsFailing) {
  engine_ = open_engine(temp_.path() / "data");
  engine_->scanners().add(std::make_unique<Failing>(), Millis{1});
  serve();
  EXPECT_THAT(get("/readyz").body(), StartsWith(R"({"status":"ready","version":)"));
  for (int i = 0; i < 3; ++i)
    static_cast<void>(ff::test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
  const auto answer = get("/readyz");
  EXPECT_EQ(answer.result_int(), 503u);
  EXPECT_EQ(code_of(answer), "not_ready");
  EXPECT_THAT(answer.body(), HasSubstr("the scanner failing has failed"));
  EXPECT_EQ(get("/healthz").result_int(), 200u);
}

// ---- Requests ---------------------------------------------------------------------------------------

TEST_F(ObservabilityTest, EveryAnswerCarriesTheRequestsId) {
  serve();
  EXPECT_EQ(get("/healthz", "X-Request-Id: mine-1\r\n")["X-Request-Id"], "mine-1");
  EXPECT_EQ(get("/nothing", "X-Request-Id: mine-2\r\n")["X-Request-Id"], "mine-2");
  const auto minted = MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-.*");
  std::set<std::string> ids;
  for (const auto& odd :
       {std::string(), std::string("X-Request-Id: a b\r\n"),
        "X-Request-Id: " + std::string(129, 'x') + "\r\n", std::string("X-Request-Id: \xff\r\n")}) {
    const auto id = std::string(get("/healthz", odd)["X-Request-Id"]);
    EXPECT_THAT(id, minted);
    EXPECT_TRUE(ids.insert(id).second);
  }
}

TEST_F(ObservabilityTest, AnIdempotencyKeyMakesASubmitSafeToRepeat) {
  serve();
  const std::string key = "Idempotency-Key: once\r\n";
  const auto first = post("/v1/executions", R"({"kind":"k"})", key);
  const auto second = post("/v1/executions", R"({"kind":"k"})", key);
  EXPECT_EQ(first.result_int(), 201u);
  EXPECT_EQ(second.result_int(), 200u);
  EXPECT_EQ(body_of(first).at("id"), body_of(second).at("id"));
  EXPECT_EQ(code_of(post("/v1/executions", R"({"kind":"other"})", key)), "duplicate_mismatch");
  EXPECT_THAT(post("/v1/executions", R"({"kind":"k","idempotency_key":"two"})", key).body(),
              HasSubstr("as the header Idempotency-Key and in the body"));
  EXPECT_EQ(post("/v1/executions", R"({"kind":"k","idempotency_key":"once"})", key).result_int(),
            200u);
  EXPECT_EQ(code_of(post("/v1/executions/batch", R"({"executions":[{"kind":"k"}]})", key)),
            "invalid_input");
}

TEST_F(ObservabilityTest, TheTraceGoesFromTheSubmitToTheClaim) {
  serve();
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  post("/v1/executions", R"({"kind":"k"})", "traceparent: " + trace + "\r\n");
  post("/v1/executions/batch", R"({"executions":[{"kind":"k"},{"kind":"k"}]})",
       "traceparent: " + trace + "\r\n");
  post("/v1/executions", R"({"kind":"untraced"})", "traceparent: garbage\r\n");
  const auto claimed =
      body_of(post("/v1/workers/w/claim-with-lease", R"({"max":10})")).at("executions").as_array();
  ASSERT_EQ(claimed.size(), 4u);
  for (const auto& each : claimed) {
    const auto& execution = each.as_object();
    if (execution.at("kind") == "untraced")
      EXPECT_FALSE(execution.contains("traceparent"));
    else
      EXPECT_EQ(text_at(execution, "traceparent"), trace);
  }
}

TEST_F(ObservabilityTest, FieldsUnderAnotherContentTypeAreRefusedWithAHint) {
  serve();
  const auto refused = post("/v1/executions", R"({"kind":"k"})",
                            "Content-Type: application/x-www-form-urlencoded\r\n");
  EXPECT_EQ(refused.result_int(), 400u);
  EXPECT_THAT(std::string(body_of(refused).at("detail").as_string()),
              ::testing::AllOf(::testing::HasSubstr("kind is missing"),
                               ::testing::HasSubstr("Content-Type: application/json")));
}

TEST_F(ObservabilityTest, BytesTravelAsTheyAreWithTheirContentType) {
  serve();
  const std::string bytes("\x00\xff{}\r\n", 6);
  const auto id = std::string(body_of(post("/v1/executions?kind=k&tags=%7B%22a.a%22%3A%22b%22%7D",
                                           bytes, "Content-Type: image/png\r\n"))
                                  .at("id")
                                  .as_string());
  const auto path = "/v1/executions/" + id;
  const auto payload = get(path + "/payload");
  EXPECT_EQ(payload.body(), bytes);
  EXPECT_EQ(payload[Field::content_type], "image/png");
  EXPECT_EQ(payload["X-Content-Type-Options"], "nosniff");
  EXPECT_EQ(payload["Content-Security-Policy"], "default-src 'none'; sandbox");
  EXPECT_EQ(payload["Content-Disposition"], "attachment");
  const auto fence = claim(id);
  const auto text = [&](const char* name) { return text_at(fence, name); };
  const auto ended = post(
      fmt::format("{}/complete?lease_id={}&lease_epoch={}&attempt_id={}", path, text("lease_id"),
                  json::serialize(fence.at("lease_epoch")), text("attempt_id")),
      bytes, "Content-Type: application/octet-stream\r\n");
  EXPECT_EQ(body_of(ended).at("status"), "completed");
  const auto result = get(path + "/result");
  EXPECT_EQ(result.body(), bytes);
  EXPECT_EQ(result[Field::content_type], "application/octet-stream");
  EXPECT_EQ(result["X-Content-Type-Options"], "nosniff");
}

}  // namespace
}  // namespace ff::http::test
