// The program on Valkey, with the rights that the documentation gives it.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/end_to_end/cli_test.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Words split(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// What stands in docs/valkey.md between two texts.
std::string documented(std::string_view begin, std::string_view end) {
  const auto text = text_of(source_dir() / "docs/valkey.md");
  const auto first = text.find(begin);
  return text.substr(first, text.find(end, first) - first);
}

// The words of the first ACL SETUSER.
Words documented_user() { return split(documented("ACL SETUSER", "```")); }

// The commands that the words `+command` of a text allow, in capitals.
std::set<std::string> commands_in(const std::string& text) {
  static const std::regex allowed(R"(\+([a-z]+))");
  std::set<std::string> commands;
  for (std::sregex_iterator word(text.begin(), text.end(), allowed), last; word != last; ++word) {
    auto name = word->str(1);
    for (auto& letter : name) letter = static_cast<char>(std::toupper(letter));
    commands.insert(name);
  }
  return commands;
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

TEST(DocumentedRights, CoverTheCommandsOfTheLibrary) {
  const auto of_servers = commands_in(documented("ACL SETUSER", "```"));
  auto of_contract = commands_in(documented("| programs of the [contract]", "\n"));
  of_contract.insert(of_servers.begin(), of_servers.end());
  const auto library = source_dir() / "src/store/valkey/lua";
  static const std::regex call(R"(server\.p?call\('([A-Z]+)')");
  std::size_t calls = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(library)) {
    if (file.path().extension() != ".lua") continue;
    const auto name = file.path().lexically_relative(library);
    const bool is_ours = *name.begin() == "functions";  // modules are used by both
    const auto text = text_of(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), call), last; found != last; ++found) {
      ++calls;
      EXPECT_TRUE((is_ours ? of_servers : of_contract).contains(found->str(1)))
          << name << " calls " << found->str(1);
    }
  }
  EXPECT_GT(calls, 100u);
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
