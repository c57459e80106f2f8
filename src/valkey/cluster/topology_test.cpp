#include "valkey/cluster/topology.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "valkey/protocol/reply_reader.hpp"

namespace ff::valkey {
namespace {

const Endpoint asked = TcpEndpoint{"asked", 1};

// "name first-last …; …", or the error's name.
std::string nodes_in(const std::string& bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  const auto nodes = parse_cluster_slots(**reader.next(), asked);
  if (!nodes) return std::string(nodes.error().name());
  std::string text;
  for (const auto& node : *nodes) {
    text += node.name.text;
    for (const auto& range : node.slots) text += fmt::format(" {}-{}", range.first, range.last);
    text += ";";
  }
  return text;
}

TEST(Topology, NamesPrimariesAndTheirSlots) {
  EXPECT_EQ(nodes_in("*3\r\n"
                     "*4\r\n:0\r\n:9\r\n*2\r\n$1\r\nb\r\n:7\r\n*2\r\n$7\r\nreplica\r\n:8\r\n"
                     "*3\r\n:10\r\n:19\r\n*4\r\n$1\r\na\r\n:7\r\n$2\r\nid\r\n*0\r\n"
                     "*3\r\n:20\r\n:16383\r\n*2\r\n$1\r\nb\r\n:7\r\n"),
            "a:7 10-19;b:7 0-9 20-16383;");
}

TEST(Topology, ANodeWithoutAHostIsTheOneAsked) {
  EXPECT_EQ(nodes_in("*1\r\n*3\r\n:0\r\n:9\r\n*2\r\n$0\r\n\r\n:7\r\n"), "asked:7 0-9;");
  EXPECT_EQ(nodes_in("*1\r\n*3\r\n:0\r\n:9\r\n*2\r\n$-1\r\n:7\r\n"), "asked:7 0-9;");
}

TEST(Topology, ANodeThatDoesNotKnowItsNameIsLeftOut) {
  EXPECT_EQ(nodes_in("*1\r\n*3\r\n:0\r\n:9\r\n*2\r\n$1\r\n?\r\n:7\r\n"), "");
}

TEST(Topology, RefusesWhatIsNone) {
  for (const char* bytes :
       {"+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:9\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:7\r\n",
        "*1\r\n*3\r\n:-1\r\n:9\r\n*2\r\n$1\r\na\r\n:7\r\n",
        "*1\r\n*3\r\n:0\r\n:9\r\n*2\r\n$1\r\na\r\n:70000\r\n", "*1\r\n*3\r\n:0\r\n:9\r\n*0\r\n"})
    EXPECT_EQ(nodes_in(bytes), "malformed_response") << bytes;
}

}  // namespace
}  // namespace ff::valkey
