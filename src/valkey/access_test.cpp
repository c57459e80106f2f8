// The ways to a server: passwords, TLS, unix sockets.
#include <fstream>

#include "valkey/test_support.hpp"

namespace ff::valkey::test {
namespace {

using ff::test::ValkeyServer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AccessTest : public ClientTest {
 protected:
  std::string ping(ClientOptions options) {
    options.request_timeout = 500ms;
    options.connect_timeout = 300ms;
    return run(*connect(std::move(options)), {"PING"});
  }
};

TEST_F(AccessTest, ThePasswordOfTheDefaultUser) {
  ValkeyServer server({.password = "s3cret"});
  auto options = server.client_options();
  EXPECT_EQ(ping(options), "\"PONG\"");
  options.password = "wr0ng";
  EXPECT_THAT(ping(options), ::testing::AllOf(StartsWith("unauthenticated: Valkey at 127.0.0.1:"),
                                              HasSubstr("check the user and the password"),
                                              Not(HasSubstr("wr0ng"))));
  options.password = "";
  EXPECT_THAT(ping(options),
              ::testing::AllOf(StartsWith("unauthenticated"), HasSubstr("wants a password")));
}

TEST_F(AccessTest, AUserOfItsOwn) {
  ValkeyServer server({.user = "worker", .password = "s3cret"});
  auto options = server.client_options();
  EXPECT_EQ(ping(options), "\"PONG\"");
  options.password = "wr0ng";
  EXPECT_THAT(ping(options),
              ::testing::AllOf(StartsWith("unauthenticated"), HasSubstr("user worker")));
}

TEST_F(AccessTest, CommandWithoutPermissionIsDenied) {
  ValkeyServer server({.user = "worker", .password = "s3cret"});
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"SET", "a", "1"}), "\"OK\"");
  server.call({"ACL", "SETUSER", "worker", "-set"});
  EXPECT_THAT(run(*client, {"SET", "a", "1"}),
              ::testing::AllOf(StartsWith("permission_denied"), HasSubstr("NOPERM")));
}

TEST_F(AccessTest, APasswordThatIsSetRightLater) {
  ValkeyServer server({.password = "old"});
  auto options = server.client_options();
  options.password = "new";
  const auto client = connect(options);
  EXPECT_THAT(run(*client, {"PING"}), StartsWith("unauthenticated"));
  server.call({"CONFIG", "SET", "requirepass", "new"});
  ff::test::await("it is accepted", [&] { return run(*client, {"PING"}) == "\"PONG\""; });
}

TEST_F(AccessTest, AServerThatIsFullIsTriedAgain) {
  for (const auto* password : {"", "s3cret"}) {
    ValkeyServer server({.password = password, .arguments = {"--maxclients", "1"}});
    auto first = connect(server.client_options());
    EXPECT_EQ(run(*first, {"PING"}), "\"PONG\"");
    EXPECT_THAT(
        ping(server.client_options()),
        ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("max number of clients")));
    const auto second = connect(server.client_options());
    auto waiting = start(*second, {.command = {"PING"}});
    first.reset();
    EXPECT_EQ(show(waiting.get()), "\"PONG\"");
  }
}

TEST_F(AccessTest, UnixSockets) {
  ValkeyServer server({.unix_socket = true});
  ClientOptions options;
  options.endpoints.push_back(UnixEndpoint{server.socket_path().string()});
  EXPECT_EQ(ping(options), "\"PONG\"");
  options.tls = true;  // is for TCP
  EXPECT_EQ(ping(options), "\"PONG\"");
  options.endpoints[0] = UnixEndpoint{"/nowhere/socket"};
  EXPECT_THAT(ping(options),
              ::testing::AllOf(StartsWith("store_unavailable: Valkey at /nowhere/socket"),
                               HasSubstr("No such file")));
  options.endpoints[0] = UnixEndpoint{std::string(200, 'x')};
  EXPECT_THAT(ping(options), HasSubstr("too long"));
}

TEST_F(AccessTest, Tls) {
  ValkeyServer server({.tls = true, .password = "s3cret"});
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"PING"}), "\"PONG\"");
  const std::string large(3 * 1024 * 1024, 'x');
  EXPECT_EQ(run(*client, {"SET", "a", large}), "\"OK\"");
  EXPECT_EQ(run(*client, {"GET", "a"}), "\"" + large + "\"");
  std::vector<Future> answers;
  for (int i = 0; i < 2000; ++i) answers.push_back(start(*client, {.command = {"INCR", "n"}}));
  EXPECT_EQ(show(answers.back().get()), "2000");
}

TEST_F(AccessTest, TlsWithAStrangersCertificateIsRefused) {
  ValkeyServer server({.tls = true});
  auto options = server.client_options();
  options.ca_file.reset();
  EXPECT_THAT(ping(options), ::testing::AllOf(StartsWith("store_unavailable"),
                                              HasSubstr("certificate verify failed"),
                                              HasSubstr("signed by someone you trust?")));
}

TEST_F(AccessTest, TlsChecksTheNameOfTheHost) {
  ValkeyServer server({.tls = true});
  auto options = server.client_options();
  std::get<TcpEndpoint>(options.endpoints[0]).host =
      "localhost";  // the certificate is for 127.0.0.1
  EXPECT_THAT(ping(options), HasSubstr("is its certificate for this name"));
}

TEST_F(AccessTest, TlsToAPlainServerIsRefused) {
  ValkeyServer server;
  auto options = server.client_options();
  options.tls = true;
  options.ca_file = ValkeyServer::ca_file().string();
  EXPECT_THAT(ping(options),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("does it speak TLS")));
}

TEST_F(AccessTest, ACaFileMustBeOne) {
  ValkeyServer server({.tls = true});
  auto options = server.client_options();
  options.ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(ping(options), StartsWith("invalid_input: cannot use the certificate authorities in "
                                        "/nowhere/ca.pem"));
}

}  // namespace
}  // namespace ff::valkey::test
