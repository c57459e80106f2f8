#include "cli/input/settings.hpp"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/input/config_file.hpp"
#include "cli/input/settings_doc.hpp"
#include "tests/support/paths.hpp"

namespace ff::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Where each source gives url another value; the test leaves out what it does not want.
SettingSources all_sources() {
  return {.flags = {{Setting::url, "http://flag"}},
          .variable = [](const std::string& name) -> std::optional<std::string> {
            if (name == "FF_URL") return "http://variable";
            return std::nullopt;
          },
          .file = *parse_config("url = http://file", "f")};
}

SettingValue url_from(const SettingSources& sources) {
  const Setting wanted[] = {Setting::url};
  return must(Settings::resolve(wanted, sources)).value(Setting::url);
}

TEST(Settings, FlagsComeBeforeVariablesBeforeTheFileBeforeDefaults) {
  auto sources = all_sources();
  EXPECT_EQ(url_from(sources).text, "http://flag");
  EXPECT_EQ(url_from(sources).where, "--url");
  sources.flags.clear();
  EXPECT_EQ(url_from(sources).text, "http://variable");
  EXPECT_EQ(url_from(sources).where, "FF_URL");
  sources.variable = [](const std::string&) { return ""; };
  EXPECT_EQ(url_from(sources).text, "http://file");
  EXPECT_EQ(url_from(sources).where, "f:1");
  sources.file.clear();
  EXPECT_EQ(url_from(sources).text, "http://127.0.0.1:9090");
  EXPECT_EQ(url_from(sources).source, SettingSource::default_value);
}

TEST(Settings, OlderNameOfAVariableCountsIfTheNewerIsNotSet) {
  const Setting wanted[] = {Setting::valkey_host};
  std::map<std::string, std::string> set{{"FF_HOST", "old"}};
  const auto host = [&] {
    return must(Settings::resolve(wanted,
                                  {.flags = {},
                                   .variable = [&](const std::string& name) { return set[name]; },
                                   .file = {}}))
        .value(Setting::valkey_host);
  };
  EXPECT_EQ(host().text + " " + host().where, "old FF_HOST");
  set["FF_VALKEY_HOST"] = "new";
  EXPECT_EQ(host().text + " " + host().where, "new FF_VALKEY_HOST");
}

TEST(Settings, WrongValueIsRefusedWithItsPlace) {
  const Setting wanted[] = {Setting::retention};
  SettingSources sources = all_sources();
  sources.flags[Setting::retention] = "long";
  const auto refused = Settings::resolve(wanted, sources);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              ::testing::AllOf(HasSubstr("--retention"), HasSubstr("'long'")));
}

TEST(Settings, TagOfTheScannersFollowsTheRuleOfTags) {
  const auto& check = info(Setting::scanner_tag).check;
  for (const char* tag : {"", "team.app=shop", "team.app=", "team.app=a=b"})
    EXPECT_TRUE(check(tag)) << tag;
  for (const char* wrong : {"team.app", "app=shop", "=shop", "Team.app=shop", "team.=shop"})
    EXPECT_FALSE(check(wrong)) << wrong;
}

TEST(Settings, DefaultsAreValid) {
  for (const auto& setting : settings_table())
    EXPECT_TRUE(setting.check(setting.default_value)) << setting.name;
}

TEST(Settings, BareNumbersOfIntervalsHaveTheUnitOfTheirVariable) {
  const Setting wanted[] = {Setting::lease_expiry_interval, Setting::index_reconciler_interval};
  SettingSources sources = all_sources();
  sources.variable = [](const std::string& name) {
    return name == "FF_LEASE_EXPIRY_INTERVAL_MS" ? "2000" : "3";
  };
  const auto settings = must(Settings::resolve(wanted, sources));
  EXPECT_EQ(settings.duration(Setting::lease_expiry_interval), Millis{2000});
  EXPECT_EQ(settings.duration(Setting::index_reconciler_interval), Millis{3000});
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_config(text, "ff.conf");
  return parsed ? "accepted" : parsed.error().message;
}

TEST(ConfigFile, HoldsSettingsAndComments) {
  const auto values =
      must(parse_config("# mine\n\n  url=http://a \nstore = \"embedded:a b\"\r\n", "f"));
  EXPECT_EQ(values.at(Setting::url).text, "http://a");
  EXPECT_EQ(values.at(Setting::store).text, "embedded:a b");
  EXPECT_EQ(values.at(Setting::store).where, "f:4");
}

TEST(ConfigFile, InvalidLineIsRefusedWithFileAndLine) {
  EXPECT_THAT(refusal("\nurk = 1"), ::testing::AllOf(HasSubstr("ff.conf:2: "), HasSubstr("'urk'")));
  EXPECT_THAT(refusal("url"),
              ::testing::AllOf(HasSubstr("ff.conf:1: "), HasSubstr("not a setting")));
  EXPECT_THAT(refusal("retention = x"),
              ::testing::AllOf(HasSubstr("ff.conf:1: retention"), HasSubstr("'x'")));
  EXPECT_THAT(refusal("log-level = loud"), HasSubstr("not one of trace|debug"));
  EXPECT_THAT(refusal("lease-expiry-interval = 1ms"), HasSubstr("at least 100ms"));
  EXPECT_THAT(refusal("url = a\nurl = b"), HasSubstr("ff.conf:2: url is already set at ff.conf:1"));
}

TEST(ConfigFile, IsTheUsersOrElseTheMachines) {
  const auto nowhere = [](const std::string&) {
    return std::optional<std::string>("/nonexistent");
  };
  const auto file = default_config_file(nowhere);
  EXPECT_TRUE(file.empty() || file == "/etc/flowfabric/ff.conf") << file;
}

TEST(ConfigurationDoc, ListsEverySetting) {
  std::ifstream doc(test::source_dir() / "docs/configuration.md");
  std::stringstream text;
  text << doc.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(settings_doc()))
      << "ff config --markdown prints the table that belongs there";
}

}  // namespace
}  // namespace ff::cli
