// The streams of a flow's nodes, read as one; and tickets for the streams of one execution.
#include <gmock/gmock.h>

#include <random>

#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class FlowStreamConformance : public FlowConformance {
 protected:
  // The frames of a node, written under its lease.
  struct NodeWriter {
    ClaimedExecution claimed;
    std::map<std::string, std::uint64_t> written = {};
  };
  NodeWriter begin_node(const FlowInfo& of, const char* name) { return {claim_node(of, name)}; }
  void write(NodeWriter& writer, const std::vector<std::string>& texts,
             const std::string& stream = "output") {
    AppendFrames append{.id = writer.claimed.id,
                        .stream = must(StreamName::parse(stream)),
                        .fence = writer.claimed.fence,
                        .written = writer.written[stream],
                        .frames = {}};
    for (const auto& text : texts) append.frames.push_back({.bytes = text});
    writer.written[stream] += texts.size();
    must(run(append));
  }
  void end_node(const NodeWriter& writer) { must(run(complete(writer.claimed))); }

  static std::string text_of(const FlowFrame& frame) {
    return fmt::format("{}.{}:{}", frame.node.str(), frame.stream.str(),
                       frame.frame.kind == FrameKind::attempt ? "(attempt)" : frame.frame.bytes);
  }
  // From a place on, page by page, as far as there is something.
  std::vector<std::string> read(const FlowInfo& of, std::string& place, std::uint32_t limit = 100) {
    std::vector<std::string> texts;
    while (true) {
      const auto page = must(run(ReadFlowStream{.id = of.id, .after = place, .limit = limit}));
      for (const auto& frame : page.frames) texts.push_back(text_of(frame));
      place = page.next;
      end_ = page.end;
      if (page.frames.empty() || page.end) return texts;
    }
  }
  std::vector<std::string> read_all(const FlowInfo& of, std::uint32_t limit = 100) {
    std::string place;
    return read(of, place, limit);
  }

  std::optional<FlowState> end_;  // of the last page
};

INSTANTIATE_TEST_SUITE_P(, FlowStreamConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(FlowStreamConformance, ExistingFramesComeNodeByNode) {
  const auto made = submit_flow({node("a"), node("b"), node("c", {dependency("a")})});
  auto b = begin_node(made, "b"), a = begin_node(made, "a");
  write(b, {"b0"});
  write(a, {"a0", "a1"});
  write(a, {"l0"}, "log");
  advance(10s);
  write(b, {"b1"});
  const auto all =
      ElementsAre("a.output:a0", "a.output:a1", "a.log:l0", "b.output:b0", "b.output:b1");
  EXPECT_THAT(read_all(made), all);
  EXPECT_THAT(read_all(made, 1), all);
  EXPECT_FALSE(end_);
}

TEST_P(FlowStreamConformance, AReaderHearsOfFramesAsTheyAreWritten) {
  const auto made = submit_flow({node("a"), node("b")});
  std::string place;
  EXPECT_THAT(read(made, place), IsEmpty());
  auto waiting = start(ReadFlowStream{.id = made.id, .after = place, .wait = wake_up_max});
  auto a = begin_node(made, "a");
  write(a, {"a0"});
  auto page = must(waiting.get());
  ASSERT_EQ(page.frames.size(), 1u);
  EXPECT_EQ(text_of(page.frames[0]), "a.output:a0");
  EXPECT_EQ(page.frames[0].id, a.claimed.id);
  waiting = start(ReadFlowStream{.id = made.id, .after = page.next, .wait = wake_up_max});
  auto b = begin_node(made, "b");
  write(b, {"b0"});
  page = must(waiting.get());
  ASSERT_EQ(page.frames.size(), 1u);
  EXPECT_EQ(text_of(page.frames[0]), "b.output:b0");
}

TEST_P(FlowStreamConformance, ItEndsWithTheFlow) {
  const auto made = submit_flow({node("a"), node("b")});
  auto a = begin_node(made, "a"), b = begin_node(made, "b");
  std::string place;
  write(a, {"a0"});
  EXPECT_THAT(read(made, place), ElementsAre("a.output:a0"));
  end_node(a);
  auto waiting = start(ReadFlowStream{.id = made.id, .after = place, .wait = wake_up_max});
  end_node(b);
  auto page = must(waiting.get());
  while (!page.end)
    page = must(run(ReadFlowStream{.id = made.id, .after = page.next, .wait = wake_up_max}));
  EXPECT_EQ(page.end, FlowState::completed);
  EXPECT_THAT(page.frames, IsEmpty());
  EXPECT_THAT(read_all(made), ElementsAre("a.output:a0"));
  EXPECT_EQ(end_, FlowState::completed);
}

TEST_P(FlowStreamConformance, NodesThatComeLaterAreReadToo) {
  SubmitFlow open{.nodes = {node("a")}, .building = true};
  const auto made = submit_flow(std::move(open));
  std::string place;
  EXPECT_THAT(read(made, place), IsEmpty());
  must(run(ExtendFlow{.id = made.id, .nodes = {node("b")}}));
  must(run(SealFlow{made.id}));
  auto b = begin_node(made, "b");
  write(b, {"b0"});
  EXPECT_THAT(read(made, place), ElementsAre("b.output:b0"));
}

TEST_P(FlowStreamConformance, AnotherFlowIsNotHeard) {
  const auto made = submit_flow({node("a")}), other = submit_flow({node("a")});
  std::string place;
  read(made, place);
  auto a = begin_node(other, "a");
  write(a, {"other"});
  EXPECT_THAT(read(made, place), IsEmpty());
}

// A reader that is cut off at any frame, and comes back to another server, has each frame once.
TEST_P(FlowStreamConformance, AReaderThatComesBackAtAnyFrameHasEachFrameOnce) {
  const std::vector<const char*> names{"a", "b", "c", "d"};
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    const auto made = submit_flow({node("a"), node("b"), node("c"), node("d")});
    std::map<std::string, NodeWriter> writers;
    std::map<std::string, std::uint64_t> seen;
    std::uint64_t total = 0, received = 0;
    std::string place;
    const auto look = [&](bool all) {
      while (true) {
        const auto limit = 1 + random() % 5;
        const auto page = must(run(ReadFlowStream{
            .id = made.id, .after = place, .limit = static_cast<std::uint32_t>(limit)}));
        place = page.next;
        auto count = page.frames.size();
        if (!all && !page.frames.empty()) {
          count = 1 + random() % count;  // the rest did not arrive
          place = page.frames[count - 1].place;
        }
        for (std::size_t i = 0; i < count; ++i) {
          const auto& frame = page.frames[i];
          EXPECT_EQ(frame.frame.number, seen[frame.node.str() + frame.stream.str()]++)
              << "seed " << seed;
          ++received;
        }
        if (!all || page.end) return;
        if (page.frames.empty() && received >= total) return;
      }
    };
    for (int step = 0; step < 60; ++step) {
      const auto* name = names[random() % names.size()];
      auto writer = writers.find(name);
      switch (random() % 5) {
        case 0:
        case 1:
        case 2: {
          if (writer == writers.end()) writer = writers.emplace(name, begin_node(made, name)).first;
          const auto count = 1 + random() % 3;
          write(writer->second, std::vector<std::string>(count, "x"),
                random() % 3 == 0 ? "log" : "output");
          total += count;
          break;
        }
        case 3: advance(Millis{static_cast<Millis::rep>(random() % 2000)}); break;
        default: look(false);
      }
      for (auto& [each, of] : writers) must(run(renew(of.claimed)));
    }
    look(true);
    EXPECT_EQ(received, total) << "seed " << seed;
    for (const auto* name : names) {
      if (!writers.contains(name)) writers.emplace(name, begin_node(made, name));
      end_node(writers.at(name));
    }
    look(true);
    EXPECT_EQ(received, total) << "seed " << seed;
  }
}

TEST_P(FlowStreamConformance, PlacesThatAreNoneAndFlowsThatAreNotThereAreRefused) {
  const auto made = submit_flow({node("a")});
  EXPECT_EQ(error_of(ReadFlowStream{.id = made.id, .after = "nonsense"}), Errc::invalid_input);
  for (const char* of_no_node : {"0,99999999.0.0", "0,4294967295.0.1", "0,1.0.1", "0,0.9.1"})
    must(run(ReadFlowStream{.id = made.id, .after = of_no_node}));
  EXPECT_EQ(error_of(ReadFlowStream{.id = made.id, .limit = 0}), Errc::invalid_input);
  FlowId none{Uuid::parse("01920000-0000-7000-8000-000000000001").value()};
  EXPECT_EQ(error_of(ReadFlowStream{.id = none}), Errc::flow_not_found);
}

// ---- Tickets --------------------------------------------------------------------------------------

TEST_P(Conformance, ATicketReadsTheStreamsOfItsExecutionUntilItExpires) {
  const auto id = submit(), other = submit();
  const auto ticket = must(run(CreateStreamTicket{.id = id, .ttl = 60s}));
  EXPECT_NEAR(static_cast<double>((ticket.expires_at - now()).count()), 60'000, 2'000);
  EXPECT_TRUE(run(ReadStream{.id = id, .ticket = ticket.ticket}));
  EXPECT_EQ(error_of(ReadStream{.id = other, .ticket = ticket.ticket}), Errc::unauthenticated);
  EXPECT_EQ(error_of(ReadStream{.id = id, .ticket = ""}), Errc::unauthenticated);
  advance(63s);
  EXPECT_EQ(error_of(ReadStream{.id = id, .ticket = ticket.ticket}), Errc::unauthenticated);
}

}  // namespace
}  // namespace ff::conformance
