// Streams: what an execution produces while it runs.
#include <gmock/gmock.h>

#include <random>

#include "tests/conformance/streams/stream_conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

StreamName stream_name(std::string text) { return must(StreamName::parse(std::move(text))); }

TEST_P(Conformance, FramesAreReadAsTheyWereWritten) {
  const auto id = submit();
  const auto claimed = claim();
  auto first = append(claimed, 0, {"hello", std::string("\0\xff\n", 3)});
  first.frames[1].type = must(FrameType::parse("blob"));
  first.frames[1].correlation = "line 2";
  EXPECT_EQ(must(run(first)), (AppendReply{.first = 0, .next = 2}));
  EXPECT_EQ(must(run(append(claimed, 2, {"", "end"}))), (AppendReply{.first = 2, .next = 4}));

  const auto page = must(run(ReadStream{.id = id}));
  EXPECT_THAT(texts_of(page), ElementsAre("hello", std::string("\0\xff\n", 3), "", "end"));
  EXPECT_EQ(page.next, 4u);
  EXPECT_FALSE(page.end);
  EXPECT_FALSE(page.trimmed_to);
  const auto& blob = page.frames[1];
  EXPECT_EQ(blob.number, 1u);
  EXPECT_EQ(blob.attempt, 0u);
  EXPECT_EQ(blob.at, now());
  EXPECT_EQ(blob.type.str(), "blob");
  EXPECT_EQ(blob.correlation, "line 2");
  EXPECT_EQ(page.frames[0].type.str(), "data");
}

TEST_P(Conformance, AStreamIsReadFromAnyPlaceInPages) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"0", "1", "2"})));
  must(run(append(claimed, 3, {"3", "4"})));
  auto page = must(run(ReadStream{.id = id, .from = 1, .limit = 3}));
  EXPECT_THAT(texts_of(page), ElementsAre("1", "2", "3"));
  page = must(run(ReadStream{.id = id, .from = page.next, .limit = 3}));
  EXPECT_THAT(texts_of(page), ElementsAre("4"));
  page = must(run(ReadStream{.id = id, .from = page.next}));
  EXPECT_THAT(texts_of(page), ElementsAre());
  EXPECT_EQ(page.next, 5u);
}

TEST_P(Conformance, AnAppendThatIsRepeatedIsKeptOnce) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  const auto second = append(claimed, 1, {"b", "c"});
  must(run(second));
  EXPECT_EQ(must(run(second)), (AppendReply{.first = 1, .next = 3, .duplicate = true}));
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a", "b", "c"));
}

TEST_P(Conformance, AppendsWithAGapOrOfLongAgoAreRefused) {
  submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  must(run(append(claimed, 1, {"b"})));
  const auto gap = run(append(claimed, 3, {"d"}));
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().code, Errc::stream_sequence_gap);
  EXPECT_THAT(gap.error().message, HasSubstr("has appended 2 frames to stream output, not 3"));
  EXPECT_EQ(error_of(append(claimed, 0, {"a"})), Errc::stream_sequence_gap);
}

TEST_P(Conformance, AStreamHasNoNameThatAUrlWouldLose) {
  submit();
  const auto claimed = claim();
  for (const char* name : {".", ".."}) {
    auto command = append(claimed, 0, {"a"});
    command.stream = stream_name(name);
    EXPECT_EQ(error_of(command), Errc::invalid_input) << name;
  }
  auto command = append(claimed, 0, {"a"});
  command.stream = stream_name("...");
  must(run(command));
}

TEST_P(Conformance, NumbersOfFramesStayFarBelowWhatAStoreCanCount) {
  submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  auto jump = append(claimed, (std::uint64_t{1} << 40) + 1, {"b"});
  jump.lost = jump.written - 1;
  EXPECT_EQ(error_of(jump), Errc::invalid_input);
}

TEST_P(Conformance, OnlyTheHolderOfTheLeaseAppends) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  auto stale = append(claimed, 1, {"b"});
  stale.fence.lease_epoch = LeaseEpoch{77};
  EXPECT_EQ(error_of(stale), Errc::stale_lease);
  must(run(complete(claimed)));
  EXPECT_EQ(error_of(append(claimed, 1, {"b"})), Errc::execution_not_active);
  auto unknown = append(claimed, 0, {"b"});
  unknown.id = id_in(3, 99);
  EXPECT_EQ(error_of(unknown), Errc::execution_not_found);
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a"));
}

TEST_P(Conformance, ALaterAttemptGoesOnBehindTheFirstAndSaysSo) {
  const auto id = submit(retried_at_once());
  const auto first = claim();
  must(run(append(first, 0, {"a", "b"})));
  must(run(failure(first)));
  const auto second = claim();
  EXPECT_EQ(must(run(append(second, 0, {"a2"}))), (AppendReply{.first = 3, .next = 4}));
  const auto page = must(run(ReadStream{.id = id}));
  EXPECT_THAT(texts_of(page), ElementsAre("a", "b", "(attempt)", "a2"));
  EXPECT_EQ(page.frames[1].attempt, 0u);
  EXPECT_EQ(page.frames[2].attempt, 1u);
  EXPECT_EQ(page.frames[2].number, 2u);
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id, .from = 3}))), ElementsAre("a2"));
}

TEST_P(Conformance, AStreamEndsWithItsExecution) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a", "b"})));
  must(run(complete(claimed)));
  auto page = must(run(ReadStream{.id = id, .limit = 1}));
  EXPECT_FALSE(page.end) << "there is more";
  page = must(run(ReadStream{.id = id, .from = page.next}));
  EXPECT_THAT(texts_of(page), ElementsAre("b"));
  EXPECT_EQ(page.end, ExecutionState::completed);
  page = must(run(ReadStream{.id = id, .stream = stream_name("never-written")}));
  EXPECT_EQ(page.end, ExecutionState::completed);
}

TEST_P(Conformance, AReaderThatWaitsIsWokenByAnAppendAndByTheEnd) {
  const auto id = submit();
  const auto claimed = claim();
  const auto wait_from = [&](std::uint64_t from) {
    return start(ReadStream{.id = id, .from = from, .wait = wake_up_max});
  };
  auto waiting = wait_from(0);
  must(run(append(claimed, 0, {"a"})));
  EXPECT_THAT(texts_of(must(waiting.get())), ElementsAre("a"));
  waiting = wait_from(1);
  auto never_written =
      start(ReadStream{.id = id, .stream = stream_name("none"), .wait = wake_up_max});
  must(run(complete(claimed)));
  EXPECT_EQ(must(waiting.get()).end, ExecutionState::completed);
  EXPECT_EQ(must(never_written.get()).end, ExecutionState::completed);
}

TEST_P(Conformance, StreamsOfAnExecutionAreApart) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"out"})));
  auto log = append(claimed, 0, {"l1", "l2"});
  log.stream = stream_name("log");
  log.durability = StreamClass::durable;
  must(run(log));
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id, .stream = log.stream}))),
              ElementsAre("l1", "l2"));
  const auto streams = must(run(ListStreams{id})).streams;
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_EQ(streams[0].name.str(), "output");
  EXPECT_EQ(streams[1].name.str(), "log");
  EXPECT_EQ(streams[1].durability, StreamClass::durable);
  EXPECT_EQ(streams[1].next, 2u);
  EXPECT_GT(streams[1].bytes, 4u);
  log.written = 2;
  log.durability = StreamClass::buffered;
  EXPECT_EQ(error_of(log), Errc::invalid_input) << "the first append decided";
  for (std::size_t i = 2; i < limits::streams_max; ++i) {
    auto more = append(claimed, 0, {"x"});
    more.stream = stream_name("s" + std::to_string(i));
    must(run(more));
  }
  auto over = append(claimed, 0, {"x"});
  over.stream = stream_name("one-more");
  EXPECT_EQ(error_of(over), Errc::stream_limit_exceeded);
}

// Appends so many frames that the stream is full; returns their number.
template <class Run>
std::uint64_t fill(const Run& run, AppendFrames append) {
  const auto bytes = limits::frame_bytes_max - 100;
  std::uint64_t written = 0;
  while (written < limits::stream_bytes_max / limits::frame_bytes_max) {
    append.written = written;
    append.frames.assign(8, {.bytes = std::string(bytes, 'x')});
    must(run(append));
    written += append.frames.size();
  }
  return written;
}

TEST_P(Conformance, AFullStreamLosesItsOldestFramesAndSaysSo) {
  const auto id = submit();
  const auto claimed = claim();
  const auto run_it = [this](const auto& operation) { return run(operation); };
  const auto written = fill(run_it, append(claimed, 0, {}));
  must(run(append(claimed, written, {std::string(limits::frame_bytes_max, 'y')})));
  const auto page = must(run(ReadStream{.id = id, .limit = 1}));
  ASSERT_TRUE(page.trimmed_to);
  EXPECT_GT(*page.trimmed_to, 0u);
  ASSERT_EQ(page.frames.size(), 1u);
  EXPECT_EQ(page.frames[0].number, *page.trimmed_to);
  EXPECT_LE(must(run(ListStreams{id})).streams[0].bytes, limits::stream_bytes_max);
}

TEST_P(Conformance, AFullStreamRefusesIfItWasOpenedSo) {
  submit();
  const auto claimed = claim();
  const auto run_it = [this](const auto& operation) { return run(operation); };
  auto refusing = append(claimed, 0, {});
  refusing.when_full = StreamFull::refuse;
  refusing.written = fill(run_it, refusing);
  refusing.frames = {{.bytes = std::string(limits::frame_bytes_max, 'y')}};
  EXPECT_EQ(error_of(refusing), Errc::stream_full);
}

TEST_P(Conformance, StreamsSurviveARestartAndAReplay) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  home_->restart();
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a"));
  must(run(append(claimed, 1, {"b"})));
  must(run(complete(claimed)));
  must(run(Replay{.id = id}));
  EXPECT_FALSE(must(run(ReadStream{.id = id, .from = 2})).end);
  must(run(append(claim(), 0, {"c"})));
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a", "b", "(attempt)", "c"));
}

TEST_P(Conformance, RemovedExecutionTakesItsStreamsAlong) {
  const auto id = submit(Submit{.id = id_in(3, 1), .kind = greet, .policy = {.retention = 1h}});
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  must(run(complete(claimed)));
  pass(1h);
  EXPECT_EQ(error_of(ReadStream{.id = id}), Errc::execution_not_found);
  submit(Submit{.id = id_in(3, 1), .kind = greet});
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre());
  EXPECT_THAT(must(run(ListStreams{id})).streams, ElementsAre());
}

TEST_P(Conformance, FramesOutsideTheirLimitsAreRefused) {
  const auto id = submit();
  const auto claimed = claim();
  EXPECT_EQ(error_of(append(claimed, 0, {})), Errc::invalid_input);
  const auto large = run(append(claimed, 0, {"a", std::string(limits::frame_bytes_max + 1, 'x')}));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("frames[1].bytes"));
  EXPECT_FALSE(
      run(append(claimed, 0, std::vector<std::string>(limits::append_frames_max + 1, "x"))));
  EXPECT_FALSE(run(
      append(claimed, 0, std::vector<std::string>(17, std::string(limits::frame_bytes_max, 'x')))));
  EXPECT_EQ(error_of(ReadStream{.id = id, .limit = 0}), Errc::invalid_input);
  must(run(append(claimed, 0, {"a"})));
  EXPECT_EQ(must(run(ReadStream{.id = id, .from = std::uint64_t{1} << 53})).frames.size(), 0u);
  EXPECT_EQ(error_of(ReadStream{.id = id, .from = (std::uint64_t{1} << 53) + 1}),
            Errc::invalid_input);
  EXPECT_EQ(error_of(ReadStream{.id = id, .limit = limits::stream_page_max + 1}),
            Errc::invalid_input);
}

// Appends, repetitions, new attempts and trimming at random, and a reader that goes on where it was.
TEST_P(Conformance, AReaderThatComesBackSeesEveryKeptFrameOnceAndKnowsOfGaps) {
  std::mt19937 random(20261118);
  const auto id = submit(
      Submit{.kind = greet,
             .policy = {.retry = RetryPolicy{.max_retries = 100, .backoff = FixedBackoff{0ms}}}});
  auto claimed = claim();
  std::vector<std::string> model;  // every frame that there ever was
  std::uint64_t written = 0;
  std::uint64_t place = 0;
  std::size_t trimmed = 0;
  std::optional<AppendFrames> last;
  const auto read = [&] {
    const auto page = must(run(ReadStream{
        .id = id, .from = place, .limit = static_cast<std::uint32_t>(1 + random() % 1'000)}));
    if (page.trimmed_to) {
      ++trimmed;
      ASSERT_GT(*page.trimmed_to, place);
      place = *page.trimmed_to;
    }
    for (const auto& frame : page.frames) {
      ASSERT_EQ(frame.number, place);
      ASSERT_EQ(frame.kind == FrameKind::attempt ? "(attempt)" : frame.bytes, model.at(place));
      ++place;
    }
    ASSERT_EQ(page.next, place);
  };
  for (int step = 0; step < 240; ++step) {
    switch (random() % 8) {
      case 0:
        if (last) {
          EXPECT_TRUE(must(run(*last)).duplicate);
        }
        break;
      case 1:
        must(run(failure(claimed)));
        claimed = claim();
        written = 0;
        last.reset();
        break;
      case 2:
      case 3:
      case 4:
        if (step > 140) read();  // it comes late: some frames are gone
        break;
      default: {
        last = append(claimed, written, {});
        if (written == 0 && !model.empty()) model.emplace_back("(attempt)");
        const auto count = 1 + random() % (random() % 2 == 0 ? 3 : limits::append_frames_max);
        for (std::size_t i = 0; i < count; ++i) {
          last->frames.push_back({.bytes = std::to_string(model.size())});
          model.push_back(last->frames.back().bytes);
        }
        written += count;
        EXPECT_EQ(must(run(*last)).next, model.size());
      }
    }
  }
  while (place < model.size()) {
    const auto before = place;
    read();
    ASSERT_GT(place, before);
  }
  EXPECT_GT(trimmed, 0u) << "the walk is too short";
}

}  // namespace
}  // namespace ff::conformance
