// Serving: ports, data directories, signals.
#include <csignal>
#include <fstream>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ServerTest : public CliTest {};

TEST_F(ServerTest, DemoShowsEveryStep) {
  auto demo = serve("demo");
  const auto said = demo->wait_for_output("Still serving");
  for (const char* step : {"submitted", "claimed", "completed", "Hello, Ada!", "42", "failed",
                           "'nineteen 23' is not a list of numbers"})
    EXPECT_THAT(said, HasSubstr(step));
  EXPECT_THAT(demo->wait_for_output("Ctrl-C"),
              ::testing::AllOf(HasSubstr("ff submit"), Not(HasSubstr("./run"))));
  demo->signal(SIGINT);
  EXPECT_EQ(demo->wait().exit_code, 0);
}

TEST_F(ServerTest, SecondProcessOnADataDirectoryIsRefused) {
  const auto server = serve("server");
  const auto second = run_ff({"server", "--store", store(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err,
              ::testing::AllOf(HasSubstr("store_locked"), HasSubstr("in use by process")));
}

TEST_F(ServerTest, PortInUseIsRefusedAndLeavesTheOtherServerAlone) {
  const auto server = serve("server");
  const auto address = url_.substr(std::string("http://").size());
  const auto second = run_ff({"server", "--store", store() + "-2", "--listen", address});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err, HasSubstr("address_in_use"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() / "data-2")) << "nothing may be left behind";
  EXPECT_EQ(ff({"submit", "k"}).exit_code, 0);
}

TEST_F(ServerTest, CommandOnADataDirectoryPrintsNoLogOfAServer) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  server->signal(SIGTERM);
  server->wait();
  const auto got = run_ff({"get", id, "--url", store()});
  EXPECT_EQ(got.exit_code, 0);
  EXPECT_EQ(got.err, "");
}

TEST_F(ServerTest, DataDirectoryIsForItsOwnerOnly) {
  const auto server = serve("server");
  EXPECT_EQ(std::filesystem::status(data()).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(ServerTest, DataDirectoryThatCannotBeWrittenIsRefused) {
  std::ofstream(data()) << "a file";
  const auto refused = run_ff({"server", "--store", store(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("store_not_writable"));
}

TEST_F(ServerTest, WrongAddressesAreRefused) {
  for (const char* listen : {"0.0.0.0:0", "127.0.0.1", "127.0.0.1:x", ""}) {
    const auto refused = run_ff({"server", "--store", store(), "--listen", listen});
    EXPECT_EQ(refused.exit_code, 2) << listen << refused.err;
  }
  EXPECT_FALSE(std::filesystem::exists(data())) << "nothing may be left behind";
}

TEST_F(ServerTest, StopsOnSigtermAndKeepsWhatWasSubmitted) {
  auto server = serve("server");
  const auto id = trimmed(ff({"submit", "k"}).out);
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().exit_code, 0);
  const auto again = serve("server");
  EXPECT_EQ(ff({"get", id}).exit_code, 0);
}

TEST_F(ServerTest, KeepsWhatWasAcknowledgedWhenKilled) {
  auto server = serve("server");
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(trimmed(ff({"submit", "k"}).out));
  server->signal(SIGKILL);
  EXPECT_EQ(server->wait().exit_code, 128 + SIGKILL);
  const auto again = serve("server");
  for (const auto& id : ids) EXPECT_EQ(ff({"get", id}).exit_code, 0) << id;
}

}  // namespace
}  // namespace ff::test
