// Readers of the streams of a flow, by the engine's own words.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;

class FlowTailTest : public ::testing::Test {
 protected:
  template <class Op>
  auto run(Op operation) {
    return must(test::run(engine_, std::move(operation)));
  }
  auto start_reading(const FlowId& id, const std::string& after) {
    return test::start(engine_, ReadFlowStream{.id = id, .after = after, .wait = 20s});
  }
  static std::vector<FlowNode> nodes(std::size_t first, std::size_t count) {
    std::vector<FlowNode> all;
    for (std::size_t i = first; i < first + count; ++i)
      all.push_back(
          {.name = must(NodeName::parse(fmt::format("n{}", i))), .kind = must(Kind::parse("k"))});
    return all;
  }

  void claim_a_node() {
    auto reply = run(Claim{.worker = must(WorkerId::parse("w")), .lease_ttl = 1h});
    ASSERT_EQ(reply.executions.size(), 1u);
    claimed_ = reply.executions[0];
  }
  void write(const std::string& text) {
    run(AppendFrames{.id = claimed_.id,
                     .fence = claimed_.fence,
                     .written = written_++,
                     .frames = {{.bytes = text}}});
  }

  test::TempDirectory temp_;
  LocalEngine engine_{
      must(embedded::open({.directory = temp_.path(), .clock = std::make_shared<SystemClock>()})),
      {.scan = false}};
  ClaimedExecution claimed_;
  std::uint64_t written_ = 0;
};

TEST_F(FlowTailTest, ACallPassesSoManyNodesAndNoMore) {
  const auto id = run(SubmitFlow{.nodes = nodes(0, 1'000), .building = true}).flow.id;
  run(ExtendFlow{.id = id, .nodes = nodes(1'000, 1'000)});
  run(ExtendFlow{.id = id, .nodes = nodes(2'000, 200)});
  run(SealFlow{id});
  std::string place;
  for (int pages = 0; pages < 2; ++pages) {
    const auto page = start_reading(id, place).get();
    ASSERT_TRUE(page);
    EXPECT_TRUE(page->frames.empty());
    EXPECT_NE(page->next, place) << "another process can go on there";
    EXPECT_NE(page->next.find('/'), std::string::npos) << "the pass is not over";
    place = page->next;
  }
  const auto rest = run(ReadFlowStream{.id = id, .after = place});
  EXPECT_EQ(rest.next.find('/'), std::string::npos) << rest.next;
  auto reading = start_reading(id, rest.next);
  claim_a_node();
  write("a");
  const auto page = must(reading.get());
  ASSERT_EQ(page.frames.size(), 1u);
  EXPECT_EQ(page.frames[0].id, claimed_.id);
}

TEST_F(FlowTailTest, HundredsOfReadersOfOneFlowAreAllWoken) {
  const auto id = run(SubmitFlow{.nodes = nodes(0, 2)}).flow.id;
  claim_a_node();
  constexpr std::size_t reader_count = 257;
  std::vector<test::Started<ReadFlowStream>> readers;
  const auto place = run(ReadFlowStream{.id = id}).next;
  for (std::size_t i = 0; i < reader_count; ++i) readers.push_back(start_reading(id, place));
  write("a");
  for (auto& reader : readers) EXPECT_EQ(must(reader.get()).frames.size(), 1u);
}

// A reader that gives up leaves its tail to the next one, with what it has heard meanwhile.
TEST_F(FlowTailTest, FramesBetweenTwoCallsAreNoted) {
  const auto id = run(SubmitFlow{.nodes = nodes(0, 2)}).flow.id;
  claim_a_node();
  auto place = run(ReadFlowStream{.id = id}).next;
  for (int round = 0; round < 3; ++round) {
    write(std::to_string(round));
    auto page = must(start_reading(id, place).get());
    ASSERT_EQ(page.frames.size(), 1u) << "round " << round;
    EXPECT_EQ(page.frames[0].frame.bytes, std::to_string(round));
    place = page.next;
    // Without a frame, and nobody waits for what its notice tells.
    page = run(ReadFlowStream{.id = id, .after = place});
    EXPECT_TRUE(page.frames.empty());
    place = page.next;
  }
}

// Two readers at one place: the notice for the one that has gone must not be taken for that of the other.
TEST_F(FlowTailTest, AReaderThatHasGoneTakesNoWakeUpWithIt) {
  const auto id = run(SubmitFlow{.nodes = nodes(0, 2)}).flow.id;
  claim_a_node();
  const auto place = run(ReadFlowStream{.id = id}).next;
  auto stays = start_reading(id, place);
  const auto goes = run(ReadFlowStream{.id = id, .after = place, .wait = 1ms});
  EXPECT_TRUE(goes.frames.empty());
  auto comes_back = start_reading(id, goes.next);
  write("a");
  EXPECT_EQ(must(stays.get()).frames.size(), 1u);
  EXPECT_EQ(must(comes_back.get()).frames.size(), 1u);
}

}  // namespace
}  // namespace ff
