// Looking at executions.
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReadTest : public CliTest {};

TEST_F(ReadTest, ErrorsHaveTheirExitCodes) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  for (const char* command : {"get", "payload", "result", "attempts", "leases", "watch", "cancel",
                              "replay", "revoke", "tags"}) {
    EXPECT_EQ(ff({command, "42"}).exit_code, 2) << command;
    EXPECT_EQ(ff({command, missing_id}).exit_code, 3) << command;
  }
  EXPECT_EQ(ff({"result", id}).exit_code, 4);
  EXPECT_EQ(ff({"result", id, "--wait", "--timeout", "1ms"}).exit_code, 4);
  EXPECT_EQ(ff({"result", id, "--wait", "--timeout", "5"}).exit_code, 2);
  url_ = "http://127.0.0.1:1";
  EXPECT_EQ(ff({"get", id}).exit_code, 5);
}

TEST_F(ReadTest, ErrorsAreJsonWhenJsonIsAskedFor) {
  const auto server = serve("server");
  EXPECT_THAT(ff({"get", missing_id, "--json"}).err,
              ::testing::AllOf(StartsWith("{"), HasSubstr(R"("code":"execution_not_found")")));
}

TEST_F(ReadTest, ListHasFilters) {
  const auto server = serve("server");
  const auto a = submit({"resize", "--lane", "a", "--tag", "app.customer=7"});
  const auto b = submit({"greet", "--lane", "b", "--delay", "1h"});
  const auto other = submit({"greet", "--namespace", "other"});
  const auto ids = [&](Words filter) {
    filter.insert(filter.begin(), "ls");
    filter.push_back("--json");
    std::string found;
    const auto listed = out(filter);
    for (const auto& [id, name] : {std::pair{a, 'a'}, {b, 'b'}, {other, 'o'}})
      if (listed.find(uuid_of(id)) != std::string::npos) found += name;
    return found;
  };
  EXPECT_EQ(ids({}), "ab");
  EXPECT_EQ(ids({"--namespace", "other"}), "o");
  EXPECT_EQ(ids({"--lane", "a"}), "a");
  EXPECT_EQ(ids({"--state", "delayed"}), "b");
  EXPECT_EQ(ids({"--kind", "greet"}), "b");
  EXPECT_EQ(ids({"--tag", "app.customer=7"}), "a");
  EXPECT_EQ(ids({"--since", "1h"}), "ab");
  EXPECT_EQ(ids({"--until", "1h"}), "");
  EXPECT_EQ(ids({"--since", "2030-01-01T00:00:00Z"}), "");
  EXPECT_EQ(ff({"ls", "--state", "lost"}).exit_code, 2);
  EXPECT_EQ(ff({"ls", "--since", "yesterday"}).exit_code, 2);
  EXPECT_EQ(ff({"ls", "--limit", "0"}).exit_code, 2);
}

TEST_F(ReadTest, ListGoesOnWhereItEnded) {
  const auto server = serve("server");
  out({"submit", "k", "--lines"}, "1\n2\n3\n");
  const auto first = ff({"ls", "--limit", "2", "--json"});
  EXPECT_EQ(std::ranges::count(first.out, '\n'), 2);
  const auto cursor = trimmed(first.err.substr(first.err.rfind(' ') + 1));
  EXPECT_EQ(std::ranges::count(out({"ls", "--cursor", cursor, "--json"}), '\n'), 1);
  EXPECT_EQ(std::ranges::count(out({"ls", "--all", "--json"}), '\n'), 3);
}

TEST_F(ReadTest, TablesFitTheWidthAndArePlainInPipes) {
  const auto server = serve("server");
  const std::string lane(60, 'l');
  const auto id = submit({"k", "--lane", lane});
  EXPECT_THAT(out({"ls"}),
              ::testing::AllOf(HasSubstr(lane), HasSubstr("created_at"), Not(HasSubstr("\x1b"))));
  const auto narrow = run_ff({"ls"}, "", {"FF_URL=" + url_, "COLUMNS=80"}).out;
  EXPECT_THAT(narrow,
              ::testing::AllOf(HasSubstr(id), HasSubstr("l…"), Not(HasSubstr("created_at"))));
}

// On a terminal; `script` makes one.
std::string on_terminal(const std::string& command, const std::string& variables) {
  return run({"/usr/bin/env", variables, "script", "-qec", program + " " + command, "/dev/null"})
      .out;
}

TEST_F(ReadTest, ColoursAreForTerminals) {
  const auto server = serve("server");
  submit({"k", "--delay", "1h"});
  const auto ls = "ls --config /dev/null --url " + url_;
  EXPECT_THAT(on_terminal(ls, "TERM=xterm"), HasSubstr("\x1b[33mdelayed"));
  EXPECT_THAT(on_terminal(ls, "TERM=dumb"),
              ::testing::AllOf(HasSubstr("delayed"), Not(HasSubstr("\x1b["))));
  EXPECT_THAT(on_terminal(ls, "NO_COLOR=1"),
              ::testing::AllOf(HasSubstr("delayed"), Not(HasSubstr("\x1b["))));
}

TEST_F(ReadTest, CountsAreByLaneAndState) {
  const auto server = serve("server");
  submit({"k", "--lane", "a"});
  submit({"k", "--lane", "b", "--delay", "1h"});
  EXPECT_EQ(out({"counts"}),
            "lane  waiting  delayed  all\n"
            "a           1        0    1\n"
            "b           0        1    1\n");
  EXPECT_EQ(out({"counts", "--lane", "b", "--json"}),
            R"({"lane":"b","state":"delayed","count":1,"reclaimable":0})"
            "\n");
}

TEST_F(ReadTest, HistoryIsThere) {
  const auto demo = serve("demo");
  const auto id = submit({"greet", "--lane", "demo"});
  out({"result", id, "--wait"});
  EXPECT_THAT(out({"attempts", id}),
              ::testing::AllOf(HasSubstr("demo-worker"), HasSubstr("success")));
  EXPECT_THAT(out({"attempts", id, "--json"}), HasSubstr(R"("outcome":"success")"));
  EXPECT_THAT(out({"leases", id}), ::testing::AllOf(HasSubstr("acquired"), HasSubstr("released")));
  EXPECT_THAT(out({"leases", id, "--json"}), HasSubstr(R"("type":"acquired")"));
}

TEST_F(ReadTest, ResultEndsWithANewlineOnATerminalOnly) {
  const auto demo = serve("demo");
  const auto id = submit({"greet", "Ada", "--lane", "demo"});
  EXPECT_EQ(out({"result", id, "--wait"}), "Hello, Ada!");
  const auto command = "FF_URL=" + url_ + " " + program + " result '" + id + "'";
  EXPECT_EQ(run({"/usr/bin/script", "-qec", command, "/dev/null"}).out, "Hello, Ada!\r\n");
}

TEST_F(ReadTest, EmbeddedStoreIsReadInThisProcess) {
  auto server = serve("server");
  const auto id = submit({"k", "payload"});
  server->signal(SIGTERM);
  server->wait();
  url_ = store();
  EXPECT_EQ(out({"payload", id}), "payload");
  EXPECT_NE(submit({"k"}), id);
}

TEST_F(ReadTest, EmbeddedStoreThatIsNotThereIsNotMade) {
  url_ = store();
  for (const Words& command :
       {Words{"get", missing_id}, {"submit", "k"}, {"ls"}, {"backup", "b"}}) {
    const auto refused = ff(command);
    EXPECT_EQ(refused.exit_code, 2) << command[0];
    EXPECT_THAT(refused.err, HasSubstr("there is no store in"));
  }
  EXPECT_FALSE(std::filesystem::exists(data()));
}

}  // namespace
}  // namespace ff::test
