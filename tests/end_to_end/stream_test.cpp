// Streams as people use them: ff tail, ff work --stream, ff watch, ff ticket; and very many readers of one server.
#include <flowfabric/flowfabric.hpp>

#include <fstream>
#include <map>

#include <sys/resource.h>

#include <boost/json.hpp>

#include "sdk/client/blocking.hpp"
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StreamCommands : public CliTest {
 protected:
  std::unique_ptr<Process> start(const Words& arguments) {
    return std::make_unique<Process>(ff_command(arguments, {"FF_URL=" + url_}));
  }
  std::string submitted(const std::string& kind, const Words& more = {}) {
    Words words{"submit", kind};
    words.insert(words.end(), more.begin(), more.end());
    auto id = out(words);
    while (id.ends_with('\n')) id.pop_back();
    return id;
  }
};

TEST_F(StreamCommands, WorkStreamsWhatACommandPrintsLineByLine) {
  const auto server = serve("server");
  const auto id = submitted("tell");
  const auto go_on = temp_.path() / "go-on";
  auto worker = start(
      {"work", "--once", "--stream",
       "echo one; until [ -e " + go_on.string() + " ]; do sleep 0.05; done; printf 'two\\nrest'"});
  auto tail = start({"tail", id});
  tail->wait_for_output("one\n");
  EXPECT_THAT(out({"get", id}), HasSubstr("active"));
  std::ofstream(go_on) << "";
  const auto told = tail->wait();
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.out, "one\ntwo\nrest");
  EXPECT_THAT(told.err, HasSubstr("the execution is completed"));
  EXPECT_EQ(out({"result", id}), "one\ntwo\nrest");
  const auto frames = out({"tail", id, "--json"});
  EXPECT_EQ(std::ranges::count(frames, '\n'), 4);
  EXPECT_THAT(frames, AllOf(HasSubstr(R"("bytes":"two\n")"), HasSubstr(R"("type":"log")"),
                            EndsWith("{\"end\":\"completed\"}\n")));
  EXPECT_THAT(out({"tail", id, "--from", "2"}), "rest");
  EXPECT_THAT(out({"watch", id}), HasSubstr("\n  rest\n"));
}

TEST_F(StreamCommands, ALineThatIsTooLongForAFrameIsSplit) {
  const auto server = serve("server");
  const auto id = submitted("tell");
  out({"work", "--once", "--stream", "head -c 100000 /dev/zero | tr '\\0' x"});
  const auto text = out({"tail", id});
  EXPECT_EQ(text, std::string(100'000, 'x'));
}

TEST_F(StreamCommands, AnAttemptThatBeginsAnewIsTold) {
  const auto server = serve("server");
  const auto id = submitted("tell", {"--retries", "1", "--backoff", "1ms"});
  out({"work", "--max", "2", "--stream",
       "echo attempt $FF_ATTEMPT_INDEX; exit $((1 - FF_ATTEMPT_INDEX))"});
  const auto told = ff({"tail", id});
  EXPECT_EQ(told.out, "attempt 0\nattempt 1\n");
  EXPECT_THAT(told.err, HasSubstr("attempt 1 begins"));
}

TEST_F(StreamCommands, TailEndsAsTheExecutionDoes) {
  const auto server = serve("server");
  const auto id = submitted("tell");
  out({"work", "--once", "--stream", "echo one; exit 0"});
  const auto failing = submitted("tell");
  ff({"work", "--once", "--stream", "echo two; exit 1"});
  EXPECT_EQ(ff({"tail", id}).exit_code, 0);
  for (const char* option : {"--no-follow", "--json", "--all"}) {
    const auto told = ff({"tail", failing, option});
    EXPECT_EQ(told.exit_code, 1) << option;
    EXPECT_THAT(told.out, HasSubstr("two")) << option;
  }
  EXPECT_EQ(ff({"tail", missing_id}).exit_code, 3);
  EXPECT_EQ(ff({"tail", id, "--all", "--from", "1"}).exit_code, 2);
}

// A worker in the test's own process, which writes to streams as it likes.
class StreamsOfMany : public StreamCommands {
 protected:
  StreamsOfMany() : server_(serve("server")), engine_(must(open(url_))) {}

  void claim() {
    id_ = submitted("tell");
    claimed_ =
        must(run_blocking(*engine_, Claim{.worker = must(WorkerId::parse("w"))})).executions.at(0);
  }
  void append(const std::string& stream, std::vector<std::string> texts,
              StreamKind kind = StreamKind::frames, std::uint64_t lost = 0) {
    auto& written = written_[stream];
    AppendFrames append{.id = claimed_.id,
                        .stream = must(StreamName::parse(stream)),
                        .fence = claimed_.fence,
                        .written = written + lost,
                        .frames = {},
                        .kind = kind,
                        .lost = lost};
    for (auto& text : texts) append.frames.push_back({.bytes = std::move(text)});
    written = append.written + append.frames.size();
    must(run_blocking(*engine_, std::move(append)));
  }
  void complete() {
    must(run_blocking(*engine_, Complete{.id = claimed_.id, .fence = claimed_.fence}));
  }

  std::unique_ptr<Process> server_;
  std::shared_ptr<Engine> engine_;
  std::string id_;
  ClaimedExecution claimed_;
  std::map<std::string, std::uint64_t> written_;
};

TEST_F(StreamsOfMany, ATailOfASummaryHasALineForEachPatch) {
  claim();
  append("state", {R"({"a":1})"}, StreamKind::summary);
  auto tail = start({"tail", id_, "--stream", "state"});
  tail->wait_for_output("{\"a\":1}\n");
  append("state", {R"({"b":2})", R"({"c":3})"}, StreamKind::summary);
  complete();
  EXPECT_EQ(tail->wait().out, "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
  EXPECT_EQ(out({"tail", id_, "--stream", "state", "--from", "2"}), "{\"c\":3}\n");
}

TEST_F(StreamsOfMany, ATailForAProgramTellsWhatIsMissing) {
  claim();
  append("output", {"a", "b"});
  append("output", {"f"}, StreamKind::frames, 3);
  const std::vector<std::string> many(1'000, "x");
  for (int i = 0; i < 11; ++i) append("output", many);
  complete();
  EXPECT_THAT(out({"tail", id_, "--json"}),
              AllOf(StartsWith("{\"trimmed_to\":"), EndsWith("{\"end\":\"completed\"}\n")));
  EXPECT_THAT(out({"tail", id_, "--json", "--from", "99999"}),
              StartsWith("{\"lost_from\":11006}\n"));
}

TEST_F(StreamsOfMany, ATailOfAllStreamsNamesThem) {
  claim();
  append("output", {"one ", "two\nthree"});
  append("log", {"first line\n"});
  auto tail = start({"tail", id_, "--all"});
  tail->wait_for_output("first line\n");
  append("output", {" four\n"});
  tail->wait_for_output(" four\n");
  append("late", {R"({"a":1})"}, StreamKind::summary);
  complete();
  const auto told = tail->wait();
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(
      told.out,
      "output | one two\noutput | three\nlog | first line\noutput |  four\nlate | {\"a\":1}\n");
  const auto lines = out({"tail", id_, "--all", "--json"});
  EXPECT_THAT(lines, AllOf(HasSubstr(R"("stream":"late")"), HasSubstr(R"("stream":"log")"),
                           EndsWith("{\"end\":\"completed\"}\n")));
}

TEST_F(StreamCommands, TailGoesOnBehindARestartOfTheServer) {
  auto server = serve("server");
  const auto id = submitted("tell");
  const auto address = url_.substr(7);
  out({"work", "--once", "--stream", "--delay", "1s", "echo one; exit 75"});
  auto tail = start({"tail", id});
  tail->wait_for_output("one\n");
  server->signal(SIGKILL);
  server->wait();
  server = serve("server", {"--listen", address}, {"FF_LISTEN_ADDR="});
  out({"work", "--once", "--stream", "echo two"});
  const auto told = tail->wait();
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.out, "one\ntwo\n");
}

TEST_F(StreamCommands, ATicketReadsAStreamWithoutAToken) {
  const auto server =
      serve("server", {}, {"FF_API_TOKEN=end-to-end-token-0123456789", "FF_LOG_LEVEL=debug"});
  const auto with_token = [&](Words words) {
    return run_ff(std::move(words), "", {"FF_URL=" + url_, "FF_TOKEN=end-to-end-token-0123456789"});
  };
  auto id = with_token({"submit", "tell"}).out;
  id.pop_back();
  with_token({"work", "--once", "--stream", "echo hello"});
  auto ticket = with_token({"ticket", id, "--ttl", "1m"}).out;
  ticket.pop_back();
  const auto stream = url_ + "/v1/executions/" + id + "/streams/output?ticket=";
  const auto curl = [&](const std::string& url) {
    return run({"/usr/bin/curl", "-sN", "-H", "Accept: text/event-stream", url}).out;
  };
  if (!std::filesystem::exists("/usr/bin/curl")) GTEST_SKIP() << "curl is not installed";
  EXPECT_THAT(curl(stream + ticket), AllOf(HasSubstr("hello"), HasSubstr("event: end")));
  EXPECT_THAT(curl(stream + ticket + "x"), HasSubstr("unauthenticated"));
  EXPECT_THAT(server->wait_for_output("/streams/output 401"), Not(HasSubstr(ticket.substr(0, 16))));
}

// Each of them sees every frame, in order, and the end: otherwise the benchmark fails.
TEST_F(StreamCommands, FiveThousandReadersFollowStreamsOfOneServer) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 6'000) GTEST_SKIP() << "a process may not have so many files";
  const auto server = serve("server", {"--max-connections", "6000", "--max-tails", "6000"});
  const auto report = boost::json::parse(out({"bench", "stream", "--store", url_, "--tails", "5000",
                                              "--writers", "8", "--tasks", "6400", "--json"}))
                          .as_object();
  EXPECT_LT(report.at("bytes_per_tail").to_number<double>(), 48 * 1024);
  EXPECT_GT(report.at("frames_per_s").to_number<double>(), 0);
}

}  // namespace
}  // namespace ff::test
