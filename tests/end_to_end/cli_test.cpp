// The program as a user meets it: the real binary, a real server, real signals.
#include <csignal>
#include <fstream>
#include <regex>

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/process.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string program = FF_PROGRAM;

std::string trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class CliTest : public ::testing::Test {
 protected:
  std::string store() const { return "embedded:" + (temp_.path() / "data").string(); }

  // Starts `ff server` or `ff demo` on any free port and waits until it serves.
  std::unique_ptr<Process> serve(const std::string& command) {
    auto process = std::make_unique<Process>(
        std::vector<std::string>{program, command, "--store", store(), "--listen", "127.0.0.1:0"});
    const auto said = process->wait_for_output("at http://127.0.0.1:");
    std::smatch match;
    std::regex_search(said, match, std::regex("at (http://127\\.0\\.0\\.1:[0-9]+)"));
    url_ = match[1];
    return process;
  }

  Finished ff(std::vector<std::string> arguments, std::string input = "") {
    arguments.insert(arguments.begin(), program);
    arguments.insert(arguments.end(), {"--url", url_});
    return run(std::move(arguments), std::move(input));
  }

  TempDirectory temp_;
  std::string url_;
};

TEST_F(CliTest, SubmitWaitGetAndResultGoTheWholeWay) {
  const auto demo = serve("demo");
  demo->wait_for_output("Still serving");

  const auto waited = ff({"submit", "greet", "World", "--lane", "demo", "--wait"});
  EXPECT_EQ(waited.exit_code, 0) << waited.err;
  EXPECT_EQ(waited.out, "Hello, World!");

  const auto submitted = ff({"submit", "add", "1 2 3", "--lane", "demo"});
  const auto id = trimmed(submitted.out);
  EXPECT_THAT(id, StartsWith("{fp:"));
  EXPECT_EQ(ff({"result", id, "--wait"}).out, "6");
  EXPECT_THAT(ff({"get", id}).out, AllOf(HasSubstr("state"), HasSubstr("completed")));
  EXPECT_THAT(ff({"get", id, "--json"}).out, HasSubstr(R"("state":"completed")"));
}

TEST_F(CliTest, DemoShowsEveryStep) {
  auto demo = serve("demo");
  const auto said = demo->wait_for_output("Still serving");
  for (const char* step : {"submitted", "claimed", "completed", "Hello, Ada!", "42", "failed",
                           "'nineteen 23' is not a list of numbers"})
    EXPECT_THAT(said, HasSubstr(step));
  demo->signal(SIGINT);
  EXPECT_EQ(demo->wait().exit_code, 0);
}

TEST_F(CliTest, PayloadComesFromStandardInputUnchanged) {
  const auto server = serve("server");
  const std::string bytes("a\0\xff\nb", 5);
  const auto submitted = ff({"submit", "k", "-", "--json"}, bytes);
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr(R"("duplicate":false)"));
}

TEST_F(CliTest, PayloadAboveTheLimitIsSaidToBeTooLarge) {
  const auto server = serve("server");
  for (const std::size_t size : {1024 * 1024 + 1, 20 * 1024 * 1024}) {
    const auto refused = ff({"submit", "k", "-"}, std::string(size, 'x'));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("payload_too_large")) << size;
  }
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAnError) {
  const auto full = run({"/bin/sh", "-c", program + " version > /dev/full"});
  EXPECT_EQ(full.exit_code, 1);
}

TEST_F(CliTest, FailedExecutionIsExitCode1) {
  const auto demo = serve("demo");
  const auto failed = ff({"submit", "add", "x", "--lane", "demo", "--wait"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("'x' is not a list of numbers"));
}

TEST_F(CliTest, ErrorsHaveTheirExitCodes) {
  const auto server = serve("server");
  const auto id = trimmed(ff({"submit", "k"}).out);
  EXPECT_EQ(ff({"get", "42"}).exit_code, 2);
  EXPECT_EQ(ff({"submit", "k", "--priority", "9001"}).exit_code, 2);
  EXPECT_EQ(ff({"submit"}).exit_code, 2);
  EXPECT_EQ(ff({"no-such-command"}).exit_code, 2);
  EXPECT_THAT(ff({"no-such-command"}).err, HasSubstr("there is no command 'no-such-command'"));
  EXPECT_EQ(ff({"get", "{fp:1}:01920000-0000-7000-8000-000000000001"}).exit_code, 3);
  EXPECT_EQ(ff({"result", id}).exit_code, 4);
  EXPECT_EQ(ff({"result", id, "--wait", "--timeout", "0.001"}).exit_code, 4);
  for (const char* timeout : {"-1", "inf", "nan", "1e30", "x"})
    EXPECT_EQ(ff({"result", id, "--wait", "--timeout", timeout}).exit_code, 2) << timeout;
  url_ = "http://127.0.0.1:1";
  EXPECT_EQ(ff({"get", id}).exit_code, 5);
}

TEST_F(CliTest, SecondProcessOnADataDirectoryIsRefused) {
  const auto server = serve("server");
  const auto second = run({program, "server", "--store", store(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err, AllOf(HasSubstr("store_locked"), HasSubstr("in use by process")));
}

TEST_F(CliTest, PortInUseIsRefusedAndLeavesTheOtherServerAlone) {
  const auto server = serve("server");
  const auto address = url_.substr(std::string("http://").size());
  const auto second = run({program, "server", "--store", store() + "-2", "--listen", address});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err, HasSubstr("address_in_use"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "data-2")) << "nothing may be left behind";
  EXPECT_EQ(ff({"submit", "k"}).exit_code, 0);
}

TEST_F(CliTest, DataDirectoryThatCannotBeWrittenIsRefused) {
  std::ofstream(temp_.path() / "data") << "a file";
  const auto refused = run({program, "server", "--store", store(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("store_not_writable"));
}

TEST_F(CliTest, WrongAddressesAreRefused) {
  for (const char* listen : {"0.0.0.0:0", "127.0.0.1", "127.0.0.1:x", ""}) {
    const auto refused = run({program, "server", "--store", store(), "--listen", listen});
    EXPECT_EQ(refused.exit_code, 2) << listen << refused.err;
  }
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "data")) << "nothing may be left behind";
}

TEST_F(CliTest, StopsOnSigtermAndKeepsWhatWasSubmitted) {
  auto server = serve("server");
  const auto id = trimmed(ff({"submit", "k"}).out);
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().exit_code, 0);
  const auto again = serve("server");
  EXPECT_EQ(ff({"get", id}).exit_code, 0);
}

TEST_F(CliTest, KeepsWhatWasAcknowledgedWhenKilled) {
  auto server = serve("server");
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(trimmed(ff({"submit", "k"}).out));
  server->signal(SIGKILL);
  EXPECT_EQ(server->wait().exit_code, 128 + SIGKILL);
  const auto again = serve("server");
  for (const auto& id : ids) EXPECT_EQ(ff({"get", id}).exit_code, 0) << id;
}

TEST_F(CliTest, HelpAndVersionAreThere) {
  const auto help = run({program, "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text : {"server", "submit", "result", "Exit codes"})
    EXPECT_THAT(help.out, HasSubstr(text));
  EXPECT_THAT(run({program, "version"}).out, StartsWith("ff "));
  EXPECT_THAT(run({program, "--version"}).out, StartsWith("ff "));
}

}  // namespace
}  // namespace ff::test
