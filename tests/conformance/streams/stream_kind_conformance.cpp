// Kinds of streams: lost frames, summaries, live streams, usage.
#include <array>
#include <random>

#include "core/streams/merge_patch.hpp"
#include "tests/conformance/resources/budget_conformance.hpp"
#include "tests/conformance/streams/stream_conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Lost frames ----------------------------------------------------------------------------------

TEST_P(Conformance, NumbersOfFramesThatTheirWriterKnowsToBeLostStayLost) {
  const auto id = submit(retried_at_once());
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a", "b"})));
  auto next = append(claimed, 5, {"f", "g"});
  EXPECT_EQ(error_of(next), Errc::stream_sequence_gap);
  next.lost = 2;
  EXPECT_EQ(error_of(next), Errc::stream_sequence_gap);
  next.lost = 3;
  EXPECT_EQ(must(run(next)), (AppendReply{.first = 5, .next = 7}));
  EXPECT_EQ(must(run(next)), (AppendReply{.first = 5, .next = 7, .duplicate = true}));
  must(run(append(claimed, 7, {"h"})));
  auto page = must(run(ReadStream{.id = id}));
  EXPECT_THAT(texts_of(page), ElementsAre("a", "b", "(lost)", "f", "g", "h"));
  EXPECT_EQ(page.frames[2].lost_from, 2u);
  EXPECT_EQ(page.frames[2].number, 4u);
  EXPECT_FALSE(page.frames[3].lost_from);
  page = must(run(ReadStream{.id = id, .from = 3, .limit = 1}));
  EXPECT_THAT(texts_of(page), ElementsAre("(lost)"));
  EXPECT_EQ(page.next, 5u);
  must(run(failure(claimed)));
  auto later = append(claim(), 2, {"i"});
  later.lost = 2;
  EXPECT_EQ(must(run(later)).first, 12u) << "its beginning was lost, too";
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id, .from = 7}))),
              ElementsAre("h", "(lost)", "(attempt)", "i"));
  later.lost = 9;
  EXPECT_EQ(error_of(later), Errc::invalid_input);
}

TEST_P(Conformance, ADurableStreamHasNotLostFramesWhateverItsWriterClaims) {
  const auto id = submit();
  const auto claimed = claim();
  auto next = append(claimed, 2, {"c"});
  next.durability = StreamClass::durable;
  next.lost = 2;
  EXPECT_EQ(error_of(next), Errc::stream_sequence_gap) << "nothing was written";
  auto first = append(claimed, 0, {"a"});
  first.durability = StreamClass::durable;
  must(run(first));
  next.lost = 1;
  const auto refused = run(next);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stream_sequence_gap);
  EXPECT_EQ(refused.error().details,
            (std::vector<Error::Detail>{{.name = "written", .value = "1", .is_number = true}}));
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a"));
}

TEST_P(Conformance, AReaderBeyondTheEndIsToldWhereTheStreamIs) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a", "b"})));
  const auto page = must(run(ReadStream{.id = id, .from = 7, .wait = wake_up_max}));
  EXPECT_THAT(texts_of(page), IsEmpty());
  EXPECT_EQ(page.lost_from, 2u);
  EXPECT_EQ(page.next, 2u);
  EXPECT_FALSE(must(run(ReadStream{.id = id, .from = 2})).lost_from);
}

TEST_P(Conformance, LostNumbersAreTrimmedWithTheFramesBehindThem) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(append(claimed, 0, {"a"})));
  auto next = append(claimed, 20'001, std::vector<std::string>(1'000, "x"));
  next.lost = 20'000;
  must(run(next));
  EXPECT_FALSE(must(run(ReadStream{.id = id, .limit = 1})).trimmed_to) << "they take no room";
  for (next.lost = 0, next.written += 1'000; next.written < 30'001 + 1'000; next.written += 1'000)
    must(run(next));
  EXPECT_EQ(must(run(ReadStream{.id = id, .limit = 1})).trimmed_to, 21'001u);
}

// ---- Summaries ------------------------------------------------------------------------------------

AppendFrames patches(const ClaimedExecution& claimed, std::uint64_t written,
                     std::vector<std::string> texts) {
  auto command = append(claimed, written, std::move(texts));
  command.kind = StreamKind::summary;
  return command;
}

TEST_P(Conformance, ASummaryIsADocumentThatPatchesChange) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(patches(claimed, 0, {R"({"step":"load","done":0})", R"({"done":123456789012345678901})"})));
  auto page = must(run(ReadStream{.id = id}));
  EXPECT_EQ(page.snapshot, (StreamSnapshot{R"({"step":"load","done":123456789012345678901})", 2}));
  EXPECT_THAT(texts_of(page), IsEmpty());
  EXPECT_EQ(page.next, 2u);
  must(run(patches(claimed, 2, {R"({"step":null,"tags":[]})"})));
  page = must(run(ReadStream{.id = id, .from = page.next}));
  EXPECT_FALSE(page.snapshot);
  EXPECT_THAT(texts_of(page), ElementsAre(R"({"step":null,"tags":[]})"));
  must(run(complete(claimed)));
  page = must(run(ReadStream{.id = id}));
  EXPECT_EQ(page.snapshot, (StreamSnapshot{R"({"done":123456789012345678901,"tags":[]})", 3}));
  EXPECT_EQ(page.end, ExecutionState::completed);
  const auto info = must(run(ListStreams{id})).streams.at(0);
  EXPECT_EQ(info.kind, StreamKind::summary);
  EXPECT_EQ(info.version, 3u);
}

TEST_P(Conformance, PatchesAreMergedAsTheRfcSays) {
  struct Row {
    const char* document;
    const char* patch;
    const char* result;
  };
  constexpr std::array rows{
      Row{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      Row{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      Row{R"({"a":"b"})", R"({"a":null})", R"({})"},
      Row{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      Row{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      Row{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      Row{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      Row{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      Row{R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      Row{R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      Row{R"({"a":"foo"})", R"(null)", R"(null)"},
      Row{R"({"a":"foo"})", R"("bar")", R"("bar")"},
      Row{R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      Row{R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      // Where the contract's own summaries do something else
      Row{R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":1}})"},
      Row{R"({"a":[1,2]})", R"({"a":[]})", R"({"a":[]})"},
      Row{R"({"a":[]})", R"({"b":1})", R"({"a":[],"b":1})"},
      Row{R"({"a":1})", R"({"a":{"x":null}})", R"({"a":{}})"},
      Row{R"({})", R"({"a":["__ff_null__"]})", R"({"a":["__ff_null__"]})"},
      Row{R"({})", R"({"n":123456789012345678})", R"({"n":123456789012345678})"},
      Row{R"({})", R"({"n":3.141592653589793})", R"({"n":3.141592653589793})"},
      Row{R"({})", R"({"i":100000000000000})", R"({"i":100000000000000})"},
      Row{R"({})", R"([])", R"([])"},
      Row{R"(5)", R"({"a":1})", R"({"a":1})"},
      Row{R"({"a":"/é"})", R"({})", R"({"a":"/é"})"},
  };
  const auto id = submit();
  const auto claimed = claim();
  std::uint64_t written = 0;
  for (const auto& [document, patch, result] : rows) {
    must(run(patches(claimed, written, {"null", document, patch})));
    written += 3;
    EXPECT_EQ(must(run(ReadStream{.id = id})).snapshot, (StreamSnapshot{result, written}))
        << document << " + " << patch;
  }
}

// Objects, lists and scalars, with few names, so that patches meet.
class JsonAtRandom {
 public:
  explicit JsonAtRandom(std::uint64_t seed) : random_(seed) {}

  std::string value(int depth = 0) {
    const auto dice = random_() % (depth > 4 ? 6 : 10);
    if (dice > 5) return object(depth);
    constexpr std::array scalars{"null", "1e400", "\"x\\\"]}\\\\\"", "[ {\"a\":null}, [] ]", "{}",
                                 "-12345678901234567890.50"};
    return space() + scalars[dice] + space();
  }

 private:
  std::string space() { return random_() % 5 == 0 ? " \n" : ""; }
  std::string object(int depth) {
    constexpr std::array names{"\"a\"", "\"b\"", "\"\\u0061\"", "\"\\ud83d\\ude00\"", "\"😀\"", "\"\"",
                               "\"q\\\"\\\\\""};
    std::string text = space() + "{" + space();
    const auto count = random_() % 4;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) text += space() + "," + space();
      text += names[random_() % names.size()] + space() + ":" + value(depth + 1);
    }
    return text + "}" + space();
  }

  std::mt19937_64 random_;
};

TEST_P(Conformance, EveryStoreMergesPatchesAlike) {
  const auto id = submit();
  const auto claimed = claim();
  JsonAtRandom random(20261118);
  std::string model = "null";
  std::uint64_t written = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i <= round % 5; ++i) texts.push_back(random.value());
    core::JsonDocument document(model);
    for (const auto& text : texts) document.merge(text);
    must(run(patches(claimed, written, texts)));
    written += texts.size();
    model = document.text();
    ASSERT_EQ(must(run(ReadStream{.id = id})).snapshot, (StreamSnapshot{model, written}));
  }
}

TEST_P(Conformance, ASummaryKeepsItsDocumentWhenPatchesAreTrimmed) {
  const auto id = submit();
  const auto claimed = claim();
  const std::vector<std::string> many(limits::append_frames_max, R"({"a":1})");
  must(run(patches(claimed, 0, {R"({"first":true})"})));
  must(run(patches(claimed, 1, many)));
  must(run(patches(claimed, 1 + many.size(), {R"({"last":true})"})));
  const auto page = must(run(ReadStream{.id = id, .from = 3}));
  EXPECT_FALSE(page.trimmed_to) << "the document has them all";
  EXPECT_EQ(page.snapshot,
            (StreamSnapshot{R"({"first":true,"a":1,"last":true})", many.size() + 2}));
  EXPECT_EQ(page.next, many.size() + 2);
}

TEST_P(Conformance, AReaderOfASummaryWaitsForItsFirstPatch) {
  const auto id = submit();
  const auto claimed = claim();
  auto waiting = start(ReadStream{.id = id, .wait = wake_up_max});
  must(run(patches(claimed, 0, {"{}"})));
  EXPECT_EQ(must(waiting.get()).snapshot, (StreamSnapshot{"{}", 1}));
  waiting = start(ReadStream{.id = id, .from = 1, .wait = wake_up_max});
  must(run(patches(claimed, 1, {R"({"a":1})"})));
  EXPECT_THAT(texts_of(must(waiting.get())), ElementsAre(R"({"a":1})"));
}

TEST_P(Conformance, AReaderOfASummaryBeginsAgainWhereFramesWereLost) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(patches(claimed, 0, {R"({"a":1})"})));
  auto next = patches(claimed, 3, {R"({"b":2})"});
  next.lost = 2;
  must(run(next));
  const StreamSnapshot whole{R"({"a":1,"b":2})", 2};
  EXPECT_EQ(must(run(ReadStream{.id = id, .from = 1})).snapshot, whole);
  EXPECT_FALSE(must(run(ReadStream{.id = id, .from = 3})).snapshot);
  const auto beyond = must(run(ReadStream{.id = id, .from = 9}));
  EXPECT_EQ(beyond.snapshot, whole);
  EXPECT_EQ(beyond.lost_from, 4u);
}

TEST_P(Conformance, PatchesThatAreNoneAreRefused) {
  const auto id = submit();
  const auto claimed = claim();
  const auto refused = run(patches(claimed, 0, {"{}", "{\"a\":}"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_patch);
  EXPECT_THAT(refused.error().message, HasSubstr("frames[1].bytes is no merge patch: it is not JSON"));
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(patches(claimed, 0, {""})), Errc::invalid_patch);
  EXPECT_EQ(error_of(patches(claimed, 0, {nested(limits::summary_depth_max + 1)})),
            Errc::invalid_patch);
  must(run(patches(claimed, 0, {nested(limits::summary_depth_max)})));
  EXPECT_EQ(error_of(append(claimed, 1, {"{}"})), Errc::invalid_input) << "the first append decided";
  auto refusing = patches(claimed, 1, {"{}"});
  refusing.when_full = StreamFull::refuse;
  EXPECT_EQ(error_of(refusing), Errc::invalid_input);
  const auto large = [](char name) {
    return fmt::format(R"({{"{}":"{}"}})", name, std::string(64'000, 'x'));
  };
  must(run(patches(claimed, 1, {large('a'), large('b'), large('c'), large('d')})));
  EXPECT_EQ(error_of(patches(claimed, 5, {large('e')})), Errc::summary_too_large);
  must(run(patches(claimed, 5, {large('e'), R"({"a":null})"})));
  EXPECT_EQ(must(run(ReadStream{.id = id})).snapshot->version, 7u);
}

TEST_P(Conformance, ThePatchesOfACallHaveSoManyMembersAndNoMore) {
  submit();
  const auto claimed = claim();
  const auto object = [](std::size_t members) {
    std::string text = "{";
    for (std::size_t i = 0; i < members; ++i)
      text += fmt::format("{}\"\\u006b{}\":{}", i == 0 ? "" : ",", i, i);
    return text + "}";
  };
  const std::vector<std::string> most(4, object(limits::summary_call_members_max / 4));
  must(run(patches(claimed, 0, most)));
  auto more = most;
  more.emplace_back(R"({"k1":null})");
  const auto refused = run(patches(claimed, most.size(), more));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_patch);
  EXPECT_THAT(refused.error().message, HasSubstr("at most 8192 members"));
}

TEST_P(Conformance, ASummarySurvivesARestartAndGoesWithItsExecution) {
  const auto id = submit(Submit{.id = id_in(3, 1), .kind = greet, .policy = {.retention = 1h}});
  const auto claimed = claim();
  must(run(patches(claimed, 0, {R"({"a":1})"})));
  home_->restart();
  EXPECT_EQ(must(run(ReadStream{.id = id})).snapshot, (StreamSnapshot{R"({"a":1})", 1}));
  must(run(complete(claimed)));
  pass(1h);
  EXPECT_EQ(error_of(ReadStream{.id = id}), Errc::execution_not_found);
  submit(Submit{.id = id_in(3, 1), .kind = greet});
  must(run(patches(claim(), 0, {R"({"b":1})"})));
  EXPECT_EQ(must(run(ReadStream{.id = id})).snapshot, (StreamSnapshot{R"({"b":1})", 1}));
}

// ---- Live streams ---------------------------------------------------------------------------------

TEST_P(Conformance, ALiveStreamKeepsItsLastFrames) {
  const auto id = submit();
  const auto claimed = claim();
  auto live = append(claimed, 0, {"a", "b"});
  live.durability = StreamClass::live;
  must(run(live));
  EXPECT_TRUE(must(run(live)).duplicate);
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id}))), ElementsAre("a", "b"));
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id, .from = 1}))), ElementsAre("b"));
  live.written = 2;
  live.frames.assign(limits::live_frames_max - 1, {.bytes = "x"});
  must(run(live));
  const auto page = must(run(ReadStream{.id = id, .limit = 1}));
  EXPECT_EQ(page.trimmed_to, 2u);
  EXPECT_EQ(must(run(ListStreams{id})).streams.at(0).durability, StreamClass::live);
  live.written = live.written + live.frames.size() + 3;
  live.frames = {{.bytes = "end"}};
  must(run(live));  // the store may have forgotten frames: that is not the writer's concern
  EXPECT_THAT(texts_of(must(run(ReadStream{.id = id, .from = page.next + 998}))),
              ElementsAre("(lost)", "end"));
  must(run(complete(claimed)));
  EXPECT_EQ(must(run(ReadStream{.id = id, .limit = 1'000})).end, std::nullopt);
}

TEST_P(Conformance, AReaderOfALiveStreamKnowsWhatARestartHasCost) {
  const auto id = submit();
  const auto claimed = claim();
  auto live = append(claimed, 0, {"a", "b"});
  live.durability = StreamClass::live;
  must(run(live));
  home_->restart();
  auto page = must(run(ReadStream{.id = id, .from = 1}));
  if (page.frames.empty()) {  // the store keeps them in its memory
    ASSERT_TRUE(page.trimmed_to);
  }
  const auto place = page.next;
  EXPECT_GE(place, 2u);
  live.written = 2;
  live.frames = {{.bytes = "c"}};
  EXPECT_GE(must(run(live)).first, place);
  page = must(run(ReadStream{.id = id, .from = place}));
  EXPECT_EQ(texts_of(page).back(), "c");
}

// ---- Usage ----------------------------------------------------------------------------------------

class StreamUsageConformance : public BudgetConformance {
 protected:
  AppendFrames costly(const ClaimedExecution& claimed, std::uint64_t written, std::uint64_t tokens) {
    auto command = append(claimed, written, {"x"});
    command.usage = {{"tokens", tokens}};
    return command;
  }
};

TEST_P(StreamUsageConformance, AnAppendReportsItsUsageOnce) {
  const auto first = budget();
  const auto second = budget({.hard_limits = {{"tokens", 100}}});
  submit(spending({first, second}));
  const auto claimed = claim();
  const auto append = costly(claimed, 0, 4);
  must(run(append));
  EXPECT_TRUE(must(run(append)).duplicate);
  EXPECT_EQ(usage_of(first), (Amounts{{"tokens", 4}}));
  EXPECT_EQ(usage_of(second), (Amounts{{"tokens", 4}}));
  EXPECT_EQ(must(run(costly(claimed, 1, 3))).action, std::nullopt);
  EXPECT_EQ(usage_of(first), (Amounts{{"tokens", 7}}));
  auto no_amount = costly(claimed, 2, 0);
  no_amount.usage = {{"", 1}};
  EXPECT_EQ(error_of(no_amount), Errc::invalid_input);
}

TEST_P(StreamUsageConformance, ABudgetStopsARunawayStream) {
  const auto id = submit(spending({budget(OnHardLimit::fail)}));
  const auto claimed = claim();
  must(run(costly(claimed, 0, 9)));
  EXPECT_EQ(must(run(costly(claimed, 1, 2))).action, OnHardLimit::fail);
  EXPECT_EQ(state_of(id), ExecutionState::failed);
  EXPECT_EQ(error_of(costly(claimed, 2, 1)), Errc::execution_not_active);
  const auto page = must(run(ReadStream{.id = id}));
  EXPECT_EQ(page.frames.size(), 2u);
  EXPECT_EQ(page.end, ExecutionState::failed);
}

INSTANTIATE_TEST_SUITE_P(, StreamUsageConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& home) { return home.param.name; });

}  // namespace
}  // namespace ff::conformance
