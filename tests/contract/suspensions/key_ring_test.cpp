// The secrets of waitpoint tokens in the partitions of a store: made by the first program, the same everywhere.
#include <thread>

#include <fmt/format.h>

#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/contract/fixture.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::test {
namespace {

constexpr PartitionIndex partitions = 40;  // more than are asked at a time

class KeyRingsOnValkey : public Contract {
 protected:
  enum class As { server, client };

  std::unique_ptr<LocalEngine> open(const char* secret = "", As as = As::server) {
    valkey_store::StoreOptions options{.client = client_options(),
                                       .partitions = {.executions = partitions},
                                       .sweep = as == As::server};
    if (*secret) options.waitpoint_secret = must(WaitpointSecret::parse(secret));
    return std::make_unique<LocalEngine>(must(valkey_store::open(std::move(options))),
                                         LocalEngineOptions{.scan = false});
  }
  static Result<RotateSecretReply> rotate(Engine& engine, const char* kid, const char* secret) {
    return test::start(engine,
                       RotateWaitpointSecret{.new_kid = must(KeyId::parse(kid)),
                                             .new_secret = must(WaitpointSecret::parse(secret))})
        .get();
  }
  static std::size_t key_count(Engine& engine) {
    return must(test::run(engine, ListWaitpointKeys{})).keys.size();
  }

  static std::string key_of(int partition) {
    return fmt::format("ff:sec:{{fp:{}}}:waitpoint_hmac", partition);
  }
  std::string field(int partition, const std::string& name) {
    const auto reply = command({"HGET", key_of(partition), name});
    return reply.as_text() ? *reply.as_text() : "(none)";
  }
  // "k1=aa": kid and secret of the partitions' rings, which are all alike.
  std::string everywhere() {
    std::set<std::string> rings;
    for (int i = 0; i < partitions; ++i) {
      const auto kid = field(i, "current_kid");
      rings.insert(kid + "=" + field(i, "secret:" + kid));
    }
    return rings.size() == 1 ? *rings.begin() : fmt::format("{} different rings", rings.size());
  }
};

TEST_F(KeyRingsOnValkey, ConfiguredSecretIsInstalledInEveryPartition) {
  open("AABB");
  EXPECT_EQ(everywhere(), "k1=aabb");
  const LogCapture log;
  open("aabb");
  EXPECT_EQ(log.text().find("WAITPOINT"), std::string::npos);
}

TEST_F(KeyRingsOnValkey, RandomSecretIsMadeByTheFirstProgramAndUsedByAll) {
  open("", As::client);
  const auto made = everywhere();
  EXPECT_EQ(made.size(), std::string("k1=").size() + 64);
  open();
  EXPECT_EQ(everywhere(), made);
}

TEST_F(KeyRingsOnValkey, ProgramsThatStartTogetherAgree) {
  {
    std::vector<std::jthread> programs;
    for (int i = 0; i < 4; ++i) programs.emplace_back([this] { open(); });
  }
  EXPECT_TRUE(everywhere().starts_with("k1=")) << everywhere();
}

TEST_F(KeyRingsOnValkey, StoredSecretWinsOverAnotherConfiguredOne) {
  open("aabb");
  const LogCapture log;
  open("ccddccddccddccddccddccddccddccdd");
  EXPECT_EQ(everywhere(), "k1=aabb");
  EXPECT_NE(log.text().find("FF_WAITPOINT_HMAC_SECRET is not"), std::string::npos);
  EXPECT_EQ(log.text().find("ccddccddccddccddccddccddccddccdd"), std::string::npos);
}

TEST_F(KeyRingsOnValkey, RotationReachesEveryPartition) {
  const auto engine = open("aabb");
  const LogCapture log;
  const auto reply = must(rotate(*engine, "k2", "ccddccddccddccddccddccddccddccdd"));
  EXPECT_EQ(reply.rotated, partitions);
  EXPECT_EQ(everywhere(), "k2=ccddccddccddccddccddccddccddccdd");
  EXPECT_NE(log.text().find("info audit waitpoint_hmac_rotation_complete new_kid=k2 "
                            "total_partitions=40 rotated=40 failed_count=0 in_progress_count=0"),
            std::string::npos)
      << log.text();
  EXPECT_EQ(log.text().find("ccddccddccddccddccddccddccddccdd"), std::string::npos);
}

TEST_F(KeyRingsOnValkey, PartitionThatCannotRotateIsReportedAndCatchesUp) {
  const auto engine = open("aabb");
  command({"RENAME", key_of(7), "{fp:7}aside"});
  command({"SET", key_of(7), "something else"});
  const LogCapture log;
  const auto reply = must(rotate(*engine, "k2", "ccddccddccddccddccddccddccddccdd"));
  EXPECT_EQ(reply.rotated, partitions - 1u);
  EXPECT_EQ(reply.failed, std::vector<PartitionIndex>{7});
  EXPECT_NE(log.text().find("error waitpoint_hmac_rotation_failed partition=7"), std::string::npos);
  command({"RENAME", "{fp:7}aside", key_of(7)});
  open("aabb");
  EXPECT_EQ(everywhere(), "k2=ccddccddccddccddccddccddccddccdd");
  EXPECT_EQ(field(7, "expires_at:k1"), field(0, "expires_at:k1"));
}

TEST_F(KeyRingsOnValkey, NothingRotatesIfPartitionZeroRefuses) {
  const auto engine = open("aabb");
  EXPECT_EQ(rotate(*engine, "k1", "ccddccddccddccddccddccddccddccdd").error().code,
            Errc::rotation_conflict);
  EXPECT_EQ(everywhere(), "k1=aabb");
}

TEST_F(KeyRingsOnValkey, LostSecretComesFromTheOtherPartitionsNotFromTheConfiguration) {
  const auto engine = open("aabb");
  must(rotate(*engine, "k2", "ccddccddccddccddccddccddccddccdd"));
  command({"HDEL", key_of(3), "secret:k2"});
  open("aabb");
  EXPECT_EQ(everywhere(), "k2=ccddccddccddccddccddccddccddccdd");
}

TEST_F(KeyRingsOnValkey, LostSecretAfterARotationIsNeverReplacedByTheConfiguredOne) {
  const auto engine = open("aabb");
  must(rotate(*engine, "k2", "ccddccddccddccddccddccddccddccdd"));
  command({"HDEL", key_of(0), "secret:k2"});
  open("aabb");
  EXPECT_EQ(field(0, "secret:k2"), "(none)");
}

TEST_F(KeyRingsOnValkey, PartitionThatAnotherProgramRotatedIsLeftAlone) {
  open("aabb");
  run({"ff_rotate_waitpoint_hmac_secret", {key_of(5)}, {"other", "eeff", "60000"}});
  const LogCapture log;
  open("aabb");
  EXPECT_EQ(field(5, "current_kid"), "other");
  EXPECT_NE(log.text().find("1 partition(s) differ from partition 0"), std::string::npos);
}

TEST_F(KeyRingsOnValkey, RingIsMadeAgainAfterAFlush) {
  const auto engine = open("aabb");
  must(rotate(*engine, "k2", "ccddccddccddccddccddccddccddccdd"));
  EXPECT_EQ(key_count(*engine), 2u);
  command({"FLUSHALL"});
  EXPECT_EQ(key_count(*engine), 1u);
  EXPECT_EQ(everywhere(), "k1=aabb");
}

TEST_F(KeyRingsOnValkey, KidsOfOtherProgramsThatCannotBeInATokenAreLeftOut) {
  const auto engine = open("aabb");
  command({"HSET", key_of(0), "secret:a/b", "ff", "expires_at:a/b", far_future, "secret:old", "ee",
           "expires_at:old", "9.5e15", "secret:bad", "no hex", "expires_at:bad", far_future});
  EXPECT_EQ(key_count(*engine), 2u);
}

}  // namespace
}  // namespace ff::test
