#include <flowfabric/capabilities.hpp>
#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

CapabilitySet set(std::vector<std::string> tokens) {
  return must(CapabilitySet::parse(std::move(tokens)));
}

// The rule that refuses the tokens, or "" if they are accepted.
std::string refusal(std::vector<std::string> tokens) {
  const auto parsed = CapabilitySet::parse(std::move(tokens));
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code, Errc::invalid_capabilities);
  EXPECT_EQ(parsed.error().details.size(), 1u);
  EXPECT_EQ(parsed.error().details[0].name, "what");
  return parsed.error().details[0].value;
}

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(fmt::format("t{}", i));
  return tokens;
}

std::string utf8(char32_t point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0 | point >> 6), tail(0)};
  return {static_cast<char>(0xe0 | point >> 12), tail(6), tail(0)};
}

TEST(CapabilitySet, IsSortedByBytesAndHoldsEachTokenOnce) {
  EXPECT_EQ(set({"gpu", "cuda", "gpu", "GPU", "东京-gpu"}).csv(), "GPU,cuda,gpu,东京-gpu");
  EXPECT_EQ(set({"b", "a"}), set({"a", "b", "a"}));
  EXPECT_LT(set({"a"}), set({"a", "b"}));
}

TEST(CapabilitySet, IsEmptyWithoutTokens) {
  EXPECT_TRUE(CapabilitySet().empty());
  EXPECT_EQ(CapabilitySet().csv(), "");
  EXPECT_EQ(set({}), CapabilitySet());
  EXPECT_FALSE(set({"gpu"}).empty());
}

TEST(CapabilitySet, CoversWhatItHasAllOf) {
  const auto offered = set({"cuda", "gpu", "linux"});
  for (const auto& required : {set({}), set({"gpu"}), set({"linux", "cuda"}), offered})
    EXPECT_TRUE(offered.covers(required)) << required.csv();
  for (const auto& required : {set({"GPU"}), set({"gp"}), set({"gpu", "tpu"}), set({"gpu2"})})
    EXPECT_FALSE(offered.covers(required)) << required.csv();
  EXPECT_TRUE(CapabilitySet().covers(CapabilitySet()));
  EXPECT_FALSE(CapabilitySet().covers(offered));
}

TEST(CapabilitySet, NamesWhatIsMissing) {
  const auto offered = set({"cuda", "gpu"});
  EXPECT_EQ(offered.missing(set({"tpu", "gpu", "Gpu"})), (std::vector<std::string>{"Gpu", "tpu"}));
  EXPECT_TRUE(offered.missing(set({"gpu"})).empty());
}

TEST(CapabilitySet, RefusesTokensThatCouldNotBeListed) {
  EXPECT_EQ(refusal({"gpu", ""}), "empty_token");
  EXPECT_EQ(refusal({"a,b"}), "comma_in_token");
  EXPECT_EQ(refusal({","}), "comma_in_token");
  for (const char* token : {"\xff", "gpu\x80", "\xc0\xac", "\xed\xa0\x80", "\xe2\x80"})
    EXPECT_EQ(refusal({token}), "invalid_utf8");
}

TEST(CapabilitySet, RefusesEveryUnicodeBlankAndControlCharacter) {
  const auto refused = [](char32_t point) {
    return point <= 0x20 || (point >= 0x7f && point <= 0xa0) || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000;
  };
  for (char32_t point = 0; point < 0xd800; ++point) {
    if (point == ',') continue;
    EXPECT_EQ(refusal({"a" + utf8(point) + "b"}), refused(point) ? "control_or_whitespace" : "")
        << std::hex << static_cast<std::uint32_t>(point);
  }
}

TEST(CapabilitySet, LimitsCountEachTokenOnce) {
  auto most = numbered(limits::capability_tokens_max);
  most.push_back("t0");
  EXPECT_EQ(refusal(most), "");
  most.push_back("one-more");
  EXPECT_EQ(refusal(most), "too_many_tokens");

  const std::string half(limits::capability_csv_bytes_max / 2, 'a');
  const std::string rest(limits::capability_csv_bytes_max - half.size() - 1, 'b');
  EXPECT_EQ(set({half, rest, half}).csv().size(), limits::capability_csv_bytes_max);
  EXPECT_EQ(refusal({half, rest + 'b'}), "too_many_bytes");
}

TEST(CapabilitySet, ErrorsSayWhatToDo) {
  const auto message = [](std::vector<std::string> tokens) {
    return CapabilitySet::parse(std::move(tokens)).error().message;
  };
  EXPECT_EQ(message({"gpu\ncuda"}),
            "capability 'gpu?cuda' holds a blank or control character; write it without, with '-' "
            "or '_' for example");
  EXPECT_EQ(message({"a,b"}), "capability 'a,b' holds a comma; give each capability on its own");
  EXPECT_EQ(message(numbered(300)),
            "there are 300 capabilities; at most 256 are allowed, leave some out");
}

}  // namespace
}  // namespace ff
