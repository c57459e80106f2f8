#include "store/valkey/boot/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ClientOptions client_of(std::string_view url) {
  auto options = parse_url(url);
  EXPECT_TRUE(options) << (options ? "" : options.error().message);
  return options ? options->client : ClientOptions{};
}

std::string refusal_of(std::string_view url) {
  const auto options = parse_url(url);
  EXPECT_FALSE(options) << url;
  return options ? "" : options.error().message;
}

TEST(ValkeyUrl, NamesAServer) {
  const auto client = client_of("valkey://db.example:7000");
  EXPECT_THAT(client.endpoints, ElementsAre(Endpoint{TcpEndpoint{"db.example", 7000}}));
  EXPECT_FALSE(client.tls);
  EXPECT_FALSE(client.cluster);
  EXPECT_THAT(client_of("valkey://host").endpoints,
              ElementsAre(Endpoint{TcpEndpoint{"host", 6379}}));
  EXPECT_THAT(client_of("valkey://[::1]:7/").endpoints,
              ElementsAre(Endpoint{TcpEndpoint{"::1", 7}}));
}

TEST(ValkeyUrl, NamesSomeNodesOfACluster) {
  const auto client = client_of("valkeys-cluster://a:1,b:2");
  EXPECT_TRUE(client.tls);
  EXPECT_TRUE(client.cluster);
  EXPECT_THAT(client.endpoints,
              ElementsAre(Endpoint{TcpEndpoint{"a", 1}}, Endpoint{TcpEndpoint{"b", 2}}));
}

TEST(ValkeyUrl, NamesASocket) {
  EXPECT_THAT(client_of("valkey+unix:///run/valkey.sock").endpoints,
              ElementsAre(Endpoint{UnixEndpoint{"/run/valkey.sock"}}));
}

TEST(ValkeyUrl, HasUserAndPassword) {
  const auto client = client_of("valkey://worker:p%40ss%3a%25@host");
  EXPECT_EQ(client.user, "worker");
  EXPECT_EQ(client.password, "p@ss:%");
  EXPECT_EQ(client_of("valkey://:secret@host").user, "");
}

TEST(ValkeyUrl, HasSettings) {
  const auto options = parse_url(
      "valkey://h?durability=replicas&ca_file=%2Fca.pem&partitions=16"
      "&budget_partitions=4&quota_partitions=8");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->durability, Durability::replicas);
  EXPECT_EQ(options->client.ca_file, "/ca.pem");
  EXPECT_EQ(options->partitions, (PartitionCounts{.executions = 16, .budgets = 4, .quotas = 8}));
}

TEST(ValkeyUrl, IsRefusedWithAReason) {
  EXPECT_THAT(refusal_of("valkey://"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(refusal_of("valkey://host:0"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(refusal_of("valkey://host:99999"), HasSubstr("HOST:PORT"));
  EXPECT_THAT(refusal_of("valkey://host?durability=maybe"), HasSubstr("server, fsync or replicas"));
  EXPECT_THAT(refusal_of("valkey://host?speed=11"), HasSubstr("there are only durability"));
  EXPECT_THAT(refusal_of("valkey://host?partitions=0"), HasSubstr("1 to 32767"));
  EXPECT_THAT(refusal_of("valkey://host?quota_partitions=x"), HasSubstr("quota_partitions"));
  EXPECT_THAT(refusal_of("valkey://a%4:b@host"), HasSubstr("%XX"));
  EXPECT_THAT(refusal_of("valkey+unix://socket"), HasSubstr("no socket"));
  EXPECT_THAT(refusal_of("valkey://h?password_file=/nowhere/at/all"), HasSubstr("/nowhere/at/all"));
}

TEST(ValkeyUrl, DoesNotTellThePassword) {
  EXPECT_THAT(refusal_of("valkey://me:secret@host:0"), Not(HasSubstr("secret")));
  EXPECT_THAT(refusal_of("valkey://me:se%xcret@host"), Not(HasSubstr("xcret")));
}

}  // namespace
}  // namespace ff::valkey_store
