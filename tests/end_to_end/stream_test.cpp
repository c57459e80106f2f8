// Streams as people use them: ff tail, ff work --stream, ff watch, ff ticket; and very many readers of one server.
#include <fstream>

#include <sys/resource.h>

#include <boost/json.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_EQ(std::ranges::count(frames, '\n'), 3);
  EXPECT_THAT(frames, AllOf(HasSubstr(R"("bytes":"two\n")"), HasSubstr(R"("type":"log")")));
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
