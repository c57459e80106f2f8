// Random appends to streams of every kind and reads of them, the same into both stores: they must answer the same.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include <fmt/format.h>

#include "core/execution/partitions.hpp"
#include "tests/differential/both_stores.hpp"
#include "tests/support/seeds.hpp"

namespace ff::differential {
namespace {

using namespace std::chrono_literals;

bool same(const auto& one, const auto& other) { return one == other; }
bool same(const StreamList& one, const StreamList& other) { return one.streams == other.streams; }
bool same(const core::TimerReply&, const core::TimerReply&) { return true; }
bool same(const ClaimedExecution& one, const ClaimedExecution& other) {
  return one.fence == other.fence;
}
bool same(const SubmitReply& one, const SubmitReply& other) { return one.id == other.id; }

struct SameReplies {
  bool operator()(const auto& one, const auto& other) const { return same(one, other); }
};

struct Form {
  const char* name;
  StreamClass durability = StreamClass::buffered;
  StreamFull when_full = StreamFull::trim;
  StreamKind kind = StreamKind::frames;
};
constexpr std::array forms{
    Form{.name = "output"},
    Form{.name = "refusing", .when_full = StreamFull::refuse},
    Form{.name = "live", .durability = StreamClass::live},
    Form{.name = "summary", .kind = StreamKind::summary},
    Form{.name = "live-summary", .durability = StreamClass::live, .kind = StreamKind::summary}};

class StreamWalk {
 public:
  explicit StreamWalk(std::uint64_t seed) : random_(seed) {
    const Uuid uuid = uuid_of(1);
    id_ = {core::partition_of(uuid, stores_.partition_count()), uuid};
    run("create",
        core::Create{.id = id_,
                     .submit = {.kind = must(Kind::parse("k")),
                                .policy = {.retry = RetryPolicy{.max_retries = 1'000,
                                                                .backoff = FixedBackoff{0ms}}}}});
    begin_attempt();
  }

  void step() {
    switch (below(12)) {
      case 0: return begin_next_attempt();
      case 1: return static_cast<void>(run("list", ListStreams{id_}));
      case 2:
      case 3:
      case 4:
      case 5: return read();
      default: return append();
    }
  }

 private:
  static Uuid uuid_of(std::uint32_t n) {
    Uuid::Bytes bytes{};
    for (int i = 0; i < 4; ++i) bytes[12 + i] = static_cast<std::uint8_t>(n >> (24 - 8 * i));
    return Uuid{bytes};
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  template <class Op>
  Result<typename Op::Reply> run(std::string_view what, const Op& operation) {
    return stores_.run(what, operation);
  }

  void begin_attempt() {
    const auto n = ++leases_;
    const auto claimed = must(run("claim", core::LeaseGrant{.id = id_,
                                                            .worker = must(WorkerId::parse("w")),
                                                            .lease_id = LeaseId{uuid_of(n)},
                                                            .attempt_id = AttemptId{uuid_of(n)},
                                                            .lease_ttl = 30s}));
    fence_ = claimed.fence;
    written_ = {};
  }

  void begin_next_attempt() {
    if (below(2) == 0) {
      must(run("fail", Fail{.id = id_, .fence = fence_, .reason = "broke"}));
    } else {
      stores_.advance(31s);
      must(run("expire", core::TimerFire{.id = id_, .kind = core::TimerKind::lease_expiry}));
    }
    begin_attempt();
  }

  void append() {
    const auto place = below(forms.size());
    const auto& form = forms[place];
    AppendFrames command{.id = id_,
                         .stream = must(StreamName::parse(form.name)),
                         .fence = fence_,
                         .written = written_[place],
                         .frames = {},
                         .durability = form.durability,
                         .when_full = form.when_full,
                         .kind = form.kind};
    const auto count = 1 + below(below(3) == 0 ? limits::append_frames_max : 4);
    const auto size = below(4) == 0 ? below(900) : below(9);
    for (std::uint64_t i = 0; i < count; ++i)
      command.frames.push_back(
          {.bytes = form.kind == StreamKind::summary ? patch(size) : std::string(size, 'x')});
    if (below(8) == 0) {  // some were lost, or it is wrong
      command.lost = below(5);
      command.written += below(4) == 0 ? below(5) : command.lost;
    }
    if (below(20) == 0) command.when_full = StreamFull::refuse;
    if (below(20) == 0) command.kind = StreamKind::frames;
    const auto reply = run("append", command);
    if (reply) written_[place] = command.written + count;
    if (below(5) == 0) run("repeat", command);
  }

  std::string patch(std::uint64_t size) {
    constexpr std::array names{"a", "b", "c"};
    const auto* name = names[below(names.size())];
    switch (below(6)) {
      case 0: return fmt::format(R"({{"{}":null}})", name);
      case 1: return fmt::format(R"({{"{}":[{}.50, {{}}]}})", name, below(1'000));
      case 2: return fmt::format(R"({{"{}":{}}})", name, patch(size));
      case 3: return fmt::format(R"({{"k{}":"{}"}})", below(500), std::string(size, 'x'));
      case 4: return "{}";
      default: return below(30) == 0 ? "null" : fmt::format(R"({{ "{}" : {{}} }})", name);
    }
  }

  void read() {
    const auto& form = forms[below(forms.size())];
    const auto& known = places_[form.name];
    const auto from = below(3) == 0 ? below(known + 3) : known;
    const auto page = run("read", store::ReadFrames{.id = id_,
                                                    .stream = must(StreamName::parse(form.name)),
                                                    .from = from,
                                                    .limit = static_cast<std::uint32_t>(
                                                        1 + below(limits::stream_page_max))});
    if (page) places_[form.name] = page->next;
  }

  std::mt19937_64 random_;
  BothStores<SameReplies> stores_;
  ExecutionId id_;
  Fence fence_;
  std::uint32_t leases_ = 1;
  std::array<std::uint64_t, forms.size()> written_{};
  std::map<std::string, std::uint64_t> places_;
};

TEST(StreamDifferential, BothStoresAnswerTheSame) {
  const std::string file = "tests/differential/stream_seeds.txt";
  for (const auto seed : test::seeds(file)) {
    SCOPED_TRACE(test::how_to_repeat(seed, file));
    StreamWalk walk(seed);
    for (int step = 0; step < 300 && !testing::Test::HasFailure(); ++step) walk.step();
    if (testing::Test::HasFailure()) return;
  }
}

// ---- Valkey after a failover ----------------------------------------------------------------------

TEST(StreamsOnValkey, ALaterAttemptSkipsWhatAnotherRunOfTheServerMayHaveLost) {
  test::ValkeyServer server;
  const auto clock = std::make_shared<ManualClock>();
  const auto store = must(valkey_store::open(
      {.client = server.client_options(), .sweep = false, .simulated_clock = clock}));
  const ExecutionId id{core::partition_of(Uuid{}, store->partition_count()), Uuid{}};
  must(test::run(*store, core::Create{.id = id, .submit = {.kind = must(Kind::parse("k"))}}));
  const auto claim = [&] {
    return must(test::run(*store, core::LeaseGrant{.id = id,
                                                   .worker = must(WorkerId::parse("w")),
                                                   .lease_id = LeaseId{},
                                                   .attempt_id = AttemptId{},
                                                   .lease_ttl = 30s}))
        .fence;
  };
  const auto append = [&](const Fence& fence, std::uint64_t written) {
    AppendFrames command{.id = id, .fence = fence, .written = written, .frames = {{.bytes = "x"}}};
    return must(test::run(*store, command));
  };
  const auto first = claim();
  append(first, 0);
  auto keys = server.call({"KEYS", "ff:exec:*:streams"});
  const auto* key = keys.as_array()->at(0).as_text();
  auto text = server.call({"HGET", *key, "output"});
  auto of_other_run = *text.as_text();
  const auto run = of_other_run.rfind('\x1f') - 8;
  of_other_run.replace(run, 8, "0123abcd");
  server.call({"HSET", *key, "output", of_other_run});
  EXPECT_EQ(append(first, 1).first, 1u) << "its writer knows what is lost";
  clock->advance(31s);
  must(test::run(*store, core::TimerFire{.id = id, .kind = core::TimerKind::lease_expiry}));
  EXPECT_GE(append(claim(), 0).first, 1u << 22);
  const auto page = must(test::run(
      *store, store::ReadFrames{.id = id, .stream = default_stream(), .from = 1, .limit = 9}));
  ASSERT_EQ(page.frames.size(), 4u);
  EXPECT_EQ(page.frames[1].kind, FrameKind::lost);
  EXPECT_EQ(page.frames[1].lost_from, 2u);
  EXPECT_EQ(page.frames[2].kind, FrameKind::attempt);
}

}  // namespace
}  // namespace ff::differential
