// Streams as server-sent events, their limits, and tickets to read them with.
#include <gmock/gmock.h>

#include "base/text/rfc3339.hpp"
#include "http/server/streams/event_stream.hpp"
#include "http/server/streams/flow_frame_stream.hpp"
#include "http/server/streams/frame_stream.hpp"
#include "http/server/test_support.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::http::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct SentEvent {
  std::string id;
  std::string event;
  json::object data;
};

constexpr const char* worker_token = "worker-token-0123456789";
constexpr const char* reader_token = "reader-token-0123456789";

class FrameStreamTest : public HttpTest {
 protected:
  static std::string accept_events(const std::string& headers = "") {
    return "Accept: text/event-stream\r\n" + headers;
  }
  std::unique_ptr<Peer> ask_for(const std::string& id, const std::string& query = "",
                                const std::string& headers = "") const {
    auto peer = std::make_unique<Peer>(port_);
    peer->send(to_text({.target = "/v1/executions/" + id + "/streams/output" + query,
                        .headers = accept_events(headers)}));
    return peer;
  }
  std::unique_ptr<Peer> follow(const std::string& id, const std::string& query = "",
                               const std::string& headers = "") const {
    auto peer = ask_for(id, query, headers);
    EXPECT_THAT(peer->read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    return peer;
  }
  static SentEvent next(Peer& peer) {
    SentEvent sent;
    const auto text = peer.read_until("\n\n");
    if (text.starts_with(":")) return next(peer);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto value = line.substr(std::min(line.size(), line.find(": ") + 2));
      if (line.starts_with("id: ")) sent.id = value;
      if (line.starts_with("event: ")) sent.event = value;
      if (line.starts_with("data: ")) sent.data = json::parse(value).as_object();
    }
    return sent;
  }

  // A claimed execution that writes to its stream.
  struct Writer {
    std::string id;
    json::object fence;
    std::uint64_t written = 0;
  };
  Writer begin(const std::string& headers = "") const {
    const auto id = submit(R"({"kind":"k"})", headers);
    return {id, claim(id, headers)};
  }
  void write(Writer& writer, const std::vector<std::string>& texts,
             const std::string& headers = "") const {
    auto fields = writer.fence;
    fields["written"] = writer.written;
    json::array frames;
    for (const auto& text : texts) frames.push_back(json::object{{"bytes", text}});
    writer.written += texts.size();
    fields["frames"] = std::move(frames);
    const auto reply = post("/v1/executions/" + writer.id + "/streams/output/frames",
                            json::serialize(fields), headers);
    EXPECT_LT(reply.result_int(), 300u) << reply.body();
  }
  void complete(const Writer& writer, const std::string& headers = "") const {
    post("/v1/executions/" + writer.id + "/complete", json::serialize(writer.fence), headers);
  }

  std::shared_ptr<const Access> two_tokens(const std::string& more_of_reader = "") const {
    return access(fmt::format(
        R"({{"name":"w","token":"{}","roles":["work","submit"]}},
           {{"name":"r","token":"{}","roles":["read"]{}}})",
        worker_token, reader_token, more_of_reader));
  }
  std::string ticket_for(const std::string& id, const std::string& body = "{}",
                         const std::string& headers = "") const {
    const auto reply = post("/v1/executions/" + id + "/stream-ticket", body, headers);
    EXPECT_EQ(reply.result_int(), 200u) << reply.body();
    return text_at(body_of(reply), "ticket");
  }
};

TEST_F(FrameStreamTest, TellsFramesAsTheyAreWrittenAndTheEnd) {
  serve();
  auto writer = begin();
  const auto stream = follow(writer.id);
  write(writer, {"once ", "upon"});
  for (int i = 0; i < 2; ++i) {
    const auto sent = next(*stream);
    EXPECT_EQ(sent.event, "frame");
    EXPECT_EQ(sent.id, std::to_string(i + 1));  // where a reader goes on
    EXPECT_EQ(sent.data.at("number"), i);
    EXPECT_EQ(text_at(sent.data, "bytes"), i == 0 ? "once " : "upon");
  }
  complete(writer);
  const auto end = next(*stream);
  EXPECT_EQ(end.event, "end");
  EXPECT_EQ(text_at(end.data, "end"), "completed");
  EXPECT_EQ(stream->read_all(), "");  // the server hangs up
  EXPECT_EQ(ask_for(writer.id, "", "Last-Event-ID: " + end.id + "\r\n")->read(false).result_int(),
            204u);
}

TEST_F(FrameStreamTest, GoesOnExactlyBehindTheLastOneSeen) {
  serve();
  auto writer = begin();
  std::string last, seen, written;
  for (int i = 0; i < 40; ++i) written += std::to_string(i) + ' ';
  for (int i = 0; i < 40; i += 4)
    write(writer, {std::to_string(i) + ' ', std::to_string(i + 1) + ' ',
                   std::to_string(i + 2) + ' ', std::to_string(i + 3) + ' '});
  complete(writer);
  // A client that hears three at a time and is then cut off, also in the middle of an append.
  while (seen.size() < written.size()) {
    const auto stream = follow(writer.id, "", "Last-Event-ID: " + last + "\r\n");
    for (int i = 0; i < 3 && seen.size() < written.size(); ++i) {
      const auto sent = next(*stream);
      last = sent.id;
      seen += text_at(sent.data, "bytes");
    }
  }
  EXPECT_EQ(seen, written);
}

TEST_F(FrameStreamTest, AnIdThatIsNoPlaceIsRefused) {
  serve();
  const auto writer = begin();
  for (const char* id : {"nonsense", "-1", "1~2", "99999999999999999999"})
    EXPECT_EQ(ask_for(writer.id, "", fmt::format("Last-Event-ID: {}\r\n", id))->read().result_int(),
              400u)
        << id;
}

TEST_F(FrameStreamTest, GivesASignOfLife) {
  serve({.limits = {.stream_silence = std::chrono::milliseconds{1}}});
  const auto stream = follow(begin().id);
  EXPECT_EQ(stream->read_until("\n\n"), ": still here\n\n");
  EXPECT_EQ(stream->read_until("\n\n"), ": still here\n\n");
}

TEST_F(FrameStreamTest, EndsWithTheServer) {
  serve();
  const auto stream = follow(begin().id);
  server_.reset();
  EXPECT_THAT(stream->read_all(), Not(HasSubstr("event: end")));
}

TEST_F(FrameStreamTest, EndsWithItsToken) {
  const auto as_worker = bearer(worker_token);
  serve({.credentials = {.access = two_tokens()}});
  auto writer = begin(as_worker);
  const auto revoked = follow(writer.id, "", bearer(reader_token));
  const auto kept = follow(writer.id, "", as_worker);
  server_->exchange(
      {.access = access(
           fmt::format(R"({{"name":"w","token":"{}","roles":["work","submit"]}})", worker_token))});
  revoked->read_all();
  write(writer, {"a"}, as_worker);
  EXPECT_EQ(text_at(next(*kept).data, "bytes"), "a");

  const auto soon = to_rfc3339(SystemClock().now() + Millis{300});
  server_->exchange({.access = two_tokens(fmt::format(R"(,"expires_at":"{}")", soon))});
  const auto expiring = follow(writer.id, "", bearer(reader_token));
  expiring->read_all();
}

TEST_F(FrameStreamTest, ASlowReaderHoldsUpNobodyAndMissesNothing) {
  serve();
  auto writer = begin();
  const auto slow = follow(writer.id);
  const auto fast = follow(writer.id);
  const std::string large(60'000, 'x');
  constexpr int appends = 12;
  for (int i = 0; i < appends; ++i) {
    write(writer, std::vector(16, large));
    for (int j = 0; j < 16; ++j) EXPECT_EQ(next(*fast).data.at("number"), i * 16 + j);
  }
  complete(writer);
  EXPECT_EQ(next(*fast).event, "end");
  for (int i = 0; i < appends * 16; ++i) EXPECT_EQ(next(*slow).data.at("number"), i);
  EXPECT_EQ(next(*slow).event, "end");
}

// ---- Flows ----------------------------------------------------------------------------------------

TEST_F(FrameStreamTest, TheStreamsOfAFlowAreOneUntilItEnds) {
  serve();
  const auto flow = text_at(
      body_of(post("/v1/flows", R"({"nodes":[{"name":"a","kind":"k"},{"name":"b","kind":"k"}]})")),
      "id");
  const auto nodes = body_of(get("/v1/flows/" + flow + "/nodes")).at("nodes").as_array();
  std::vector<Writer> writers;
  for (const auto& node : nodes) {
    const auto id = text_at(node, "id");
    writers.push_back({id, claim(id)});
  }
  const auto follow_flow = [&](const std::string& headers = "") {
    auto peer = std::make_unique<Peer>(port_);
    peer->send(
        to_text({.target = "/v1/flows/" + flow + "/stream", .headers = accept_events(headers)}));
    return peer;
  };
  const auto stream = follow_flow();
  EXPECT_THAT(stream->read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  write(writers[1], {"b0"});
  const auto first = next(*stream);
  EXPECT_EQ(first.event, "frame");
  EXPECT_EQ(text_at(first.data, "node"), "b");
  EXPECT_EQ(text_at(first.data, "id"), writers[1].id);
  EXPECT_EQ(text_at(first.data, "stream"), "output");
  EXPECT_EQ(text_at(first.data.at("frame"), "bytes"), "b0");
  write(writers[0], {"a0"});
  EXPECT_EQ(text_at(next(*stream).data, "node"), "a");
  for (const auto& writer : writers) complete(writer);
  const auto end = next(*stream);
  EXPECT_EQ(end.event, "end");
  EXPECT_EQ(text_at(end.data, "end"), "completed");
  EXPECT_EQ(stream->read_all(), "");

  const auto again = follow_flow("Last-Event-ID: " + first.id + "\r\n");
  again->read_until("\r\n\r\n");
  EXPECT_EQ(text_at(next(*again).data.at("frame"), "bytes"), "a0");
  EXPECT_EQ(next(*again).event, "end");
  EXPECT_EQ(follow_flow("Last-Event-ID: " + end.id + "\r\n")->read(false).result_int(), 204u);
  EXPECT_EQ(follow_flow("Last-Event-ID: nonsense\r\n")->read().result_int(), 400u);
}

// ---- Limits ---------------------------------------------------------------------------------------

TEST_F(FrameStreamTest, AServerHasSoManyTailsAndNoMore) {
  serve({.limits = {.long_polls = 1, .tails = 2}});
  auto writer = begin();
  auto first = follow(writer.id);
  const auto second = follow(writer.id);
  const auto third = ask_for(writer.id)->read();
  EXPECT_EQ(third.result_int(), 429u);
  EXPECT_EQ(code_of(third), "resource_exhausted");
  EXPECT_EQ(third[beast::http::field::retry_after], "1");
  EXPECT_THAT(text_at(body_of(third), "detail"), HasSubstr("2 readers follow streams"));
  const auto page = "/v1/executions/" + writer.id + "/streams/output";
  EXPECT_EQ(get(page + "?wait_ms=1").result_int(), 429u);  // a reader that waits is a tail, too
  EXPECT_EQ(get(page).result_int(), 200u);
  EXPECT_EQ(get(page + "?wait_ms=0").result_int(), 200u);
  EXPECT_EQ(metric("ff_http_tails"), 2);
  // Calls that wait for other things have their own limit.
  EXPECT_EQ(get("/v1/events?wait_ms=1").result_int(), 200u);
  first->hang_up();
  await_metric("ff_http_tails", 1);
  follow(writer.id);
}

TEST_F(FrameStreamTest, ATokenHasSoManyTailsAndNoMore) {
  serve({.credentials = {.access = two_tokens()}, .limits = {.tails_each = 1}});
  const auto as_worker = bearer(worker_token);
  const auto writer = begin(as_worker);
  const auto one = follow(writer.id, "", bearer(reader_token));
  const auto refused = ask_for(writer.id, "", bearer(reader_token))->read();
  EXPECT_EQ(refused.result_int(), 429u);
  EXPECT_THAT(text_at(body_of(refused), "detail"), HasSubstr("follows 1 streams"));
  const auto other = follow(writer.id, "", as_worker);
  const auto ticket = ticket_for(writer.id, "{}", as_worker);
  const auto by_ticket = follow(writer.id, "?ticket=" + ticket);
  EXPECT_EQ(ask_for(writer.id, "?ticket=" + ticket)->read().result_int(), 429u);
  const auto another = ticket_for(writer.id, R"({"ttl_ms":60000})", as_worker);
  const auto by_another = follow(writer.id, "?ticket=" + another);
}

TEST_F(FrameStreamTest, ATicketHasSoManyTailsAndNoMore) {
  serve({.credentials = {.access = two_tokens()}});
  const auto as_worker = bearer(worker_token);
  const auto writer = begin(as_worker);
  const auto query = "?ticket=" + ticket_for(writer.id, "{}", as_worker);
  std::vector<std::unique_ptr<Peer>> readers;
  while (readers.size() < tails_of_ticket_max) readers.push_back(follow(writer.id, query));
  const auto refused = ask_for(writer.id, query)->read();
  EXPECT_EQ(refused.result_int(), 429u);
  EXPECT_THAT(text_at(body_of(refused), "detail"), HasSubstr("follows 64 streams"));
}

// It is refused although there is no room for readers, so it is looked at before.
TEST_F(FrameStreamTest, ATicketThatIsNotValidTakesUpNoRoom) {
  serve({.credentials = {.access = two_tokens()}, .limits = {.tails = 1}});
  const auto as_worker = bearer(worker_token);
  const auto writer = begin(as_worker);
  const auto only = follow(writer.id, "", as_worker);
  EXPECT_EQ(ask_for(writer.id, "?ticket=fft1.wrong")->read().result_int(), 401u);
  const auto page = "/v1/executions/" + writer.id + "/streams/output?wait_ms=60000&ticket=";
  EXPECT_EQ(get(page + "fft1.wrong").result_int(), 401u);
  EXPECT_EQ(get(page + ticket_for(writer.id, "{}", as_worker)).result_int(), 429u);
}

// ---- Unread events --------------------------------------------------------------------------------

// The events of a stream whose frames are of 10 KiB.
class UnreadTest : public FrameStreamTest {
 protected:
  Writer written(int frames) {
    auto writer = begin();
    for (int i = 0; i < frames; i += 50) write(writer, std::vector(50, std::string(10 << 10, 'x')));
    return writer;
  }
  // It reads nothing, and little fits into its socket.
  std::unique_ptr<Peer> idle_reader(const std::string& id) const {
    auto peer = std::make_unique<Peer>(port_);
    peer->socket().set_option(asio::socket_base::receive_buffer_size(16 << 10));
    peer->send(to_text(
        {.target = "/v1/executions/" + id + "/streams/output", .headers = accept_events()}));
    return peer;
  }
  void await_unread() const {
    while (metric("ff_http_unread_bytes") == 0) continue;
  }
  static void expect_numbers(Peer& peer, int from, int end) {
    for (int i = from; i < end; ++i) ASSERT_EQ(next(peer).data.at("number"), i);
  }
};

TEST_F(UnreadTest, IsNoMoreThanAFewFramesPerReader) {
  serve();
  const auto writer = written(1'000);
  const auto slow = idle_reader(writer.id);
  await_unread();
  EXPECT_LT(metric("ff_http_unread_bytes"), 80 << 10);  // what is sent at once, and a frame
  complete(writer);
  slow->read_until("\r\n\r\n");
  expect_numbers(*slow, 0, 1'000);
  EXPECT_EQ(next(*slow).event, "end");
}

TEST_F(UnreadTest, OthersReadOnWhileOneTakesAllRoom) {
  serve({.limits = {.unread_bytes = 60 << 10, .unread_pause = std::chrono::milliseconds{1}}});
  const auto writer = written(1'000);
  const auto idle = idle_reader(writer.id);
  const auto page = "/v1/executions/" + writer.id + "/streams/output?limit=";
  while (get(page + "7").result_int() != 503) continue;
  const auto other = follow(writer.id);
  expect_numbers(*other, 0, 1'000);
  auto refused = get(page + "7");
  while (refused.result_int() == 200) refused = get(page + "7");
  EXPECT_EQ(refused.result_int(), 503u);
  EXPECT_EQ(code_of(refused), "overloaded");
  EXPECT_EQ(get(page + "1").result_int(), 200u);
  other->hang_up();
  idle->hang_up();
  await_metric("ff_http_unread_bytes", 0);
  EXPECT_EQ(get(page + "7").result_int(), 200u);
}

TEST_F(UnreadTest, AReaderWithoutRoomWaitsForIt) {
  serve({.limits = {.unread_bytes = 15 << 10,
                    .unread_bytes_each = 0,
                    .unread_pause = std::chrono::milliseconds{1}}});
  const auto writer = written(1'000);
  const auto idle = idle_reader(writer.id);
  const auto other = follow(writer.id);
  int seen = 0;
  while (other->read_until("\n\n") != ": still here\n\n") ++seen;
  idle->hang_up();
  expect_numbers(*other, seen, 1'000);
}

// Of each source: what was not sent is returned again, and nothing is left out.
TEST_F(UnreadTest, IsReadAgain) {
  serve();
  const auto events_begin = must(ff::test::run(*engine_, ReadEvents{})).next;
  const auto flow =
      text_at(body_of(post("/v1/flows", R"({"nodes":[{"name":"a","kind":"k"}]})")), "id");
  const auto node = text_at(body_of(get("/v1/flows/" + flow + "/nodes")).at("nodes").at(0), "id");
  Writer writer{node, claim(node)};
  write(writer, {"first", "second"});
  complete(writer);
  FrameStream frames(*engine_, {.id = must(ExecutionId::parse(node))});
  FlowFrameStream of_flow(*engine_, {.id = must(FlowId::parse(flow))});
  EventStream events(*engine_, {.after = events_begin});
  for (SentEvents* source : std::initializer_list<SentEvents*>{&frames, &of_flow, &events}) {
    const auto read = [&](std::size_t bytes_max) {
      return must(ff::test::run_blocking(engine_->executor(), source->next(Millis{0}, bytes_max)));
    };
    const auto first = read(1);
    source->step_back();
    EXPECT_EQ(read(1), first);
    const auto rest = read(64 << 10);
    EXPECT_NE(rest, first);
    const bool was_over = source->is_over();
    source->step_back();
    EXPECT_EQ(read(64 << 10), rest);
    EXPECT_EQ(source->is_over(), was_over);
  }
  EXPECT_TRUE(frames.is_over() && of_flow.is_over());
}

// ---- Tickets --------------------------------------------------------------------------------------

class StreamTicketTest : public FrameStreamTest {
 protected:
  StreamTicketTest() { serve({.credentials = {.access = two_tokens()}}); }
  ~StreamTicketTest() override { server_.reset(); }  // before the log goes

  std::string stream_of(const std::string& id, const std::string& ticket) const {
    return "/v1/executions/" + id + "/streams/output?ticket=" + ticket;
  }

  ff::test::LogCapture log_;
  const std::string as_worker_ = bearer(worker_token);
};

TEST_F(StreamTicketTest, ReadsTheStreamsOfItsExecution) {
  auto writer = begin(as_worker_);
  const auto issued =
      post("/v1/executions/" + writer.id + "/stream-ticket", R"({"ttl_ms":60000})", as_worker_);
  EXPECT_EQ(issued[beast::http::field::cache_control], "no-store");
  EXPECT_EQ(text_at(body_of(issued), "status"), "issued");
  const auto ticket = text_at(body_of(issued), "ticket");
  write(writer, {"a"}, as_worker_);
  const auto page = get(stream_of(writer.id, ticket));
  EXPECT_EQ(page.result_int(), 200u) << page.body();
  EXPECT_THAT(page.body(), HasSubstr(R"("bytes":"a")"));
  const auto stream = follow(writer.id, "?ticket=" + ticket);
  EXPECT_EQ(text_at(next(*stream).data, "bytes"), "a");
  complete(writer, as_worker_);
  EXPECT_EQ(next(*stream).event, "end");
}

TEST_F(StreamTicketTest, GivesNoOtherRight) {
  const auto writer = begin(as_worker_), other = begin(as_worker_);
  const auto ticket = ticket_for(writer.id, "{}", as_worker_);
  EXPECT_EQ(get(stream_of(other.id, ticket)).result_int(), 401u);
  EXPECT_EQ(ask_for(other.id, "?ticket=" + ticket)->read().result_int(), 401u);
  const auto execution = "/v1/executions/" + writer.id;
  for (const auto& path :
       {execution, execution + "/payload", execution + "/result", execution + "/streams",
        std::string("/v1/events"), std::string("/v1/executions")})
    EXPECT_EQ(get(path + "?ticket=" + ticket).result_int(), 401u) << path;
  EXPECT_EQ(get(execution + "/payload", bearer(ticket)).result_int(), 401u);
  EXPECT_EQ(post(execution + "/stream-ticket?ticket=" + ticket, "{}").result_int(), 401u);
  EXPECT_EQ(post(execution + "/cancel?ticket=" + ticket, "{}").result_int(), 401u);
}

TEST_F(StreamTicketTest, IsRefusedIfItIsForgedOrHasExpired) {
  const auto writer = begin(as_worker_);
  const auto ticket = ticket_for(writer.id, "{}", as_worker_);
  for (const auto& wrong :
       {std::string(), ticket + "A", ticket.substr(1), std::string(5000, 'a')}) {
    const auto refused = get(stream_of(writer.id, wrong));
    EXPECT_EQ(refused.result_int(), 401u) << wrong;
    EXPECT_EQ(code_of(refused), "unauthenticated");
    // It takes the place of a token that is sent beside it.
    EXPECT_EQ(get(stream_of(writer.id, wrong), as_worker_).result_int(), 401u);
  }
  const auto brief = ticket_for(writer.id, R"({"ttl_ms":1})", as_worker_);
  while (get(stream_of(writer.id, brief)).result_int() != 401u) continue;
}

TEST_F(StreamTicketTest, EndsTheStreamWhenItExpires) {
  const auto writer = begin(as_worker_);
  const auto ticket = ticket_for(writer.id, R"({"ttl_ms":300})", as_worker_);
  follow(writer.id, "?ticket=" + ticket)->read_all();
}

TEST_F(StreamTicketTest, IsIssuedWithinBoundsAndToThoseWhoMaySubmit) {
  const auto writer = begin(as_worker_);
  const auto path = "/v1/executions/" + writer.id + "/stream-ticket";
  for (const char* body : {R"({"ttl_ms":0})", R"({"ttl_ms":86400001})", R"({"more":1})"})
    EXPECT_EQ(post(path, body, as_worker_).result_int(), 400u) << body;
  EXPECT_EQ(post(path, "{}", bearer(reader_token)).result_int(), 403u);
  EXPECT_EQ(post("/v1/executions/%7Bfp:7%7D:01920000-0000-7000-8000-000000000001/stream-ticket",
                 "{}", as_worker_)
                .result_int(),
            404u);
}

TEST_F(StreamTicketTest, OfAnotherNamespaceIsNotIssued) {
  const auto of_a = [](const char* token) {
    return fmt::format(R"({{"name":"a","token":"{}","roles":["submit"],"namespace":"a"}})", token);
  };
  const auto writer = begin(as_worker_);
  server_->exchange({.access = access(of_a(reader_token))});
  EXPECT_EQ(post("/v1/executions/" + writer.id + "/stream-ticket", "{}", bearer(reader_token))
                .result_int(),
            404u);
}

TEST_F(StreamTicketTest, IsNotLogged) {
  const auto writer = begin(as_worker_);
  const auto ticket = ticket_for(writer.id, "{}", as_worker_);
  get(stream_of(writer.id, ticket));
  get(stream_of(writer.id, ticket) + "x");
  get("/v1/streams/" + ticket);
  server_.reset();
  EXPECT_THAT(log_.text(), HasSubstr("/streams/output"));
  EXPECT_THAT(log_.text(), Not(HasSubstr(ticket.substr(0, 20))));
  EXPECT_THAT(log_.text(), Not(HasSubstr("fft1.")));
}

}  // namespace
}  // namespace ff::http::test
