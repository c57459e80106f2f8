// Streams in the embedded store: what a power cut costs, what stays in memory, records of older versions.
#include "records.pb.h"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/test_support.hpp"
#include "tests/support/faulty_env.hpp"

namespace ff::embedded {
namespace {

using test::DiskFault;
using test::Unsynced;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShardStreamsTest : public StoreTest {
 protected:
  ShardStreamsTest() { open_faulty(); }
  ~ShardStreamsTest() override { close(); }  // before the disk goes

  void open_faulty() {
    auto faulty = options();
    faulty.env = disk_.env();
    open(faulty);
  }
  void cut_power() {
    disk_.fail(DiskFault::power_cut);
    close();
    disk_.power_on(Unsynced::lost);
    open_faulty();
  }
  // Earlier frames are on disk.
  void sync() { submit(); }

  AppendFrames append(const ExecutionId& id, const Fence& fence, std::uint64_t written,
                      std::vector<std::string> texts) {
    AppendFrames append{.id = id, .fence = fence, .written = written, .frames = {}};
    for (auto& text : texts) append.frames.push_back({.bytes = std::move(text)});
    return append;
  }
  StreamPage read(const ExecutionId& id, std::uint64_t from = 0) {
    return must(run(
        store::ReadFrames{.id = id, .stream = default_stream(), .from = from, .limit = 100}));
  }
  std::vector<std::string> texts(const StreamPage& page) {
    std::vector<std::string> texts;
    for (const auto& frame : page.frames)
      texts.push_back(frame.kind == FrameKind::data ? frame.bytes : std::string(to_string(frame.kind)));
    return texts;
  }
  Policy retrying() { return {.retry = RetryPolicy{.max_retries = 9, .backoff = FixedBackoff{0ms}}}; }
  // Its lease runs out; another worker begins an attempt.
  Fence next_attempt(const ExecutionId& id) {
    clock_->advance(31s);
    must(run(core::TimerFire{.id = id, .kind = core::TimerKind::lease_expiry}));
    return claim(id);
  }

  test::FaultyEnv disk_;
};

TEST_F(ShardStreamsTest, AWriterGoesOnBehindFramesThatAPowerCutHasLost) {
  const auto id = submit();
  const auto fence = claim(id);
  must(run(append(id, fence, 0, {"a"})));
  sync();
  must(run(append(id, fence, 1, {"b", "c"})));
  EXPECT_THAT(texts(read(id)), ElementsAre("a", "b", "c"));
  cut_power();
  EXPECT_THAT(texts(read(id)), ElementsAre("a"));
  EXPECT_EQ(read(id, 3).lost_from, 1u);
  auto next = append(id, fence, 3, {"d"});
  const auto refused = run(next);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stream_sequence_gap);
  next.lost = 2;
  EXPECT_EQ(must(run(next)).first, 3u);
  const auto page = read(id);
  EXPECT_THAT(texts(page), ElementsAre("a", "lost", "d"));
  EXPECT_EQ(page.frames[1].lost_from, 1u);
  EXPECT_EQ(page.frames[1].number, 2u);
}

TEST_F(ShardStreamsTest, NumbersThatReadersMayHaveSeenAreNotGivenAgainAfterAPowerCut) {
  const auto id = submit({.policy = retrying()});
  const auto fence = claim(id);
  must(run(append(id, fence, 0, {"a"})));
  sync();
  std::uint64_t seen = must(run(append(id, fence, 1, {"b"}))).next;
  for (int cut = 0; cut < 2; ++cut) {
    cut_power();
    const auto reply = must(run(append(id, next_attempt(id), 0, {"c"})));
    EXPECT_GE(reply.first, seen);
    const auto page = read(id, seen);
    EXPECT_THAT(texts(page), ElementsAre("lost", "attempt", "c"));
    seen = reply.next;
  }
  sync();
  EXPECT_THAT(texts(read(id)), ElementsAre("a", "lost", "attempt", "c"));
}

TEST_F(ShardStreamsTest, AStreamThatReadersKnowIsNotLost) {
  const auto id = submit();
  must(run(append(id, claim(id), 0, {"a"})));
  cut_power();
  EXPECT_THAT(texts(read(id)), ElementsAre("a"));
}

TEST_F(ShardStreamsTest, ReadableFramesOfADurableStreamAreOnDisk) {
  const auto id = submit();
  const auto fence = claim(id);
  auto durable = append(id, fence, 0, {"a"});
  durable.durability = StreamClass::durable;
  must(run(durable));
  durable.written = 1;
  must(run(durable));
  cut_power();
  EXPECT_THAT(texts(read(id)), ElementsAre("a", "a"));
}

TEST_F(ShardStreamsTest, NumbersGoOnAfterAStoreWasClosed) {
  const auto id = submit({.policy = retrying()});
  must(run(append(id, claim(id), 0, {"a"})));
  open_faulty();
  must(run(append(id, next_attempt(id), 0, {"b"})));
  EXPECT_EQ(read(id).next, 3u);
}

// ---- Live streams ---------------------------------------------------------------------------------

class LiveStreamTest : public ShardStreamsTest {
 protected:
  AppendFrames live(const ExecutionId& id, const Fence& fence, std::uint64_t written,
                    std::vector<std::string> texts) {
    auto append = ShardStreamsTest::append(id, fence, written, std::move(texts));
    append.durability = StreamClass::live;
    return append;
  }
  std::size_t frames_on_disk(const ExecutionId& id) {
    close();
    const auto database =
        must(Database::open({.directory = database_directory(directory()), .env = disk_.env()}));
    std::size_t count = 0;
    must(database->for_each({.prefix = keys::frames_of(id, 0)},
                            [&](std::string_view, std::string_view) -> Result<Database::Next> {
                              ++count;
                              return Database::Next::go_on;
                            }));
    return count;
  }
};

TEST_F(LiveStreamTest, FramesOfALiveStreamStayInMemory) {
  const auto id = submit();
  const auto fence = claim(id);
  must(run(live(id, fence, 0, {"a", "b"})));
  must(run(live(id, fence, 2, {"c"})));
  EXPECT_THAT(texts(read(id, 1)), ElementsAre("b", "c"));
  EXPECT_EQ(frames_on_disk(id), 0u);
  open_faulty();
  const auto page = read(id, 1);
  EXPECT_THAT(texts(page), IsEmpty());
  ASSERT_TRUE(page.trimmed_to) << "a reader must know that the frames are gone";
  EXPECT_GE(*page.trimmed_to, 3u);
  const auto reply = must(run(live(id, fence, 3, {"d"})));
  EXPECT_GE(reply.first, *page.trimmed_to) << "no number is given twice";
  EXPECT_THAT(texts(read(id, reply.first)), ElementsAre("d"));
}

TEST_F(LiveStreamTest, NumbersOfALiveStreamAreNotGivenTwiceWhateverAPowerCutCosts) {
  const auto id = submit();
  const auto fence = claim(id);
  must(run(live(id, fence, 0, {"a"})));
  sync();
  const std::vector<std::string> many(limits::append_frames_max, "x");
  std::uint64_t next = 0;
  for (int i = 0; i < 10; ++i) next = must(run(live(id, fence, 1 + i * many.size(), many))).next;
  cut_power();
  EXPECT_GE(must(run(live(id, fence, 1 + 10 * many.size(), {"b"}))).first, next);
}

TEST_F(LiveStreamTest, ALiveStreamIsFreedSomeTimeAfterItsExecution) {
  const auto id = submit();
  const auto fence = claim(id);
  must(run(live(id, fence, 0, {"a"})));
  must(run(Complete{.id = id, .fence = fence, .result = ""}));
  EXPECT_THAT(texts(read(id)), ElementsAre("a"));
  clock_->advance(limits::live_kept_after_end);
  read(id);
  const auto page = read(id);
  EXPECT_THAT(texts(page), IsEmpty());
  EXPECT_TRUE(page.trimmed_to);
  EXPECT_EQ(page.end, ExecutionState::completed);
}

// ---- Records --------------------------------------------------------------------------------------

class StreamRecordsTest : public StoreTest {
 protected:
  StreamRecordsTest() { open(); }

  ExecutionId written(StreamKind kind = StreamKind::frames) {
    const auto id = submit();
    fence_ = claim(id);
    must(run(AppendFrames{.id = id, .fence = fence_, .frames = {{.bytes = "{}"}}, .kind = kind}));
    return id;
  }
  Fence fence_;
};

TEST_F(StreamRecordsTest, RecordsWithoutTheLaterFieldsAreRead) {
  const auto id = written();
  proto::Streams streams;
  auto& stream = *streams.add_all();
  stream.set_name("output");
  stream.set_durability(1);
  stream.set_next(1);
  stream.set_bytes(38);
  stream.set_written(1);
  stream.set_last_count(1);
  put(keys::belonging(id, core::Belonging::streams), streams.SerializeAsString());
  open();
  EXPECT_EQ(must(run(AppendFrames{
                         .id = id, .fence = fence_, .written = 1, .frames = {{.bytes = "b"}}}))
                .next,
            2u);
}

TEST_F(StreamRecordsTest, CheckFindsASummaryWithoutItsDocument) {
  const auto id = written(StreamKind::summary);
  EXPECT_THAT(problems(), IsEmpty());
  erase(keys::document(id, 0));
  EXPECT_THAT(problems(), Contains(HasSubstr("its document of stream output is missing")));
  put(keys::document(id, 0), "{");
  EXPECT_THAT(problems(), Contains(HasSubstr("document of its stream 0 is damaged")));
}

}  // namespace
}  // namespace ff::embedded
