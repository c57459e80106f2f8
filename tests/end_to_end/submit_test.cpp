// Submitting, and waiting for results.
#include <csignal>
#include <fstream>

#include <boost/json.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class SubmitTest : public CliTest {};

TEST_F(SubmitTest, GoesTheWholeWayToTheResult) {
  const auto demo = serve("demo");
  demo->wait_for_output("Still serving");
  EXPECT_EQ(out({"submit", "greet", "World", "--lane", "demo", "--wait"}), "Hello, World!");

  const auto id = submit({"add", "1 2 3", "--lane", "demo"});
  EXPECT_EQ(out({"result", id, "--wait"}), "6");

  const auto failed = ff({"submit", "add", "x", "--lane", "demo", "--wait"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("'x' is not a list of numbers"));
}

TEST_F(SubmitTest, IdsForPeopleNeedNoQuotes) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  EXPECT_THAT(id, MatchesRegex("[0-9]+-[0-9a-f-]+"));
  const auto long_id = "{fp:" + id.substr(0, id.find('-')) + "}:" + uuid_of(id);
  EXPECT_EQ(out({"payload", id, "--json"}), R"({"id":")" + long_id + R"(","payload":""})" + "\n");
  EXPECT_EQ(out({"get", id}), out({"get", long_id}));
  EXPECT_THAT(out({"get", id}),
              ::testing::AllOf(HasSubstr(" " + id + "\n"), Not(HasSubstr("{fp:"))));
  EXPECT_THAT(out({"ls"}), ::testing::AllOf(HasSubstr(id), Not(HasSubstr("{fp:"))));
  EXPECT_THAT(out({"submit", "k", "--json"}), HasSubstr(R"({"id":"{fp:)"));
}

TEST_F(SubmitTest, PayloadIsAnArgumentAFileOrStandardInput) {
  const auto server = serve("server");
  const std::string bytes("a\0\xff\nb", 5);
  const auto file = temp_.path() / "payload";
  std::ofstream(file) << bytes;
  EXPECT_EQ(out({"payload", submit({"k", "text"})}), "text");
  EXPECT_EQ(out({"payload", submit({"k", "--file", file})}), bytes);
  EXPECT_EQ(out({"payload", trimmed(out({"submit", "k", "-"}, bytes))}), bytes);
  EXPECT_EQ(out({"payload", submit({"k", "--", "-5"})}), "-5");
  EXPECT_THAT(out({"payload", submit({"k", "--file", file}), "--json"}),
              HasSubstr(R"("payload_base64":"YQD/CmI=")"));
  EXPECT_EQ(ff({"submit", "k", "text", "--file", file}).exit_code, 2);
  EXPECT_THAT(ff({"submit", "k", "--file", "/nonexistent"}).err, HasSubstr("cannot read"));
}

TEST_F(SubmitTest, PayloadAboveTheLimitIsSaidToBeTooLarge) {
  const auto server = serve("server");
  for (const std::size_t size : {1024 * 1024 + 1, 20 * 1024 * 1024}) {
    const auto refused = ff({"submit", "k", "-"}, std::string(size, 'x'));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("payload_too_large")) << size;
  }
}

TEST_F(SubmitTest, EverythingThatAnExecutionCanBeGivenHasAnOption) {
  const auto server = serve("server");
  const auto id = submit({"k",
                          "--lane",
                          "l",
                          "--namespace",
                          "n",
                          "--priority",
                          "7",
                          "--delay",
                          "1h",
                          "--deadline",
                          "2030-01-01T00:00:00Z",
                          "--tag",
                          "a.b=c=d",
                          "--tag",
                          "e.f=",
                          "--idempotency-key",
                          "key",
                          "--content-type",
                          "text/plain",
                          "--retries",
                          "5",
                          "--backoff",
                          "2s",
                          "--backoff-max",
                          "30s",
                          "--attempt-timeout",
                          "1m",
                          "--capabilities",
                          "gpu,big",
                          "--retention",
                          "7d",
                          "--policy",
                          R"({"max_replay_count": 2})"});
  const auto json = out({"get", id, "--json"});
  for (const char* field :
       {R"("lane":"l")", R"("namespace":"n")", R"("priority":7)", R"("state":"delayed")",
        R"("deadline_ms":1893456000000)", R"("tags":{"a.b":"c=d","e.f":""})",
        R"("idempotency_key":"key")", R"("content_type":"text/plain")", R"("max_retries":5)",
        R"("initial_delay_ms":2000,"max_delay_ms":30000)", R"("attempt_timeout_ms":60000)",
        R"("required_capabilities":["big","gpu"])", R"("retention_ms":604800000)",
        R"("max_replay_count":2)"})
    EXPECT_THAT(json, HasSubstr(field));
  const auto text = out({"get", id});
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("backoff.initial_delay"),
                                     HasSubstr("2030-01-01T00:00:00.000Z"), HasSubstr("big, gpu")));
}

TEST_F(SubmitTest, RepeatedWithTheSameKeyIsTheSameExecution) {
  const auto server = serve("server");
  const auto first = submit({"k", "p", "--idempotency-key", "order-7"});
  EXPECT_THAT(out({"submit", "k", "p", "--idempotency-key", "order-7", "--json"}),
              ::testing::AllOf(HasSubstr(uuid_of(first)), HasSubstr(R"("duplicate":true)")));
  EXPECT_EQ(ff({"submit", "k", "other", "--idempotency-key", "order-7"}).exit_code, 4);
}

TEST_F(SubmitTest, LinesOfAFileAreAnExecutionEach) {
  const auto server = serve("server");
  std::string lines;
  for (int i = 0; i < 1'500; ++i) lines += std::to_string(i) + "\n";
  const auto ids = out({"submit", "k", "--lines", "--lane", "many"}, lines);
  EXPECT_EQ(std::ranges::count(ids, '\n'), 1'500);
  EXPECT_EQ(out({"payload", ids.substr(0, ids.find('\n'))}), "0");
  EXPECT_EQ(out({"counts", "--json"}),
            R"({"lane":"many","state":"waiting","count":1500,"reclaimable":0})"
            "\n");

  const auto some =
      ff({"submit", "k", "--lines"}, "a\n" + std::string(1024 * 1024 + 1, 'x') + "\nb\n");
  EXPECT_EQ(some.exit_code, 2);
  EXPECT_EQ(std::ranges::count(some.out, '\n'), 2) << "the others are submitted";
  EXPECT_THAT(some.err, HasSubstr("line 2: "));
  EXPECT_EQ(ff({"submit", "k", "--lines", "--wait"}).exit_code, 2);
}

TEST_F(SubmitTest, AnUnknownFieldOfThePolicyIsNamedByItsPath) {
  const auto server = serve("server");
  EXPECT_THAT(ff({"submit", "k", "--policy", R"({"a": 1})"}).err, HasSubstr("'policy.a'"));
}

TEST_F(SubmitTest, InterruptedWaitPrintsTheIdOfWhatWasSubmitted) {
  const auto server = serve("server");
  const auto port = url_.substr(url_.rfind(':') + 1);
  const auto metrics = [&] {
    return run({"/bin/bash", "-c",
                "exec 3<>/dev/tcp/127.0.0.1/" + port +
                    "; printf 'GET /metrics HTTP/1.1\\r\\nHost: 127.0.0.1:" + port +
                    "\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"})
        .out;
  };
  Process waiting(ff_command({"submit", "k", "--wait"}, {"FF_URL=" + url_}));
  while (metrics().find("ff_http_long_polls 1") == std::string::npos) {
  }
  waiting.signal(SIGINT);
  const auto ended = waiting.wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_EQ(ended.out, "");
  const auto listed = boost::json::parse(out({"ls", "--json"}));
  EXPECT_THAT(ended.err, HasSubstr(uuid_of(listed.at("id").as_string().c_str())));
}

TEST_F(SubmitTest, WrongInputIsRefusedWithExitCode2) {
  const auto server = serve("server");
  for (const Words& wrong : {Words{},
                             {"k", "--priority", "9001"},
                             {"k", "--priority", "high"},
                             {"k", "--delay", "soon"},
                             {"k", "--deadline", "-5s"},
                             {"k", "--tag", "nothing"},
                             {"k", "--tag", "a.b=1", "--tag", "a.b=2"},
                             {"k", "--retries", "x"},
                             {"k", "--backoff", "5"},
                             {"k", "--policy", "[]"},
                             {"k", "--policy", R"({"no_such": 1})"},
                             {"k", "--id", "7"},
                             {"k", "--no-such-flag"},
                             {"k", "--lane", std::string(65, 'x')},
                             {"k", "--wait", "--timeout", "1.5s"}}) {
    auto arguments = wrong;
    arguments.insert(arguments.begin(), "submit");
    const auto refused = ff(arguments);
    EXPECT_EQ(refused.exit_code, 2) << (wrong.empty() ? "" : wrong.back()) << refused.err;
    EXPECT_NE(refused.err, "");
  }
}

}  // namespace
}  // namespace ff::test
