// Settings and where they come from; help, version and completion.
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ConfigTest : public CliTest {
 protected:
  std::string config(const std::string& text) {
    const auto file = temp_.path() / "ff.conf";
    std::ofstream(file) << text;
    return file;
  }
};

std::string line_of(const std::string& text, const std::string& name) {
  const auto begin = text.find("\n" + name + " ") + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(ConfigTest, FlagsComeBeforeVariablesBeforeTheFileBeforeDefaults) {
  const auto file = config("url = http://file\nretention = 2d\nlisten = 127.0.0.1:1\n");
  const auto shown = run_ff({"config", "--config", file, "--url", "http://flag"}, "",
                            {"FF_RETENTION=3d", "FF_STORE="})
                         .out;
  EXPECT_THAT(line_of(shown, "url"), ::testing::AllOf(HasSubstr("http://flag"), HasSubstr("flag")));
  EXPECT_THAT(line_of(shown, "retention"),
              ::testing::AllOf(HasSubstr("3d"), HasSubstr("FF_RETENTION")));
  EXPECT_THAT(line_of(shown, "listen"),
              ::testing::AllOf(HasSubstr("127.0.0.1:1"), HasSubstr(file + ":3")));
  EXPECT_THAT(line_of(shown, "store"),
              ::testing::AllOf(HasSubstr("./ff-data"), HasSubstr("default")));
}

TEST_F(ConfigTest, IsShownAsJson) {
  EXPECT_THAT(
      run_ff({"config", "--json"}, "", {"FF_URL=http://variable"}).out,
      HasSubstr(R"({"name":"url","value":"http://variable","source":"variable","where":"FF_URL")"));
}

TEST_F(ConfigTest, FileIsNamedOrFound) {
  const auto file = config("url = http://here\n");
  EXPECT_THAT(run_ff({"config"}, "", {"FF_CONFIG=" + file}).out, HasSubstr("http://here"));
  std::filesystem::create_directories(temp_.path() / "flowfabric");
  std::filesystem::rename(file, temp_.path() / "flowfabric/ff.conf");
  EXPECT_THAT(run_ff({"config"}, "", {"XDG_CONFIG_HOME=" + temp_.path().string()}).out,
              HasSubstr("http://here"));
  EXPECT_EQ(run_ff({"config", "--config", "/nonexistent"}).exit_code, 2);
}

TEST_F(ConfigTest, WrongFileIsRefusedWithItsLine) {
  for (const auto& [text, says] :
       {std::pair{"\nurk = 1", ":2: there is no setting 'urk'"},
        {"url", ":1: this line is not a setting"},
        {"retention = soon", ":1: retention: 'soon' is not a duration"}}) {
    const auto file = config(text);
    const auto refused = run_ff({"get", missing_id, "--config", file});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(file + says));
  }
}

TEST_F(ConfigTest, WrongVariableIsRefusedWhereItIsUsed) {
  const Words variables{"FF_RETENTION=soon"};
  const auto refused =
      run_ff({"server", "--listen", "127.0.0.1:0", "--store", store()}, "", variables);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("FF_RETENTION: 'soon' is not a duration"));
  EXPECT_EQ(run_ff({"version"}, "", variables).exit_code, 0);
}

TEST_F(ConfigTest, ServerUsesItsSettings) {
  const auto quiet = config("log-level = off\n");
  const auto both = run_ff({"server", "--listen", "127.0.0.1:0", "--store",
                            store() + "?durability=strict", "--durability", "relaxed"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("give one of them"));
  const auto server = serve("server", {"--durability", "strict", "--retention", "1ms",
                                       "--retention-trimmer-interval", "100ms"});
  const auto id = submit({"k"});
  out({"cancel", id});
  while (ff({"get", id}).exit_code != 3) {
  }
}

TEST(Program, OutputThatCannotBeWrittenIsOneErrorWhateverItsSize) {
  for (const char* command : {"version", "library", "completion bash", "--help"})
    for (const char* output : {">/dev/full", ">&-"}) {
      const auto failed = run({"/bin/sh", "-c", program + " " + command + " " + output});
      EXPECT_EQ(failed.exit_code, 1) << command << output;
      EXPECT_THAT(failed.err, ::testing::MatchesRegex("ff: cannot write to standard output: .*\n"))
          << command << output;
    }
  const auto json = run({"/bin/sh", "-c", program + " library --json >/dev/full"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(boost::json::parse(json.err).at("detail").as_string(),
            "cannot write to standard output: No space left on device");
}

TEST(Program, ErrorThatCannotBeWrittenKeepsItsExitCode) {
  EXPECT_EQ(run({"/bin/sh", "-c", program + " get 7 2>/dev/full"}).exit_code, 2);
  EXPECT_EQ(run({"/bin/sh", "-c", program + " no-such-command 2>&-"}).exit_code, 2);
}

TEST(Program, WrongUsageIsReportedLikeOtherErrors) {
  for (const Words& wrong : {Words{"submit", "k", "p", "--bogus"},
                             {"get"},
                             {"sumbit"},
                             {"budgets", "burn"},
                             {"budgets"},
                             {"submit", "k", "--policy", "x"}}) {
    const auto text = run_ff(wrong);
    EXPECT_EQ(text.exit_code, 2) << wrong.back();
    EXPECT_THAT(text.err, ::testing::MatchesRegex("ff: invalid_input: .*; see ff .*--help\n"));
    auto with_json = wrong;
    with_json.push_back("--json");
    const auto json = run_ff(with_json);
    EXPECT_EQ(json.exit_code, 2) << wrong.back();
    EXPECT_EQ(boost::json::parse(json.err).at("code"), "invalid_input") << json.err;
  }
}

TEST(Program, CommandThatIsNotThereIsRefused) {
  const auto refused = run_ff({"no-such-command"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no command 'no-such-command'"));
  const auto inner = run_ff({"budgets", "burn"});
  EXPECT_EQ(inner.exit_code, 2);
  EXPECT_THAT(inner.err, HasSubstr("there is no command 'budgets burn'; see ff budgets --help"));
  EXPECT_EQ(run_ff({"budgets"}).exit_code, 2);
}

Words listed_in(const std::string& help) {
  Words names;
  const std::regex line("\n  ([a-z]+) +[A-Z]");
  const auto begin = help.find("Subcommands:");
  if (begin == std::string::npos) return names;
  for (std::sregex_iterator
           match(help.begin() + static_cast<std::ptrdiff_t>(begin), help.end(), line),
       end;
       match != end; ++match)
    names.push_back((*match)[1]);
  return names;
}

// Each as its words; those of groups, too.
std::vector<Words> command_names() {
  std::vector<Words> names;
  for (const auto& name : listed_in(run_ff({"--help"}).out)) {
    names.push_back({name});
    for (const auto& inner : listed_in(run_ff({name, "--help"}).out))
      names.push_back({name, inner});
  }
  return names;
}

TEST(Program, EveryCommandHasHelpWithExamples) {
  const auto names = command_names();
  EXPECT_GE(names.size(), 40u);
  for (auto words : names) {
    const auto name = fmt::format("ff {}", fmt::join(words, " "));
    words.push_back("--help");
    const auto help = run_ff(words);
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, ::testing::AllOf(HasSubstr("Examples:"), HasSubstr(name))) << name;
  }
}

TEST(Program, EveryCommandIsDocumented) {
  std::ifstream file(source_dir() / "docs/cli.md");
  const std::string doc(std::istreambuf_iterator<char>(file), {});
  for (const auto& words : command_names())
    EXPECT_THAT(doc, HasSubstr(fmt::format("`ff {}", fmt::join(words, " "))));
}

TEST(Program, VersionIsTold) {
  EXPECT_THAT(run_ff({"version"}).out, StartsWith("ff "));
  EXPECT_EQ(run_ff({"--version"}).out, run_ff({"version"}).out);
  EXPECT_THAT(run_ff({"version", "--json"}).out, StartsWith("{\"version\":"));
}

// Completions that bash offers for the last of `words`.
std::string bash_completion(const std::string& words) {
  return run({"/bin/bash", "-c",
              "source <(" + program + " completion bash); COMP_WORDS=(" + words +
                  "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _ff; printf '%s ' \"${COMPREPLY[@]}\""})
      .out;
}

TEST(Completion, OfBashOffersCommandsOptionsAndChoices) {
  EXPECT_EQ(bash_completion("ff sub"), "submit ");
  EXPECT_THAT(bash_completion("ff ls --st"), HasSubstr("--state "));
  EXPECT_EQ(bash_completion("ff ls --state c"), "completed cancelled ");
  EXPECT_EQ(bash_completion("ff completion z"), "zsh ");
  EXPECT_EQ(bash_completion("ff budgets re"), "report release reset ");
  EXPECT_EQ(bash_completion("ff budgets create --on-hard s"), "suspend ");
  EXPECT_THAT(bash_completion("ff workers drain --u"), HasSubstr("--undo "));
  EXPECT_THAT(bash_completion("ff submit k --file /etc/host"), HasSubstr("/etc/hosts"));
  EXPECT_THAT(bash_completion("ff server --durability ''"), HasSubstr("strict"));
}

TEST(Completion, ScriptsAreValid) {
  EXPECT_EQ(run({"/bin/bash", "-c", program + " completion bash | bash -n"}).exit_code, 0);
  for (const char* shell : {"zsh", "fish"})
    EXPECT_EQ(run({"/bin/bash", "-c",
                   std::string("command -v ") + shell + " > /dev/null || exit 0; " + program +
                       " completion " + shell + " | " + shell + " -n /dev/stdin"})
                  .exit_code,
              0)
        << shell;
  for (const char* shell : {"zsh", "fish"})
    EXPECT_THAT(run_ff({"completion", shell}).out,
                ::testing::AllOf(HasSubstr("submit"), HasSubstr("durability")));
  EXPECT_EQ(run_ff({"completion", "csh"}).exit_code, 2);
}

}  // namespace
}  // namespace ff::test
