#include "valkey/protocol/reply_reader.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace ff::valkey {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// All replies in `bytes`, which come in pieces of `piece`; a failure is the last.
std::vector<std::string> read(std::string_view bytes, std::size_t piece = 1'000'000) {
  ReplyReader reader;
  std::vector<std::string> all;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      const auto reply = reader.next();
      if (!reply) {
        all.push_back(fmt::format("{}: {}", reply.error().name(), reply.error().message));
        return all;
      }
      if (!*reply) break;
      all.push_back(to_text(**reply));
    }
  }
  all.push_back(reader.is_empty() ? "end" : "…");
  return all;
}

TEST(ReplyReader, ReadsEveryKind) {
  EXPECT_THAT(read("+OK\r\n-ERR no\r\n:-7\r\n$5\r\na\r\nb!\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n"),
              ElementsAre("\"OK\"", "(error) ERR no", "-7", "\"a\r\nb!\"", "\"\"", "(nil)", "(nil)",
                          "[]", "end"));
}

TEST(ReplyReader, ReadsNestedArrays) {
  EXPECT_THAT(read("*3\r\n*2\r\n:1\r\n*1\r\n+a\r\n*0\r\n-ERR x\r\n:2\r\n"),
              ElementsAre("[[1, [\"a\"]], [], (error) ERR x]", "2", "end"));
}

TEST(ReplyReader, BytesMayComeOneByOne) {
  const std::string_view bytes = "*2\r\n$3\r\nabc\r\n*1\r\n:12\r\n+OK\r\n$10\r\nhalf";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    EXPECT_THAT(read(bytes, piece), ElementsAre("[\"abc\", [12]]", "\"OK\"", "…"));
}

TEST(ReplyReader, EightDeepIsTheLimit) {
  const auto nested = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) bytes += "*1\r\n";
    return bytes + ":1\r\n";
  };
  EXPECT_THAT(read(nested(8)), ElementsAre("[[[[[[[[1]]]]]]]]", "end"));
  EXPECT_THAT(read(nested(9)), ElementsAre(StartsWith("malformed_response")));
}

TEST(ReplyReader, AnnouncedIsNotReceived) {
  EXPECT_THAT(read("*2147483647\r\n:1\r\n"), ElementsAre("…"));
  EXPECT_THAT(read("$500000000\r\nabc"), ElementsAre("…"));
}

TEST(ReplyReader, RefusesWhatIsNoReply) {
  for (const char* bytes : {"hello\r\n", ":\r\n", ":99999999999999999999\r\n", "$-2\r\n", "*-2\r\n",
                            "$x\r\n", "*99999999999\r\n"})
    EXPECT_THAT(read(bytes), ElementsAre(StartsWith("malformed_response"))) << bytes;
}

TEST(ReplyReader, RefusesTooManyValues) {
  std::string bytes = "*2000000000\r\n";
  for (std::size_t i = 0; i < ReplyReader::reply_values_max; ++i) bytes += ":1\r\n";
  EXPECT_THAT(read(bytes, ReplyReader::feed_bytes_best),
              ElementsAre(StartsWith("malformed_response: a reply of more than")));
}

TEST(ReplyReader, RefusesALineWithoutEnd) {
  EXPECT_THAT(read("+" + std::string(ReplyReader::line_bytes_max + 1, 'x'), 1000),
              ElementsAre(StartsWith("malformed_response: a line of more than")));
}

}  // namespace
}  // namespace ff::valkey
