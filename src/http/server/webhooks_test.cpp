#include "http/server/webhooks.hpp"

#include <gmock/gmock.h>

#include "base/text/base64.hpp"
#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "http/server/test_support.hpp"
#include "http/wire/problem.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* hook_secret = "webhook-secret-0123456789";
constexpr const char* known_execution = "{fp:7}:01920000-0000-7000-8000-000000000001";
const TimePoint received_at{std::chrono::seconds{1'800'000'000}};

class WebhooksTest : public HttpTest {
 protected:
  WebhooksTest() { write("hook.secret", std::string(hook_secret) + "\n"); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(temp_.path() / name) << text;
  }
  Result<std::shared_ptr<const Webhooks>> load(const std::string& text) const {
    write("webhooks.json", text);
    return Webhooks::load(temp_.path() / "webhooks.json");
  }
  // A webhook named "hook" with these members beside the usual ones.
  static std::string hook(const std::string& more = "") {
    return R"({"webhooks":[{"name":"hook","secret_file":"hook.secret",
      "signature":{"header":"X-Signature","prefix":"sha256="},
      "execution":{"pointer":"/run/id"},"signal":{"constant":"done"})" +
           more + "}]}";
  }

  static std::string sign(std::string_view bytes, std::string_view with = hook_secret) {
    return "sha256=" + hex_encode(hmac_sha256(with, bytes));
  }
  static Request request(const std::string& body, const std::string& signature) {
    Request made{Verb::post, "/v1/webhooks/hook", 11};
    made.set(beast::http::field::content_type, "application/json");
    if (!signature.empty()) made.set("X-Signature", signature);
    made.body() = body;
    return made;
  }
  static std::string body_for(std::string_view execution = known_execution) {
    return fmt::format(R"({{"run":{{"id":"{}","number":7}}}})", execution);
  }

  // "ID NAME key=… bytes=…", "ignored", or "code: message".
  static std::string received(const Webhooks& webhooks, const Request& request,
                              std::string_view name = "hook") {
    const auto got = webhooks.receive(name, request, received_at);
    if (!got) return fmt::format("{}: {}", got.error().name(), got.error().message);
    if (!got->signal) return "ignored";
    const auto& signal = *got->signal;
    return fmt::format("{} {} key={} bytes={}", signal.id.str(), signal.name.str(),
                       signal.idempotency_key ? signal.idempotency_key->str() : "",
                       signal.payload.size());
  }
};

// ---- Verifying ----------------------------------------------------------------------------------

TEST_F(WebhooksTest, ASignedRequestIsASignal) {
  const auto webhooks = must(load(hook()));
  const auto body = body_for();
  EXPECT_EQ(received(*webhooks, request(body, sign(body))),
            fmt::format("{} done key=webhook:hook:{} bytes={}", known_execution,
                        hex_encode(hmac_sha256("", body)), body.size()));
  const auto got = must(webhooks->receive("hook", request(body, sign(body)), received_at));
  EXPECT_EQ(got.signal->source, (SignalSource{"webhook", "hook"}));
  EXPECT_EQ(got.signal->content_type->str(), "application/json");
}

TEST_F(WebhooksTest, EveryRequestThatIsNotVerifiedIsRefusedAlike) {
  const auto webhooks = must(load(hook()));
  const auto body = body_for();
  const auto refused = received(*webhooks, request(body, sign(body)), "nobody");
  EXPECT_THAT(refused, AllOf(HasSubstr("invalid_token: "), Not(HasSubstr(hook_secret))));
  const auto good = sign(body);
  for (const auto& signature :
       {std::string(), std::string("sha256="), good.substr(0, good.size() - 2), good + "00",
        sign(body, "another-secret-0123456789"), sign(body + " "), good.substr(7),
        "sha1=" + good.substr(7), std::string("sha256=zz"), std::string(4000, ',')})
    EXPECT_EQ(received(*webhooks, request(body, signature)), refused) << signature;
  EXPECT_EQ(received(*webhooks, request("not JSON", "")), refused);
  EXPECT_EQ(received(Webhooks{}, request(body, good)), refused);
}

TEST_F(WebhooksTest, TheSecretsOfARotationAreBothValid) {
  write("hook.secret", "older-secret-0123456789\r\n\n" + std::string(hook_secret));
  const auto webhooks = must(load(hook()));
  const auto body = body_for();
  for (const char* with : {hook_secret, "older-secret-0123456789"})
    EXPECT_THAT(received(*webhooks, request(body, sign(body, with))), HasSubstr("done"));
}

TEST_F(WebhooksTest, ASignatureCanBeBase64AndOneOfSeveral) {
  const auto webhooks = must(load(R"({"webhooks":[{"name":"hook","secret_file":"hook.secret",
      "signature":{"header":"X-Signature","prefix":"v1=","encoding":"base64"},
      "execution":{"pointer":"/run/id"},"signal":{"constant":"done"}}]})"));
  const auto body = body_for();
  const auto code = base64_encode(hmac_sha256(hook_secret, body));
  EXPECT_THAT(received(*webhooks, request(body, "t=1, v1=bm8=, v1=" + code)), HasSubstr("done"));
  EXPECT_THAT(received(*webhooks, request(body, "v0=" + code)), HasSubstr("invalid_token"));
}

TEST_F(WebhooksTest, ATimestampIsSignedAndRecent) {
  const auto webhooks =
      must(load(hook(R"(,"timestamp":{"header":"X-Time","tolerance_ms":60000})")));
  const auto body = body_for();
  const auto at = [&](const std::string& time, const std::string& signed_time) {
    auto made = request(body, sign(signed_time + "." + body));
    made.set("X-Time", time);
    return received(*webhooks, made);
  };
  EXPECT_THAT(at("1800000000", "1800000000"), HasSubstr("done"));
  EXPECT_THAT(at("1800000060", "1800000060"), HasSubstr("done"));
  EXPECT_THAT(at("1799999940000", "1799999940000"), HasSubstr("done"));  // milliseconds
  for (const char* time : {"1800000061", "1799999939", "", "x", "-1", "99999999999999999999"})
    EXPECT_THAT(at(time, time), HasSubstr("invalid_token")) << time;
  EXPECT_THAT(at("1800000000", "1799990000"), HasSubstr("invalid_token"));
  EXPECT_THAT(received(*webhooks, request(body, sign(body))), HasSubstr("invalid_token"));
}

TEST_F(WebhooksTest, TheSignedTextFollowsItsTemplate) {
  const auto webhooks =
      must(load(hook(R"(,"timestamp":{"header":"X-Time"},"signed":"v0:{timestamp}:{body}")")));
  const auto body = R"({"run":{"id":"{fp:7}:01920000-0000-7000-8000-000000000001",)"
                    R"("text":"{timestamp}{body}"}})";
  auto made = request(body, sign(std::string("v0:1800000000:") + body));
  made.set("X-Time", "1800000000");
  EXPECT_THAT(received(*webhooks, made), HasSubstr("done"));
}

// ---- Mapping ------------------------------------------------------------------------------------

TEST_F(WebhooksTest, ValuesComeFromBodyAndConstants) {
  const auto webhooks = must(load(R"({"webhooks":[{"name":"hook","secret_file":"hook.secret",
      "signature":{"header":"X-Signature","prefix":"sha256="},
      "execution":{"constant":"{fp:7}:01920000-0000-7000-8000-000000000001"},
      "signal":{"pointer":"/a~1b/0"},
      "idempotency_key":{"pointer":"/number"}}]})"));
  const std::string body = R"({"a/b":["merged"],"number":7})";
  EXPECT_EQ(received(*webhooks, request(body, sign(body))),
            fmt::format("{} merged key=7 bytes={}", known_execution, body.size()));
}

TEST_F(WebhooksTest, AVerifiedRequestWithoutTheValuesIsToldSo) {
  const auto webhooks = must(load(hook()));
  const auto got = [&](const std::string& body) {
    return received(*webhooks, request(body, sign(body)));
  };
  EXPECT_THAT(got("{}"), HasSubstr("invalid_input: the request has no text for execution"));
  EXPECT_THAT(got(R"({"run":{"id":[]}})"), HasSubstr("no text for execution"));
  EXPECT_THAT(got(R"({"run":{"id":"no-id"}})"), HasSubstr("invalid_input: execution: "));
  EXPECT_THAT(got("not JSON"), HasSubstr("invalid_json"));
}

TEST_F(WebhooksTest, TheFieldOfAnErrorNamesTheMappedValue) {
  const auto field_of = [&](const std::string& source, const std::string& body) {
    const auto webhooks = must(load(hook(source)));
    const auto got = webhooks->receive("hook", request(body, sign(body)), received_at);
    return got ? "" : json::serialize(to_problem(got.error()).at("field"));
  };
  EXPECT_EQ(field_of("", "{}"), R"("execution")");
  EXPECT_EQ(field_of("", body_for("nope")), R"("execution")");
  const auto key = fmt::format(R"(,"idempotency_key":{{"constant":"{}"}})", std::string(300, 'k'));
  EXPECT_EQ(field_of(key, body_for()), R"("idempotency_key")");
}

TEST_F(WebhooksTest, OtherRequestsAreLeftAlone) {
  const auto webhooks = must(load(hook(
      R"(,"only_if":[{"header":"X-Event","equals":"run"},{"pointer":"/run/number","equals":"7"}])")));
  const auto body = body_for();
  auto made = request(body, sign(body));
  EXPECT_EQ(received(*webhooks, made), "ignored");
  made.set("X-Event", "run");
  EXPECT_THAT(received(*webhooks, made), HasSubstr("done"));
  const std::string other = R"({"run":{"number":8}})";
  auto of_other = request(other, sign(other));
  of_other.set("X-Event", "run");
  EXPECT_EQ(received(*webhooks, of_other), "ignored");
}

// ---- The file -----------------------------------------------------------------------------------

TEST_F(WebhooksTest, WrongFilesAreRefusedWithThePathAndWithoutTheSecret) {
  const auto refusal = [&](const std::string& text) {
    const auto loaded = load(text);
    const auto message = loaded ? std::string("loaded") : loaded.error().message;
    EXPECT_THAT(message, Not(HasSubstr(hook_secret)));
    return message;
  };
  EXPECT_THAT(refusal("{"), HasSubstr("must be JSON like"));
  EXPECT_THAT(refusal("{}"), HasSubstr("webhooks is missing"));
  EXPECT_THAT(refusal(R"({"webhooks":[]})"), HasSubstr("must hold 1 to"));
  EXPECT_THAT(refusal(hook(R"(,"secret":"x")")), HasSubstr("(at webhooks[0].secret)"));
  EXPECT_THAT(refusal(hook(R"(,"timestamp":{"header":"X","tolerance":1})")),
              HasSubstr("(at webhooks[0].timestamp.tolerance)"));
  EXPECT_THAT(refusal(hook(R"(,"idempotency_key":{})")),
              HasSubstr("webhook 'hook': idempotency_key must have one of"));
  EXPECT_THAT(refusal(hook(R"(,"idempotency_key":{"pointer":"a/b"})")),
              HasSubstr("idempotency_key.pointer must be a JSON pointer"));
  EXPECT_THAT(refusal(hook(R"(,"idempotency_key":{"pointer":"/a~2"})")), HasSubstr("JSON pointer"));
  for (const char* member : {"waitpoint", "idempotency_key"})
    EXPECT_THAT(refusal(hook(fmt::format(R"(,"{}":{{"header":"X"}})", member))),
                HasSubstr(fmt::format("{} must not come from a header", member)));
  EXPECT_THAT(refusal(hook(R"(,"signed":"{timestamp}.{body}")")), HasSubstr("signed must have"));
  EXPECT_THAT(refusal(hook(R"(,"signed":"body")")), HasSubstr("signed must have {body} once"));
  EXPECT_THAT(refusal(hook(R"(,"timestamp":{"header":"X","tolerance_ms":0})")),
              HasSubstr("tolerance_ms must be from 1"));
  EXPECT_THAT(refusal(hook("},{\"name\":\"hook\",\"secret_file\":\"hook.secret\",\"signature\":"
                           "{\"header\":\"X\"},\"execution\":{\"constant\":\"X\"},\"signal\":"
                           "{\"constant\":\"X\"}")),
              HasSubstr("two of this name"));
  write("hook.secret", "short\n");
  EXPECT_THAT(refusal(hook()), AllOf(HasSubstr("at least 16"), Not(HasSubstr("short\n"))));
  std::filesystem::remove(temp_.path() / "hook.secret");
  EXPECT_THAT(refusal(hook()), HasSubstr("cannot be read"));
}

// ---- Over HTTP ----------------------------------------------------------------------------------

class WebhookServerTest : public WebhooksTest {
 protected:
  void serve_hook(const std::string& more = "", ServerLimits limits = {}) {
    const auto access = must(Access::load("a-token-0123456789", ""));
    serve(
        {.credentials = {.access = access, .webhooks = must(load(hook(more)))}, .limits = limits});
  }
  Response call(const std::string& body, const std::string& signature) const {
    return post("/v1/webhooks/hook", body,
                "Content-Type: application/json\r\nX-Signature: " + signature + "\r\n");
  }
};

TEST_F(WebhookServerTest, NoTokenIsNeededAndTheSignalArrivesOnce) {
  const ff::test::LogCapture log;
  serve_hook(R"(,"idempotency_key":{"pointer":"/run/number"})");
  const auto execution = submit(R"({"kind":"k"})", bearer("a-token-0123456789"));
  const auto body = body_for(execution);
  EXPECT_EQ(call(body, sign(body)).body(), R"({"status":"accepted"})");
  EXPECT_EQ(call(body, sign(body)).body(), R"({"status":"duplicate"})");
  const auto signals =
      body_of(get("/v1/executions/" + execution + "/signals", bearer("a-token-0123456789")));
  ASSERT_EQ(signals.at("signals").as_array().size(), 1u);
  EXPECT_EQ(text_at(signals.at("signals").as_array()[0], "payload"), body);
  EXPECT_THAT(log.text(), HasSubstr("POST /v1/webhooks/hook 200"));
  EXPECT_THAT(log.text(), HasSubstr("by=webhook:hook"));
  server_.reset();
}

TEST_F(WebhookServerTest, RecordedRequestCountsOnceWhateverItsHeadersSay) {
  serve_hook();
  const auto token = bearer("a-token-0123456789");
  const auto execution = submit(R"({"kind":"k"})", token);
  const auto body = body_for(execution);
  const auto send = [&](const std::string& delivery) {
    return post("/v1/webhooks/hook", body,
                fmt::format("Content-Type: application/json\r\nX-Signature: {}\r\n"
                            "X-Delivery: {}\r\n",
                            sign(body), delivery))
        .body();
  };
  EXPECT_EQ(send("1"), R"({"status":"accepted"})");
  EXPECT_EQ(send("2"), R"({"status":"duplicate"})");
}

TEST_F(WebhookServerTest, RefusalsBeforeVerificationAreAlike) {
  serve_hook();
  const auto body = body_for();
  const auto wrong = call(body, "sha256=00");
  EXPECT_EQ(wrong.result_int(), 403u);
  const auto unknown = post("/v1/webhooks/nobody", body);
  EXPECT_EQ(unknown.result_int(), 403u);
  EXPECT_EQ(unknown.body(), wrong.body());
  EXPECT_EQ(code_of(call(body, sign(body))), "execution_not_found");
}

TEST_F(WebhookServerTest, AWebhookOfANamespaceSignalsOnlyItsExecutions) {
  serve_hook(R"(,"namespace":"a")");
  const auto token = bearer("a-token-0123456789");
  const auto own = body_for(submit(R"({"kind":"k","namespace":"a"})", token));
  const auto other = body_for(submit(R"({"kind":"k","namespace":"b"})", token));
  EXPECT_EQ(call(own, sign(own)).result_int(), 200u);
  EXPECT_EQ(code_of(call(other, sign(other))), "execution_not_found");
}

TEST_F(WebhookServerTest, BodiesAndRatesAreLimited) {
  serve_hook("", {.webhook_rate = {.per_second = 1, .burst = 2}});
  const std::string large(300 * 1024, ' ');
  EXPECT_EQ(call(large, sign(large)).result_int(), 413u);
  call("{}", "");
  const auto limited = call("{}", "");
  EXPECT_EQ(limited.result_int(), 429u);
  EXPECT_EQ(limited[beast::http::field::retry_after], "1");
}

}  // namespace
}  // namespace ff::http::test
