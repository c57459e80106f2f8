#include <flowfabric/ids.hpp>

#include <gtest/gtest.h>

namespace ff {
namespace {

constexpr const char* uuid_text = "01234567-89ab-cdef-0123-456789abcdef";

TEST(Uuid, ReadsAndWritesItsCanonicalSpelling) {
  const auto uuid = Uuid::parse(uuid_text);
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->bytes()[0], 0x01);
  EXPECT_EQ(uuid->bytes()[15], 0xef);
  EXPECT_EQ(uuid->str(), uuid_text);
}

TEST(Uuid, RefusesEveryOtherSpelling) {
  for (const char* text :
       {"", "01234567-89AB-cdef-0123-456789abcdef", "0123456789abcdef0123456789abcdef",
        "{01234567-89ab-cdef-0123-456789abcdef}", "01234567-89ab-cdef-0123-456789abcde",
        "01234567-89ab-cdef-0123-456789abcdefa", "01234567_89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdeg"})
    EXPECT_FALSE(Uuid::parse(text)) << text;
}

TEST(ExecutionId, CarriesItsPartition) {
  const auto id = ExecutionId::parse(std::string("{fp:42}:") + uuid_text);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->partition(), 42);
  EXPECT_EQ(id->uuid().str(), uuid_text);
  EXPECT_EQ(id->str(), std::string("{fp:42}:") + uuid_text);
}

TEST(ExecutionId, HasAShortFormWithoutBraces) {
  const auto id = ExecutionId::parse(std::string("42-") + uuid_text);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->str(), std::string("{fp:42}:") + uuid_text);
}

TEST(ExecutionId, RefusesEveryOtherSpelling) {
  for (const char* tag :
       {"",       "{fp:}:", "{fp:+1}:", "{fp:-1}:", "{fp:007}:", "{fp:00}:", "{fp:65536}:",
        "{fp:1}", "{b:1}:", "{fp:1 }:", " {fp:1}:", "{fp:1}::",  "{fp:1}-",  "-",
        "007-",   "-1-",    "65536-",   "1--",      "1:",        " 1-",      "fp:1-"})
    EXPECT_FALSE(ExecutionId::parse(std::string(tag) + uuid_text)) << tag;
  EXPECT_FALSE(ExecutionId::parse("{fp:1}:"));
  EXPECT_TRUE(ExecutionId::parse(std::string("{fp:0}:") + uuid_text));
}

TEST(ExecutionId, ErrorShowsWhatOneLooksLike) {
  const auto id = ExecutionId::parse("bad\nid");
  EXPECT_EQ(id.error().message,
            "'bad?id' is not an execution id; one looks like "
            "42-01920000-0000-7000-8000-000000000000");
}

TEST(LaneId, IsPrintableAsciiOfAtMost64Bytes) {
  EXPECT_TRUE(LaneId::parse("a lane, with ~ signs"));
  EXPECT_TRUE(LaneId::parse(std::string(64, 'x')));
  for (const auto& text : {std::string{}, std::string(65, 'x'), std::string("a\tb"),
                           std::string("é"), std::string("a\0b", 3)})
    EXPECT_FALSE(LaneId::parse(text)) << text;
}

TEST(Namespace, HoldsNoCharacterThatSeparatesKeys) {
  EXPECT_TRUE(Namespace::parse("team-1.eu_west"));
  for (const char* text : {"", "a:b", "a b", "a/b", "{a}", "ü"})
    EXPECT_FALSE(Namespace::parse(text)) << text;
}

TEST(WorkerId, IsVisibleUtf8) {
  EXPECT_TRUE(WorkerId::parse("wörker-東京"));
  EXPECT_TRUE(WorkerId::parse(std::string(256, 'w')));
  for (const char* text :
       {"", "a b", "a\nb", "a\xc2\xa0z", "a\xc2\x85z", "a\xe3\x80\x80z", "\xff", "a\x7fz"})
    EXPECT_FALSE(WorkerId::parse(text)) << text;
  EXPECT_FALSE(WorkerId::parse(std::string(257, 'w')));
}

TEST(TraceParent, IsTakenOnlyInItsForm) {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(must(TraceParent::parse(good)).str(), good);
  for (const char* bad : {"", "00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
                          "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
    EXPECT_FALSE(TraceParent::parse(bad)) << bad;
}

}  // namespace
}  // namespace ff
