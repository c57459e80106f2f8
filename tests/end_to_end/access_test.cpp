// Tokens and TLS.
#include <csignal>
#include <fstream>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* admin_token = "correct-horse-battery";
constexpr const char* reader_token = "only-look-do-not-touch";

class AccessTest : public CliTest {
 protected:
  Finished ff_with(const Words& variables, const Words& arguments) {
    Words all{"FF_URL=" + url_};
    all.insert(all.end(), variables.begin(), variables.end());
    return run_ff(arguments, "", all);
  }
  Finished ff_as(const std::string& token, const Words& arguments) {
    return ff_with({"FF_TOKEN=" + token}, arguments);
  }
  std::string file(const std::string& name, const std::string& text) {
    const auto path = temp_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string tokens(const std::string& name, const std::string& token) {
    return R"({"tokens": [{"name": ")" + name + R"(", "token": ")" + token +
           R"(", "roles": ["read"]}]})";
  }
};

TEST_F(AccessTest, ServerWithATokenWantsIt) {
  const auto server = serve("server", {}, {std::string("FF_API_TOKEN=") + admin_token});
  const auto none = ff({"ls"});
  EXPECT_EQ(none.exit_code, 6);
  EXPECT_THAT(none.err, ::testing::AllOf(HasSubstr("unauthenticated"), HasSubstr("FF_TOKEN")));
  EXPECT_EQ(ff_as("a-token-that-is-wrong", {"ls"}).exit_code, 6);
  EXPECT_EQ(ff_as(admin_token, {"submit", "k"}).exit_code, 0);
  const auto token_file = file("token", std::string(admin_token) + "\n");
  EXPECT_EQ(ff({"submit", "k", "--token-file", token_file}).exit_code, 0);
  EXPECT_EQ(ff({"ls", "--token-file", "/nonexistent"}).exit_code, 2);
}

TEST_F(AccessTest, TokensOfAFileHaveRolesAndAreReadAgain) {
  const auto tokens_file = file("tokens", tokens("reader", reader_token));
  const auto server = serve("server", {"--tokens-file", tokens_file});
  EXPECT_EQ(ff_as(reader_token, {"ls"}).exit_code, 0);
  EXPECT_EQ(ff_as(reader_token, {"submit", "k"}).exit_code, 6);

  file("tokens", tokens("other", "another-token-for-reading"));
  server->signal(SIGHUP);
  server->wait_for_output("read again");
  EXPECT_EQ(ff_as(reader_token, {"ls"}).exit_code, 6);
  EXPECT_EQ(ff_as("another-token-for-reading", {"ls"}).exit_code, 0);

  file("tokens", "no JSON");
  server->signal(SIGHUP);
  server->wait_for_output("stay as they were");
  EXPECT_EQ(ff_as("another-token-for-reading", {"ls"}).exit_code, 0);
}

TEST_F(AccessTest, WorkerWithoutAPermissionEndsWithTheExitCodeForIt) {
  const auto server = serve("server", {"--tokens-file", file("tokens", tokens("r", reader_token))});
  const auto wrong = ff_as("a-token-that-is-wrong", {"work", "true"});
  EXPECT_EQ(wrong.exit_code, 6);
  EXPECT_THAT(wrong.err, HasSubstr("unauthenticated"));
  const auto reader = ff_as(reader_token, {"work", "true"});
  EXPECT_EQ(reader.exit_code, 6);
  EXPECT_THAT(reader.err, HasSubstr("permission_denied"));
}

TEST_F(AccessTest, TlsIsServedAndChecked) {
  const auto certificate = (temp_.path() / "cert.pem").string();
  const auto key = (temp_.path() / "key.pem").string();
  const auto made =
      run({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
           "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
           "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto server = serve("server", {"--tls-cert", certificate, "--tls-key", key});
  EXPECT_THAT(url_, StartsWith("https://"));
  EXPECT_EQ(ff_with({"FF_CA_FILE=" + certificate}, {"submit", "k"}).exit_code, 0);
  EXPECT_NE(ff({"ls"}).exit_code, 0) << "nobody vouches for that certificate";
}

TEST_F(AccessTest, WrongFilesAreRefusedAndLeaveNothingBehind) {
  for (const Words& wrong : {Words{"--tokens-file", "/nonexistent"},
                             {"--tokens-file", file("tokens", "{}")},
                             {"--tls-cert", "/nonexistent", "--tls-key", "/nonexistent"},
                             {"--tls-cert", "/nonexistent"},
                             {"--max-connections", "0"},
                             {"--max-long-polls", "many"}}) {
    Words arguments{"server", "--store", store(), "--listen", "127.0.0.1:0"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run_ff(arguments).exit_code, 2) << wrong[0];
  }
  EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(AccessTest, ListeningBeyondLoopbackNeedsTokensOrAWord) {
  const auto refused = run_ff({"server", "--store", store(), "--listen", "0.0.0.0:0"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--insecure-listen"));
  const auto open = serve("server", {"--listen", "0.0.0.0:0", "--insecure-listen"});
  EXPECT_THAT(url_, StartsWith("http://0.0.0.0:"));
}

TEST_F(AccessTest, TokensAreNeverShown) {
  const auto shown =
      run_ff({"config"}, "", {"FF_TOKEN=my-hidden-token", "FF_API_TOKEN=my-other-hidden"});
  EXPECT_THAT(shown.out, ::testing::AllOf(HasSubstr("(set)"), Not(HasSubstr("hidden"))));
  EXPECT_EQ(run_ff({"config", "--token", "x"}).exit_code, 2) << "a flag would be in process lists";
  const auto in_file = run_ff({"config", "--config", file("ff.conf", "token = my-hidden-token\n")});
  EXPECT_EQ(in_file.exit_code, 2);
  EXPECT_THAT(in_file.err, ::testing::AllOf(HasSubstr("can only be given as FF_TOKEN"),
                                            Not(HasSubstr("my-hidden"))));
}

}  // namespace
}  // namespace ff::test
