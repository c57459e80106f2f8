#include "http/server/streams/event_stream.hpp"

#include <gmock/gmock.h>

#include "http/server/test_support.hpp"
#include "tests/support/blocking.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Told {
  std::string id;
  std::string event;
  json::object data;
};

class EventStreamTest : public HttpTest {
 protected:
  std::unique_ptr<Peer> follow(const std::string& query = "", const std::string& headers = "") {
    auto peer = std::make_unique<Peer>(port_);
    peer->send(to_text(
        {.target = "/v1/events" + query, .headers = "Accept: text/event-stream\r\n" + headers}));
    EXPECT_THAT(peer->read_until("\r\n\r\n"),
                ::testing::AllOf(StartsWith("HTTP/1.1 200 "),
                                 HasSubstr("Content-Type: text/event-stream")));
    return peer;
  }
  // The next part of the stream that is no comment.
  static Told next(Peer& peer) {
    Told told;
    auto text = peer.read_until("\n\n");
    if (text.starts_with(":")) return next(peer);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto value = line.substr(std::min(line.size(), line.find(": ") + 2));
      if (line.starts_with("id: ")) told.id = value;
      if (line.starts_with("event: ")) told.event = value;
      if (line.starts_with("data: ")) told.data = json::parse(value).as_object();
    }
    return told;
  }
};

TEST_F(EventStreamTest, TellsEventsAsTheyHappen) {
  serve();
  const auto stream = follow();
  EXPECT_NE(next(*stream).id, "");  // where it begins
  const auto id = submit();
  claim(id);
  for (const char* type : {"submitted", "claimed"}) {
    const auto told = next(*stream);
    EXPECT_EQ(told.event, type);
    EXPECT_EQ(told.data.at("type"), type);
    EXPECT_EQ(text_at(told.data, "id"), id);
  }
}

TEST_F(EventStreamTest, GoesOnExactlyBehindTheLastOneSeen) {
  serve();
  std::string last = next(*follow()).id;
  std::vector<std::string> submitted, told;
  Peer submitter(port_);
  for (int i = 0; i < 100; ++i) {
    submitter.send(
        to_text({.method = "POST", .target = "/v1/executions", .body = R"({"kind":"k"})"}));
    submitted.emplace_back(body_of(submitter.read()).at("id").as_string());
  }
  // A client that hears seven at a time and is then cut off, in the middle of the burst.
  while (told.size() < submitted.size()) {
    const auto stream = follow("", "Last-Event-ID: " + last + "\r\n");
    for (int i = 0; i < 7 && told.size() < submitted.size(); ++i) {
      const auto each = next(*stream);
      last = each.id;
      told.emplace_back(each.data.at("id").as_string());
    }
  }
  EXPECT_EQ(told, submitted);
}

// Counts what is read from the engine below.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(Engine& engine) : engine_(engine) {}
  asio::any_io_executor executor() override { return engine_.executor(); }
  asio::awaitable<void> perform(EngineCall& call) override {
    ++calls;
    return engine_.perform(call);
  }
  int calls = 0;

 private:
  Engine& engine_;
};

TEST_F(EventStreamTest, ReadsManyEventsAtATime) {
  serve();
  const auto start = next(*follow()).id;
  for (int i = 0; i < 150; ++i) submit();
  CountingEngine counting(*engine_);
  EventStream stream(counting, {.after = start});
  const auto text =
      must(ff::test::run_blocking(engine_->executor(), stream.next(Millis{0}, 64 * 1024)));
  EXPECT_THAT(text, HasSubstr(start + "~99\nevent: submitted"));
  EXPECT_EQ(counting.calls, 3);  // 100, 50, and none
}

TEST_F(EventStreamTest, TellsOnlyWhatIsAskedFor) {
  serve();
  const auto stream = follow("?lane=mail&types=submitted,completed");
  next(*stream);
  submit(R"({"kind":"other"})");
  const auto mail = submit(R"({"kind":"k","lane":"mail"})");
  const auto path = "/v1/executions/" + mail;
  post(path + "/complete", json::serialize(claim(mail)));
  EXPECT_EQ(text_at(next(*stream).data, "id"), mail);
  EXPECT_EQ(next(*stream).event, "completed");
}

TEST_F(EventStreamTest, SaysThatSomeAreMissingAfterARestart) {
  serve();
  const auto place = next(*follow()).id;
  server_.reset();
  engine_.reset();
  serve();
  const auto stream = follow("", "Last-Event-ID: " + place + "\r\n");
  const auto told = next(*stream);
  EXPECT_EQ(told.event, "missed");
  // It is told once; from there on it goes on.
  const auto again = follow("", "Last-Event-ID: " + told.id + "\r\n");
  const auto id = submit();
  EXPECT_NE(next(*again).event, "missed");
  EXPECT_EQ(text_at(next(*stream).data, "id"), id);
}

TEST_F(EventStreamTest, GivesASignOfLife) {
  serve({.limits = {.stream_silence = std::chrono::milliseconds{1}}});
  const auto stream = follow();
  next(*stream);
  EXPECT_EQ(stream->read_until("\n\n"), ": still here\n\n");
  EXPECT_EQ(stream->read_until("\n\n"), ": still here\n\n");
}

TEST_F(EventStreamTest, EndsWithTheServer) {
  serve();
  const auto stream = follow();
  next(*stream);
  server_.reset();
  EXPECT_THAT(stream->read_all(), Not(HasSubstr("event:")));
}

TEST_F(EventStreamTest, FreesItsPlaceWhenTheClientGoes) {
  serve();
  auto closed = follow();
  auto half = follow();
  await_metric("ff_http_long_polls", 2);
  closed->hang_up();
  half->say_no_more();
  await_metric("ff_http_long_polls", 0);
}

TEST(Accept, PrefersAnEventStreamWhenItIsNamedFirstOrWantedMore) {
  for (const char* accept :
       {"text/event-stream", "Text/Event-Stream, */*", "text/event-stream;q=0.9, text/html",
        "application/json;q=0.5, text/event-stream; q=0.8", "text/event-stream, application/json"})
    EXPECT_TRUE(prefers_event_stream(accept)) << accept;
  for (const char* accept : {"", "*/*", "application/json", "text/event-stream;q=0", ",;,",
                             "application/json, text/event-stream", "text/event-streams",
                             "text/event-stream;q=0.5, application/json"})
    EXPECT_FALSE(prefers_event_stream(accept)) << accept;
}

TEST_F(EventStreamTest, IsRefusedLikeAnyOtherRequest) {
  serve();
  const std::string accept = "Accept: text/event-stream\r\n";
  for (const auto& refused :
       {get("/v1/events?after=nonsense", accept), get("/v1/events?lane=", accept),
        get("/v1/events", accept + "Last-Event-ID: nonsense\r\n"),
        get("/v1/events", accept + "Last-Event-ID: nonsense~5\r\n"),
        get("/v1/events?what=1", accept)}) {
    EXPECT_EQ(refused.result_int(), 400u);
    EXPECT_EQ(refused[beast::http::field::content_type], "application/problem+json");
  }
}

}  // namespace
}  // namespace ff::http::test
