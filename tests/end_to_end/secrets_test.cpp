// The secrets of waitpoint tokens on the command line: seen nowhere.
#include <fstream>

#include "tests/end_to_end/cli_test.hpp"
#include "tests/support/await.hpp"

namespace ff::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* secret = "c0ffee00c0ffee00c0ffee00c0ffee00";

class SecretsCliTest : public CliTest {
 protected:
  std::string file_with(const std::string& text) {
    const auto file = temp_.path() / "secret";
    std::ofstream(file) << text;
    return file;
  }
  std::string kids() { return out({"secrets", "list", "--json"}); }
};

TEST_F(SecretsCliTest, RotateMakesASecretAndNamesItAfterTheTime) {
  const auto server = serve("server");
  EXPECT_EQ(kids(), "{\"kid\":\"k1\",\"current\":true}\n");
  EXPECT_THAT(out({"secrets", "rotate", "--json"}),
              MatchesRegex("\\{\"rotated\":1,\"failed\":\\[\\],\"in_progress\":\\[\\],"
                           "\"new_kid\":\"k[0-9]{8}-[0-9]{6}\"\\}\n"));
  EXPECT_THAT(out({"secrets", "list"}), HasSubstr("k1"));
}

TEST_F(SecretsCliTest, RotateReadsTheSecretFromAFileOrStandardInput) {
  const auto server = serve("server");
  const auto file = file_with(std::string(secret) + "\n");
  const auto rotated = ff({"secrets", "rotate", "--kid", "k2", "--secret-file", file});
  EXPECT_EQ(rotated.exit_code, 0) << rotated.err;
  EXPECT_THAT(rotated.out + rotated.err, Not(HasSubstr(secret)));
  out({"secrets", "rotate", "--kid", "k2", "--secret-file", "-"}, secret);
  const auto conflict = ff({"secrets", "rotate", "--kid", "k2", "--secret-file", "-"},
                           "decade00decade00decade00decade00");
  EXPECT_EQ(conflict.exit_code, 4);
  EXPECT_THAT(conflict.err, Not(HasSubstr("decade")));
  EXPECT_THAT(kids(), StartsWith("{\"kid\":\"k2\",\"current\":true}\n{\"kid\":\"k1\""));
  EXPECT_THAT(server->output_so_far(), HasSubstr("waitpoint_hmac_rotation_complete new_kid=k2"));
  EXPECT_THAT(server->output_so_far(), Not(HasSubstr(secret)));
}

TEST_F(SecretsCliTest, RotateRefusesWhatIsNoSecretOrKid) {
  const auto server = serve("server");
  const auto refused = ff({"secrets", "rotate", "--secret-file", file_with("hunter2")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, Not(HasSubstr("hunter2")));
  EXPECT_THAT(ff({"secrets", "rotate", "--secret-file", file_with("c0ffee")}).err,
              HasSubstr("at least 16 bytes"));
  EXPECT_EQ(ff({"secrets", "rotate", "--kid", "a:b"}).exit_code, 2);
  EXPECT_EQ(ff({"secrets", "rotate", "--secret-file", "/nonexistent"}).exit_code, 2);
}

TEST_F(SecretsCliTest, GraceIsASetting) {
  const auto server =
      serve("server", {},
            {"FF_WAITPOINT_HMAC_GRACE_MS=0", std::string("FF_WAITPOINT_HMAC_SECRET=") + secret});
  out({"secrets", "rotate", "--kid", "k2"});
  await("the grace period to end",
        [this] { return kids() == "{\"kid\":\"k2\",\"current\":true}\n"; });
}

TEST_F(SecretsCliTest, ConfiguredSecretIsNotShown) {
  const std::string variable = std::string("FF_WAITPOINT_HMAC_SECRET=") + secret;
  const auto shown = run_ff({"config"}, "", {variable}).out;
  EXPECT_THAT(shown, HasSubstr("FF_WAITPOINT_HMAC_SECRET"));
  EXPECT_THAT(shown, Not(HasSubstr(secret)));
  const auto refused =
      run_ff({"server", "--store", store()}, "", {"FF_WAITPOINT_HMAC_SECRET=hunter2"});
  EXPECT_THAT(run_ff({"server", "--store", store()}, "", {"FF_WAITPOINT_HMAC_SECRET=c0ffee"}).err,
              HasSubstr("at least 16 bytes"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("FF_WAITPOINT_HMAC_SECRET"));
  EXPECT_THAT(refused.err, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace ff::test
