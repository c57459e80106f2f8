// The program on Valkey, with the rights that the documentation gives it.
#include <fstream>
#include <sstream>

#include "tests/end_to_end/cli_test.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::test {
namespace {

// The words of the first ACL SETUSER in docs/valkey.md.
Words documented_user() {
  std::ifstream file(source_dir() / "docs/valkey.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto begin = text.find("ACL SETUSER");
  std::istringstream words(text.substr(begin, text.find("```", begin) - begin));
  return {std::istream_iterator<std::string>(words), {}};
}

class ValkeyTest : public CliTest {
 protected:
  std::string store() const override {
    return "valkey://flowfabric:PASSWORD@127.0.0.1:" + std::to_string(valkey_.port());
  }

  ValkeyServer valkey_;
};

TEST_F(ValkeyTest, DocumentedUserIsRefusedNothing) {
  valkey_.call(documented_user());
  const auto server = serve("server");
  const auto budget = trimmed(out({"budgets", "create", "--hard", "tokens=10"}));
  const auto quota = trimmed(out({"quotas", "create", "--max-concurrent", "1"}));
  const auto id = submit({"k", "Ada", "--budget", budget, "--quota", quota, "--tag", "a.b=c",
                          "--idempotency-key", "once", "--retries", "1"});
  out({"work", "cat", "--once"});
  EXPECT_EQ(out({"result", id, "--wait"}), "Ada");
  out({"budgets", "report", budget, "tokens=5", "--execution", id, "--dedup-key", "d"});
  out({"budgets", "release", budget, id});
  out({"budgets", "reset", budget});
  out({"replay", id});
  out({"priority", id, "5"});
  out({"tags", id, "a.c=d"});
  out({"why", id});
  out({"cancel", id});
  for (const Words& list : {Words{"ls", "--tag", "a.b=c"},
                            {"counts"},
                            {"attempts", id},
                            {"leases", id},
                            {"workers", "list"},
                            {"quotas", "list"}})
    out(list);
  const auto refused = valkey_.call({"ACL", "LOG"});
  ASSERT_TRUE(refused.as_array());
  EXPECT_TRUE(refused.as_array()->empty()) << to_text(refused);
}

TEST_F(ValkeyTest, BenchOfStreamsTellsWhatValkeyDoesByItself) {
  valkey_.call(documented_user());
  const auto report = out({"bench", "stream", "--store", store(), "--tasks", "640", "--writers",
                           "2", "--tails", "0", "--json"});
  EXPECT_THAT(report, ::testing::ContainsRegex("\"raw_xadd_per_s\":[1-9]"));
  EXPECT_EQ(*valkey_.call({"EXISTS", "ff:bench:xadd:0", "ff:bench:xadd:1"}).as_int(), 0);
}

TEST_F(ValkeyTest, NumberOfPartitionsMayBeASettingBesideTheUrl) {
  valkey_.call(documented_user());
  const auto server = serve("server", {"--flow-partitions", "8"});
  EXPECT_EQ(to_text(valkey_.call({"HGET", "ff:config:partitions", "num_flow_partitions"})),
            R"("8")");
  const auto refused = [&](const std::string& store) {
    const auto ended = run_ff({"server", "--store", store, "--flow-partitions", "8"}, "",
                              {"FF_LISTEN_ADDR=127.0.0.1:0"});
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_THAT(refused(store() + "?partitions=8"), ::testing::HasSubstr("give one of them"));
  EXPECT_THAT(refused("embedded:" + data().string()),
              ::testing::HasSubstr("--flow-partitions is for a store on Valkey"));
}

}  // namespace
}  // namespace ff::test
