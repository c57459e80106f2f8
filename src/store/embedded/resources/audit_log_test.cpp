// The audit log and the paused lanes, on a disk that may fail.
#include "store/embedded/resources/audit_log.hpp"

#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"
#include "store/embedded/resources/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::SizeIs;

class AuditLogTest : public DeskTest {
 protected:
  void append(std::string subject, std::uint64_t entries_max = 100) {
    must(run(
        core::AppendAudit{.entry = {.who = "ada", .what = "Cancel", .subject = std::move(subject)},
                          .entries_max = entries_max}));
  }
  // "c b a": the newest first.
  std::string log(ReadAudit query = {}) {
    std::string subjects;
    for (const auto& each : must(run(std::move(query))).entries)
      subjects += (subjects.empty() ? "" : " ") + each.subject;
    return subjects;
  }
  core::HoldLane hold(const char* lane) {
    return {.lane = *LaneId::parse(lane), .ns = default_namespace(), .reason = "r", .by = "ada"};
  }
};

TEST_F(AuditLogTest, KeepsTheNewestEntries) {
  open();
  for (const char* each : {"a", "b", "c", "d"}) append(each, 3);
  EXPECT_EQ(log(), "d c b");
  append("e", 2);
  EXPECT_EQ(log(), "e d");
  open();
  append("f", 2);
  EXPECT_EQ(log(), "f e");
}

TEST_F(AuditLogTest, FindsTimesAmongManyEntries) {
  open();
  const auto began = clock_->now();
  for (int i = 0; i < 50; ++i) {
    append(std::to_string(i));
    clock_->advance(1s);
  }
  EXPECT_EQ(log({.since = began + 48s}), "49 48");
  EXPECT_EQ(log({.until = began + 2s}), "1 0");
  EXPECT_EQ(log({.since = began + 10s, .until = began + 12s}), "11 10");
  EXPECT_EQ(log({.until = began}), "");
  EXPECT_EQ(log({.since = began + 60s}), "");
  EXPECT_EQ(must(run(core::TrimAudit{.before = began + 10s, .max = 4})), 4u);
  EXPECT_EQ(must(run(core::TrimAudit{.before = began + 10s, .max = 100})), 6u);
  EXPECT_EQ(must(run(core::TrimAudit{.before = began + 10s, .max = 100})), 0u);
  EXPECT_EQ(log({.until = began + 12s}), "11 10");
}

TEST_F(AuditLogTest, KeepsWhatWasAnsweredThroughAPowerCut) {
  open_on_disk();
  append("a");
  must(run(hold("gpu")));
  cut_power();
  const auto& opened = open_on_disk();
  EXPECT_EQ(log(), "a");
  EXPECT_THAT(opened.paused_lanes()->all(), SizeIs(1));
}

TEST(AuditRecords, AreReadAsTheyWereWritten) {
  const AuditEntry entry{.at = TimePoint{Millis{7}},
                         .who = "ada",
                         .from = "::1",
                         .ns = *Namespace::parse("team-a"),
                         .what = "Cancel",
                         .subject = "x",
                         .details = {{"a", "b"}, {"c", ""}},
                         .outcome = "ok"};
  EXPECT_EQ(decode_audit_entry(encode(entry)), entry);
  const LanePause pause{.by = "ada", .since = TimePoint{Millis{7}}, .reason = "why"};
  EXPECT_EQ(decode_lane_pause(encode(pause)), pause);
  EXPECT_FALSE(decode_audit_entry("\xff"));
  EXPECT_FALSE(decode_lane_pause("\xff"));
  EXPECT_EQ(keys::parse_audit(keys::audit(1ull << 40)), 1ull << 40);
  EXPECT_FALSE(keys::parse_audit("A"));
  const auto key =
      must(keys::parse_lane_pause(keys::lane_pause(default_namespace(), *LaneId::parse("a b"))));
  EXPECT_EQ(key.ns, default_namespace());
  EXPECT_EQ(key.lane.str(), "a b");
  EXPECT_FALSE(keys::parse_lane_pause("P"));
}

}  // namespace
}  // namespace ff::embedded
