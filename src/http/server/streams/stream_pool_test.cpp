// Reads and tails of attempts' streams: their pool, their paths, and what JSON makes of bytes.
#include <gmock/gmock.h>

#include <thread>

#include "http/server/test_support.hpp"

namespace ff::http::test {
namespace {

using ::testing::HasSubstr;

class StreamPool : public HttpTest {
 protected:
  static std::string path(const std::string& id, const std::string& rest = "", int attempt = 0) {
    return fmt::format("/v1/executions/{}/attempts/{}/stream{}", id, attempt, rest);
  }
  void append(const std::string& id, json::object fence, json::object frame,
              int written = 0) const {
    fence["written"] = written;
    fence["frames"] = json::array{std::move(frame)};
    const auto reply =
        post("/v1/executions/" + id + "/streams/output/frames", json::serialize(fence));
    ASSERT_EQ(reply.result_int(), 201u) << reply.body();
  }
  // A tail that waits, once it does.
  std::unique_ptr<Peer> tail(const std::string& id) const {
    auto peer = std::make_unique<Peer>(port_);
    peer->send(to_text({.target = path(id, "/tail?block_ms=30000")}));
    return peer;
  }
};

TEST_F(StreamPool, FramesAreTextOrBase64) {
  serve();
  const auto id = submit();
  const auto fence = claim(id);
  append(id, fence, {{"bytes", "text"}});
  append(id, fence, {{"bytes_base64", "AP8="}}, 1);
  const auto body = body_of(get(path(id)));
  EXPECT_EQ(body.at("count"), 2);
  EXPECT_FALSE(body.contains("closed_at"));
  EXPECT_FALSE(body.contains("closed_reason"));
  const auto& frames = body.at("frames").as_array();
  EXPECT_EQ(text_at(frames.at(0).at("fields"), "payload"), "text");
  EXPECT_EQ(text_at(frames.at(1).at("fields"), "payload_base64"), "AP8=");
  EXPECT_EQ(text_at(frames.at(1).at("fields"), "encoding"), "binary");
  EXPECT_THAT(text_at(frames.at(1), "id"), HasSubstr("-1"));
  post("/v1/executions/" + id + "/cancel", "{}");
  const auto closed = body_of(get(path(id, "?from=end&to=start")));
  EXPECT_EQ(closed.at("count"), 0);
  EXPECT_TRUE(closed.at("closed_at").is_int64());
  EXPECT_EQ(text_at(closed, "closed_reason"), "attempt_cancelled");
}

TEST_F(StreamPool, PlacesAndLimitsAreCheckedAtTheEdge) {
  serve();
  const auto id = submit();
  for (const auto* good :
       {"?from=start&to=end", "?from=-&to=%2B", "?from=0&to=12-3", "?limit=1000"})
    EXPECT_EQ(get(path(id, good)).result_int(), 200u) << good;
  for (const auto* bad : {"?from=x", "?to=1-", "?from=1-2-3", "?limit=0", "?limit=1001", "?limit=x",
                          "?from=18446744073709551616", "/tail?after=start", "/tail?after=%2B",
                          "/tail?block_ms=30001", "/tail?block_ms=-1", "/tail?limit=0"})
    EXPECT_EQ(get(path(id, bad)).result_int(), 400u) << bad;
  EXPECT_EQ(get("/v1/executions/" + id + "/attempts/x/stream").result_int(), 400u);
  EXPECT_EQ(get("/v1/executions/" + id + "/attempts/-1/stream").result_int(), 400u);
  EXPECT_EQ(get(path(id, "", 7)).result_int(), 200u);
}

TEST_F(StreamPool, AnExhaustedPoolIsToldAtOnceAndFreeAgainAfterwards) {
  serve({.limits = {.stream_ops = 1}});
  const auto id = submit();
  auto waiting = tail(id);
  await_metric("ff_http_long_polls", 1);
  for (const auto* operation : {"", "/tail"}) {
    const auto refused = get(path(id, operation));
    EXPECT_EQ(refused.result_int(), 429u);
    EXPECT_FALSE(refused[beast::http::field::retry_after].empty());
    const auto body = body_of(refused);
    EXPECT_EQ(text_at(body, "detail"),
              "too many concurrent stream_ops calls (server max: 1); retry with backoff");
    EXPECT_EQ(text_at(body, "pool"), "stream_ops");
    EXPECT_TRUE(body.at("retryable").as_bool());
  }
  EXPECT_EQ(get("/v1/executions/" + id + "/streams/output").result_int(), 200u)
      << "other reads are not of the pool";
  post("/v1/executions/" + id + "/cancel", "{}");
  EXPECT_EQ(text_at(body_of(waiting->read()), "closed_reason"), "attempt_cancelled");
  EXPECT_EQ(get(path(id)).result_int(), 200u);
}

TEST_F(StreamPool, APermitIsFreeWhenItsClientHasGone) {
  serve({.limits = {.stream_ops = 1}});
  const auto id = submit();
  auto waiting = tail(id);
  await_metric("ff_http_long_polls", 1);
  waiting->hang_up();
  await_metric("ff_http_long_polls", 0);
  while (get(path(id)).result_int() != 200) continue;
}

TEST_F(StreamPool, AShutdownEndsTailsAndRefusesNewOnes) {
  serve();
  const auto id = submit();
  auto waiting = tail(id);
  await_metric("ff_http_long_polls", 1);
  // Its first bytes hold the server back until it is answered.
  Peer late(port_);
  const auto request = to_text({.target = path(id)});
  late.send(request.substr(0, 20));
  Peer other(port_);
  other.send(to_text({.target = "/healthz"}));
  other.read();
  std::thread stopping([&] { server_.reset(); });
  EXPECT_EQ(waiting->read().result_int(), 200u) << "at once, without a frame";
  late.send(request.substr(20));
  const auto refused = late.read();
  EXPECT_EQ(refused.result_int(), 503u);
  EXPECT_THAT(text_at(body_of(refused), "detail"), HasSubstr("stream_ops is closed"));
  stopping.join();
}

}  // namespace
}  // namespace ff::http::test
