// Two whole engines, one on each store, get the same random operations on flows in simulated time: they answer the same,
// and tell the same events of each flow, in the same order and without gaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"
#include "store/valkey/open.hpp"
#include "tests/support/await.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::flow_faults {
namespace {

using namespace std::chrono_literals;
constexpr auto seeds_file = "tests/flow_faults/engine_seeds.txt";

// An engine that keeps the events of each flow as texts.
class Side {
 public:
  explicit Side(std::unique_ptr<store::Store> store)
      : engine_(std::move(store), LocalEngineOptions{.scan = false, .on_event = [this](const Event& event) {
                                                       note(event);
                                                     }}) {}

  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return test::run(engine_, std::move(operation));
  }
  // Until no effect is left.
  void settle() {
    for (int i = 0; i < 50; ++i)
      if (must(test::run_blocking(engine_.executor(), engine_.outbox().run_once())).seen == 0)
        return;
    FAIL() << "effects are never settled";
  }
  void scan() { must(test::run_blocking(engine_.executor(), engine_.scanners().run_once())); }
  // By the safety nets, which have nothing to do.
  std::uint64_t repaired() {
    std::uint64_t sum = 0;
    for (const auto& each : engine_.scanners().status())
      if (each.name == "dependency_reconciler" || each.name == "flow_projector") sum += each.changed;
    return sum;
  }
  std::map<FlowId, std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::map<ExecutionId, Fence> held;

 private:
  void note(const Event& event) {
    if (!event.flow) return;
    const std::lock_guard lock(mutex_);
    events_[*event.flow] += fmt::format("{} {} {} {} {}\n", event.at.time_since_epoch().count(),
                                        to_string(event.type), event.id.str(),
                                        to_string(event.state), event.attempts);
  }

  std::mutex mutex_;
  std::map<FlowId, std::string> events_;
  LocalEngine engine_;
};

template <class Reply>
bool same(const Reply& one, const Reply& other) {
  return one == other;
}
bool same(const FlowNodes& one, const FlowNodes& other) { return one.nodes == other.nodes; }
bool same(const ClaimedExecution& one, const ClaimedExecution& other) {
  return one.id == other.id && one.payload == other.payload && one.flow == other.flow;
}

class TwoEngines {
 public:
  explicit TwoEngines(std::uint64_t seed)
      : random_(seed),
        embedded_(must(embedded::open({.directory = temp_.path(),
                                       .clock = clock_,
                                       .shards = 1,
                                       .durability = store::Durability::relaxed,
                                       .env = env_.get()}))),
        valkey_(must(valkey_store::open(
            {.client = server().client_options(), .sweep = false, .simulated_clock = clock_}))) {}

  void step() {
    switch (below(20)) {
      case 0:
      case 1: return submit();
      case 2: return just("extend", ExtendFlow{.id = flow(), .nodes = nodes(1 + below(3))});
      case 3: return just("seal", SealFlow{flow()});
      case 4: return just("pause", PauseFlow{.id = flow(), .reason = "why"});
      case 5:
      case 6: return just("resume", ResumeFlow{flow()});
      case 7:
        if (below(3) > 0) return;
        return just("cancel flow",
                     CancelFlow{.id = flow(), .policy = static_cast<CancelPolicy>(below(3))});
      case 8: return redrive();
      case 9: return pass(Millis{below(4) == 0 ? 40'000 : below(2'000)});
      case 10: return just("cancel", Cancel{.id = node(), .reason = "why"});
      case 11: return just("replay", Replay{.id = node(), .reason = "why", .requested_by = "test"});
      case 12:
      case 13:
      case 14:
      case 15: return claim();
      default: return end();
    }
  }

  // Changes of flows and nodes that one of them told.
  std::ptrdiff_t told() {
    std::ptrdiff_t lines = 0;
    for (const auto& [flow, text] : embedded_.events()) lines += std::ranges::count(text, '\n');
    return lines;
  }

  // After each step: no work is left, and both have told the same.
  void compare() {
    embedded_.settle();
    valkey_.settle();
    test::await("both tell the same number of events", [&] {
      return sizes(embedded_.events()) == sizes(valkey_.events());
    });
    EXPECT_EQ(embedded_.events(), valkey_.events());
    for (unsigned i = 0; i < flows; ++i) {
      just("flow", GetFlow{.id = flow_id(i)});
      just("nodes", ListFlowNodes{.id = flow_id(i), .limit = 1'000});
    }
  }

 private:
  static constexpr unsigned flows = 3;
  static constexpr unsigned names = 10;

  static test::ValkeyServer& server() {
    static test::ValkeyServer instance;
    instance.flushall();
    return instance;
  }
  static std::vector<std::size_t> sizes(const std::map<FlowId, std::string>& events) {
    std::vector<std::size_t> all;
    for (const auto& [flow, text] : events) all.push_back(text.size());
    return all;
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  static FlowId flow_id(unsigned number) {
    Uuid::Bytes bytes{};
    bytes[0] = 0x0f;
    bytes[15] = static_cast<std::uint8_t>(number);
    return FlowId{Uuid{bytes}};
  }
  FlowId flow() { return flow_id(below(flows)); }
  static NodeName name(unsigned number) { return *NodeName::parse(fmt::format("n{}", number)); }
  ExecutionId node() {
    const auto of = flow();
    const auto partition = core::partition_of(of.uuid(), core::partition_count_default);
    const auto chosen = name(below(names));
    const auto item = core::item_name(chosen, below(2));
    return core::node_id(of, partition, below(4) == 0 ? item : chosen);
  }

  std::vector<FlowNode> nodes(unsigned count) {
    std::vector<FlowNode> added;
    const auto first = below(names);
    for (unsigned i = first; i < std::min(first + count, names); ++i) {
      FlowNode each{.name = name(i), .kind = *Kind::parse("k"), .payload = "[1,2]"};
      for (unsigned j = first; j < i; ++j)
        if (below(2) == 0)
          each.after.push_back({.node = name(j), .on = static_cast<DependsOn>(below(3))});
      if (!each.after.empty() && below(3) == 0) {
        each.needed = 1 + below(static_cast<unsigned>(each.after.size()));
        each.rest = static_cast<RestAction>(below(2));
      }
      each.optional = below(4) == 0;
      if (below(6) == 0) each.delay_until = clock_->now() + 1s;
      if (below(3) == 0) each.policy.retry = RetryPolicy{.max_retries = 1};
      const bool may_map = !each.after.empty() && each.after[0].on == DependsOn::succeeded;
      if (may_map && below(3) == 0)
        each.map = MapOver{.input = each.after[0].node, .max_parallel = 1 + below(2)};
      added.push_back(std::move(each));
    }
    return added;
  }
  void submit() {
    SubmitFlow flow_of{.id = flow(), .nodes = nodes(1 + below(names))};
    flow_of.on_failure = static_cast<FlowFailure>(below(2));
    flow_of.building = below(4) == 0;
    if (below(4) == 0) flow_of.deadline = clock_->now() + 30s;
    flow_of.retention = 20s;
    just("submit", flow_of);
  }
  void redrive() {
    RedriveFlow redrive{.id = flow(), .reason = "why"};
    if (below(2) == 0) redrive.from = name(below(names));
    just("redrive", redrive);
  }
  void pass(Millis time) {
    clock_->advance(time);
    embedded_.scan();
    valkey_.scan();
    EXPECT_EQ(embedded_.repaired() + valkey_.repaired(), 0u);
  }
  void claim() {
    const ClaimExecution claim{.id = node(), .worker = *WorkerId::parse("w"), .lease_ttl = 5s};
    const auto [one, other] = check("claim", claim);
    if (!one || !other) return;
    embedded_.held[claim.id] = one->fence;
    valkey_.held[claim.id] = other->fence;
  }
  void end() {
    if (embedded_.held.empty()) return;
    const auto chosen = std::next(embedded_.held.begin(), below(static_cast<unsigned>(embedded_.held.size())));
    const auto id = chosen->first;
    const auto one = chosen->second;
    const auto other = valkey_.held.at(id);
    embedded_.held.erase(id);
    valkey_.held.erase(id);
    const auto json = *ContentType::parse("application/json");
    const auto how = below(8);
    if (how == 0) {
      Fail failure{.id = id, .fence = one, .reason = "broke"};
      Fail same_failure{.id = id, .fence = other, .reason = "broke"};
      compare_replies("fail", embedded_.run(failure), valkey_.run(same_failure));
    } else if (how == 1) {
      const auto children = nodes(2);
      WaitForChildren wait{.id = id, .fence = one, .children = children};
      WaitForChildren same_wait{.id = id, .fence = other, .children = children};
      compare_replies("children", embedded_.run(wait), valkey_.run(same_wait));
    } else {
      const auto spawned = how == 2 ? nodes(2) : std::vector<FlowNode>{};
      Complete complete{.id = id, .fence = one, .result = "[1,2]", .content_type = json};
      Complete same_end{.id = id, .fence = other, .result = "[1,2]", .content_type = json};
      complete.spawn = same_end.spawn = spawned;
      compare_replies("complete", embedded_.run(complete), valkey_.run(same_end));
    }
  }

  template <class Reply>
  static void compare_replies(std::string_view what, const Result<Reply>& one,
                              const Result<Reply>& other) {
    const auto error_of = [](const auto& reply) {
      return reply ? std::string("none") : reply.error().message;
    };
    EXPECT_EQ(error_of(one), error_of(other)) << what;
    if (one && other) {
      EXPECT_TRUE(same(*one, *other)) << what;
    }
  }
  template <class Op>
  void just(std::string_view what, const Op& operation) {
    static_cast<void>(check(what, operation));
  }
  template <class Op>
  std::pair<Result<typename Op::Reply>, Result<typename Op::Reply>> check(std::string_view what,
                                                                          const Op& operation) {
    auto one = embedded_.run(operation);
    auto other = valkey_.run(operation);
    compare_replies(what, one, other);
    return {std::move(one), std::move(other)};
  }

  std::mt19937_64 random_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  test::TempDirectory temp_;
  embedded::MemoryEnv env_;
  Side embedded_;
  Side valkey_;
};

TEST(FlowEngineDifferential, BothEnginesAnswerAndTellTheSame) {
  std::ptrdiff_t told = 0;
  for (const auto seed : test::seeds(seeds_file)) {
    SCOPED_TRACE(test::how_to_repeat(seed, seeds_file));
    TwoEngines engines(seed);
    for (int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("step {}", i));
      engines.step();
      engines.compare();
    }
    if (::testing::Test::HasFailure()) return;
    told += engines.told();
  }
  EXPECT_GT(told, 100) << "something happened";
}

}  // namespace
}  // namespace ff::flow_faults
