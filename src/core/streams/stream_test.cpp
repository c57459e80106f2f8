#include "core/streams/stream.hpp"

#include <random>

#include "core/suspensions/memory_view.hpp"

namespace ff::core {
namespace {

// A store with one execution that can lose its last changes, as in a power cut, and readers of its streams.
class StreamStore {
 public:
  StreamStore() : disk_(execution()), view_(disk_) {}

  Result<AppendReply> append(AppendFrames command) {
    const auto& attempt = *view_.execution().attempt;
    command.fence = attempt.fence;
    const bool opens = !view_.execution().has_streams;
    auto reply = view_.run(std::move(command), t0);
    if (opens || durable_) disk_ = view_;
    return reply;
  }

  void sync() { disk_ = view_; }
  void begin_attempt() {
    const auto next = static_cast<std::uint8_t>(std::to_underlying(view_.execution().last_epoch) + 1);
    auto lost = view_.execution();
    const auto lapsed = after(apply(lost, revoke(), t0));
    auto claimed = after(apply(lapsed, claim(next), t0));
    view_.set(std::move(claimed));
  }
  void crash() {
    const auto crashes = view_.crashes + 1;
    view_ = disk_;
    disk_.crashes = view_.crashes = crashes;
  }

  StreamPage read(std::uint64_t from, std::uint32_t limit) const {
    return view_.read(from, limit);
  }
  std::uint32_t attempt() const { return view_.execution().attempt->index; }

  bool durable_ = false;

 private:
  static Execution execution() { return active(); }

  // The fixture of suspensions, and a page of the first stream.
  class View final : public MemoryView {
   public:
    using MemoryView::MemoryView;
    std::uint64_t crash_count() const override { return crashes; }
    StreamPage read(std::uint64_t from, std::uint32_t limit) const {
      if (streams().all.empty()) return begin_page(nullptr, from, {});
      const auto& stream = streams().all[0];
      auto page = begin_page(&stream, from, {});
      if (needs_snapshot(stream, from)) {
        page.snapshot = {.document = documents().at(0), .version = stream.version};
        return page;
      }
      const auto place = page.next;
      for (auto each = appends().upper_bound({0, place}); each != appends().end(); ++each)
        if (!add_to(page, each->second, place, {limit, limits::stream_page_bytes_max})) break;
      end_page(page, stream, {});
      return page;
    }
    std::uint64_t crashes = 0;
  };
  View disk_;
  View view_;
};

AppendFrames frames(std::uint64_t written, std::vector<std::string> texts, std::uint64_t lost = 0) {
  AppendFrames append{
      .id = test_id(), .fence = {}, .written = written, .frames = {}, .lost = lost};
  for (auto& text : texts) append.frames.push_back({.bytes = std::move(text)});
  return append;
}

std::string shown(const StreamPage& page) {
  std::string text;
  if (page.trimmed_to) text += fmt::format("(trimmed to {}) ", *page.trimmed_to);
  if (page.lost_from) text += fmt::format("(lost from {}) ", *page.lost_from);
  if (page.snapshot)
    text += fmt::format("({} at {}) ", page.snapshot->document, page.snapshot->version);
  for (const auto& frame : page.frames) {
    text += fmt::format("{}:", frame.number);
    if (frame.kind == FrameKind::data)
      text += frame.bytes;
    else if (frame.kind == FrameKind::lost)
      text += fmt::format("(lost from {})", *frame.lost_from);
    else
      text += fmt::format("({})", to_string(frame.kind));
    text += ' ';
  }
  return text + fmt::format("-> {}", page.next);
}

constexpr std::uint64_t behind_first_crash = std::uint64_t{1} << 32;

TEST(Stream, NumbersOfLostFramesStayLostIfTheirWriterGoesOn) {
  StreamStore store;
  must(store.append(frames(0, {"a", "b"})));
  must(store.append(frames(2, {"c", "d"})));
  store.crash();
  EXPECT_EQ(shown(store.read(3, 9)), "(lost from 2) -> 2") << "a reader that was further";
  EXPECT_EQ(verdict(store.append(frames(4, {"e"}))), "stream_sequence_gap");
  EXPECT_EQ(verdict(store.append(frames(4, {"e"}, 1))), "stream_sequence_gap");
  const auto again = frames(4, {"e"}, 2);
  EXPECT_EQ(must(store.append(again)), (AppendReply{.first = 4, .next = 5}));
  EXPECT_TRUE(must(store.append(again)).duplicate);
  must(store.append(frames(5, {"f"})));
  EXPECT_EQ(shown(store.read(0, 9)), "0:a 1:b 3:(lost from 2) 4:e 5:f -> 6");
  EXPECT_EQ(shown(store.read(3, 1)), "3:(lost from 2) -> 4");
  EXPECT_EQ(shown(store.read(4, 9)), "4:e 5:f -> 6");
}

TEST(Stream, AFirstAppendOfAnAttemptThatWasLostKeepsTheNumberOfItsBeginning) {
  StreamStore store;
  must(store.append(frames(0, {"a"})));
  store.begin_attempt();
  store.sync();
  must(store.append(frames(0, {"b"})));  // 1 is the beginning, 2 is b
  store.crash();
  must(store.append(frames(1, {"c"}, 1)));
  const auto next = store.read(1, 9);
  EXPECT_EQ(next.frames.at(0).kind, FrameKind::lost);
  EXPECT_GE(next.frames.at(0).number, 2u);
  EXPECT_EQ(next.frames.at(1).kind, FrameKind::attempt);
  EXPECT_EQ(next.frames.at(2).bytes, "c");
}

TEST(Stream, TheNumberOfALostBeginningIsNotGivenAgain) {
  StreamStore store;
  must(store.append(frames(0, {"a"})));
  store.begin_attempt();
  must(store.append(frames(2, {"d"}, 2)));  // 1 was the beginning, 2 and 3 what it wrote
  EXPECT_EQ(shown(store.read(1, 9)), "3:(lost from 1) 4:(attempt) 5:d -> 6");
}

TEST(Stream, ALaterAttemptSkipsWhatMayBeLostOfAnEarlierOne) {
  StreamStore store;
  must(store.append(frames(0, {"a"})));
  must(store.append(frames(1, {"b"})));
  store.crash();
  store.begin_attempt();
  must(store.append(frames(0, {"c"})));
  EXPECT_EQ(shown(store.read(0, 9)),
            fmt::format("0:a {}:(lost from 1) {}:(attempt) {}:c -> {}", behind_first_crash - 1,
                        behind_first_crash, behind_first_crash + 1, behind_first_crash + 2));
  store.crash();
  store.begin_attempt();
  must(store.append(frames(0, {"d"})));
  EXPECT_EQ(store.read(1, 1).frames.at(0).number, 2 * behind_first_crash - 1) << "c was read";
  store.begin_attempt();
  must(store.append(frames(0, {"e"})));
  EXPECT_EQ(store.read(0, 9).next, 2 * behind_first_crash + 4) << "once for each crash";
}

TEST(Stream, ADurableStreamLosesNothing) {
  StreamStore store;
  store.durable_ = true;
  auto command = frames(0, {"a"});
  command.durability = StreamClass::durable;
  must(store.append(command));
  store.crash();
  store.begin_attempt();
  must(store.append(command));
  EXPECT_EQ(shown(store.read(0, 9)), "0:a 1:(attempt) 2:a -> 3");
}

TEST(Stream, LostNumbersTakeNoRoom) {
  StreamStore store;
  std::vector<std::string> many(limits::append_frames_max, "x");
  must(store.append(frames(0, many)));
  store.crash();
  store.begin_attempt();
  for (std::uint64_t written = 0; written < limits::stream_frames_max - 2'000;
       written += many.size())
    must(store.append(frames(written, many)));
  EXPECT_FALSE(store.read(0, 1).trimmed_to);
}

AppendFrames patches(std::uint64_t written, std::vector<std::string> texts, std::uint64_t lost = 0) {
  auto append = frames(written, std::move(texts), lost);
  append.kind = StreamKind::summary;
  return append;
}

TEST(Stream, ASummaryIsReadAsItsDocumentThenAsPatches) {
  StreamStore store;
  must(store.append(patches(0, {R"({"a":1})", R"({"b":2})"})));
  EXPECT_EQ(shown(store.read(0, 9)), R"(({"a":1,"b":2} at 2) -> 2)");
  must(store.append(patches(2, {R"({"a":null})"})));
  EXPECT_EQ(shown(store.read(2, 9)), R"(2:{"a":null} -> 3)");
  EXPECT_EQ(shown(store.read(0, 9)), R"(({"b":2} at 3) -> 3)");
}

TEST(Stream, AReaderOfASummaryBeginsAgainWhereFramesWereLost) {
  StreamStore store;
  must(store.append(patches(0, {R"({"a":1})"})));
  must(store.append(patches(1, {R"({"a":2})"})));
  store.crash();
  EXPECT_EQ(shown(store.read(2, 9)), R"((lost from 1) ({"a":1} at 1) -> 1)");
  must(store.append(patches(2, {R"({"b":3})"}, 1)));
  EXPECT_EQ(shown(store.read(1, 9)), R"(({"a":1,"b":3} at 2) -> 3)");
  EXPECT_EQ(shown(store.read(2, 9)), R"(2:{"b":3} -> 3)");
}

TEST(Stream, ASummaryThatWouldBeTooLargeStaysAsItIs) {
  StreamStore store;
  const auto large = [](const char* name) {
    return fmt::format(R"({{"{}":"{}"}})", name, std::string(60'000, 'x'));
  };
  must(store.append(patches(0, {large("a"), large("b"), large("c"), large("d")})));
  EXPECT_EQ(verdict(store.append(patches(4, {large("e")}))), "summary_too_large");
  must(store.append(patches(4, {large("e"), R"({"a":null})"})));
  EXPECT_EQ(store.read(0, 9).snapshot->version, 6u);
}

TEST(Stream, ALiveStreamReservesItsNumbersOnDisk) {
  Streams streams{{{.name = default_stream(),
                    .durability = StreamClass::live,
                    .first = 4000,
                    .next = 4095,
                    .bytes = 100,
                    .written = 7,
                    .last_count = 1}}};
  const auto stored = on_disk(streams);
  EXPECT_EQ(stored.all[0].first, 4096u);
  EXPECT_EQ(stored.all[0].next, 4096u);
  EXPECT_EQ(stored.all[0].bytes, 0u);
  streams.all[0].next = 4096;
  EXPECT_EQ(on_disk(streams).all[0].next, 8192u) << "the next number is not given again";
  streams.all[0].durability = StreamClass::buffered;
  EXPECT_EQ(on_disk(streams), streams);
}

// Appends, repetitions, losses, new attempts and trimming at random, and a reader that comes back at random: it has
// every frame that is kept, as it is kept, and has been told of all others.
class RandomWalk {
 public:
  explicit RandomWalk(std::uint64_t seed) : random_(seed) {}

  void run(int steps, int reads_from) {
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      const auto dice = random_() % 20;
      if (dice < 9)
        append();
      else if (dice < 14)
        step < reads_from ? sync() : read();
      else if (dice < 15)
        repeat();
      else if (dice < 17)
        sync();
      else if (dice < 18)
        begin_attempt();
      else
        crash();
    }
    while (place_ != store_.read(place_, 1).next) read();
    // A crash can bring back what was trimmed; then the reader knows of a gap where there is none.
    auto all = kept();
    all.erase(all.begin(), all.lower_bound(trimmed_to_));
    EXPECT_EQ(all, seen_of(all));
  }

  std::size_t losses = 0;  // that the reader was told of
  std::size_t trims = 0;

 private:
  void sync() { store_.sync(); }

  void append() {
    const auto large = random_() % 2 == 0;
    const auto count = 1 + random_() % (large ? limits::append_frames_max : 3);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(fmt::format("t{}", next_text_++));
    last_ = frames(written_, std::move(texts));
    send();
  }

  // As a worker does: what is missing was acknowledged before.
  void send() {
    auto reply = store_.append(*last_);
    if (!reply) {
      ASSERT_EQ(verdict(reply), "stream_sequence_gap");
      last_->lost = last_->written - std::stoull(detail(reply.error(), "written"));
      reply = store_.append(*last_);
    }
    ASSERT_TRUE(reply) << reply.error().message;
    written_ = last_->written + last_->frames.size();
  }

  void repeat() {
    if (!last_) return;
    send();
  }

  void begin_attempt() {
    store_.begin_attempt();
    written_ = 0;
    last_.reset();
  }

  // The worker lives on, if its lease does.
  void crash() {
    const auto before = store_.attempt();
    store_.crash();
    if (store_.attempt() == before && random_() % 2 == 0) return;
    begin_attempt();
  }

  void read() {
    const auto page = store_.read(place_, static_cast<std::uint32_t>(1 + random_() % 1'000));
    if (page.lost_from) {
      ++losses;
      ASSERT_LT(*page.lost_from, place_);
      place_ = *page.lost_from;
      seen_.erase(seen_.lower_bound(place_), seen_.end());
    }
    if (page.trimmed_to) {
      ++trims;
      ASSERT_GT(*page.trimmed_to, place_);
      place_ = trimmed_to_ = *page.trimmed_to;
    }
    for (const auto& frame : page.frames) {
      const bool is_lost = frame.kind == FrameKind::lost;
      losses += is_lost ? 1 : 0;
      if (is_lost) {
        ASSERT_LE(*frame.lost_from, place_);
        ASSERT_GE(frame.number, place_);
      } else {
        ASSERT_EQ(frame.number, place_);
      }
      if (frame.kind == FrameKind::data) {
        ASSERT_TRUE(seen_.emplace(frame.number, frame.bytes).second);
      }
      place_ = frame.number + 1;
    }
    ASSERT_EQ(page.next, place_);
  }

  std::map<std::uint64_t, std::string> kept() const {
    std::map<std::uint64_t, std::string> all;
    std::uint64_t place = 0;
    while (true) {
      const auto page = store_.read(place, 1'000);
      for (const auto& frame : page.frames)
        if (frame.kind == FrameKind::data) all.emplace(frame.number, frame.bytes);
      if (page.next == place) return all;
      place = page.next;
    }
  }
  // The frames that the reader has seen under these numbers.
  std::map<std::uint64_t, std::string> seen_of(const std::map<std::uint64_t, std::string>& all) const {
    std::map<std::uint64_t, std::string> seen;
    for (const auto& each : seen_)
      if (all.contains(each.first)) seen.insert(each);
    return seen;
  }

  std::mt19937_64 random_;
  StreamStore store_;
  std::uint64_t written_ = 0;
  std::optional<AppendFrames> last_;
  int next_text_ = 0;
  std::uint64_t place_ = 0;
  std::uint64_t trimmed_to_ = 0;  // as it was told last
  std::map<std::uint64_t, std::string> seen_;
};

TEST(Stream, AReaderHasEveryKeptFrameOnceAndKnowsOfEveryGap) {
  std::size_t losses = 0;
  std::size_t trims = 0;
  for (std::uint64_t seed = 1; seed <= 12 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomWalk walk(seed);
    walk.run(250, seed % 2 == 0 ? 0 : 200);  // some readers come late: frames are gone
    losses += walk.losses;
    trims += walk.trims;
  }
  EXPECT_GT(losses, 30u) << "the walks are too short";
  EXPECT_GT(trims, 3u) << "the walks are too short";
}

}  // namespace
}  // namespace ff::core
