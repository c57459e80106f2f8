// Random flows and random operations on them and their nodes, the same into both stores themselves: they must
// answer the same.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include <fmt/format.h>

#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "tests/differential/both_stores.hpp"
#include "tests/support/seeds.hpp"

namespace ff::differential {
namespace {

using namespace std::chrono_literals;

struct SameFlowReplies {
  bool operator()(const auto& one, const auto& other) const { return one == other; }
  bool operator()(const FlowNodes& one, const FlowNodes& other) const {
    return one.nodes == other.nodes && one.next == other.next;
  }
  bool operator()(const FlowList& one, const FlowList& other) const {
    return one.flows == other.flows;
  }
  bool operator()(const NodeInputs& one, const NodeInputs& other) const {
    return one.inputs == other.inputs && one.next == other.next;
  }
  bool operator()(const Attempts& one, const Attempts& other) const {
    return one.attempts == other.attempts;
  }
  bool operator()(const LeaseHistory& one, const LeaseHistory& other) const {
    return one.events == other.events;
  }
  // They count places of edges differently.
  bool operator()(const core::SliceReply& one, const core::SliceReply& other) const {
    return one.more == other.more;
  }
  // They count changes differently.
  bool operator()(const core::CheckFlowReply& one, const core::CheckFlowReply& other) const {
    return one.repaired == other.repaired && one.next == other.next;
  }
  bool operator()(const store::DueReply& one, const store::DueReply& other) const {
    return std::set(one.due.begin(), one.due.end()) == std::set(other.due.begin(), other.due.end());
  }
  bool operator()(const store::EffectPage& one, const store::EffectPage& other) const {
    return texts(one) == texts(other);
  }

  // Freed tokens and spending apart: there are neither budgets nor quotas.
  static std::multiset<std::string> texts(const store::EffectPage& page) {
    std::multiset<std::string> all;
    for (const auto& [partition, effect] : page.effects) all.insert(core::to_text(effect));
    return all;
  }
};

class FlowWalk {
 public:
  explicit FlowWalk(std::uint64_t seed) : source_(seed) {}

  void step() {
    switch (below(24)) {
      case 0:
      case 1: return create();
      case 2: return extend();
      case 3: return check("seal", SealFlow{flow()});
      case 4: return check("pause", PauseFlow{.id = flow(), .reason = reason()});
      case 5:
      case 6: return check("resume", ResumeFlow{flow()});
      case 7: return cancel();
      case 8: return redrive();
      case 9: return fire();
      case 10:
        stores_.advance(Millis{below(3) == 0 ? below(20'000) : below(500)});
        return;
      case 11: return check("cancel", Cancel{.id = node(), .reason = reason()});
      case 12:
        return check("replay", Replay{.id = node(), .reason = reason(), .requested_by = "test"});
      case 13:
      case 14:
      case 15:
      case 16: return lease();
      default: return end();
    }
  }

  // The outstanding work, as an outbox does it.
  void carry_out_effects() {
    for (int turn = 0; turn < 20; ++turn) {
      const auto page = stores_.run("effects", store::FindEffects{.max = 1'000});
      if (!page || page->effects.empty()) return;
      for (const auto& [partition, effect] : page->effects) {
        ++effects_;
        if (const auto* advance = std::get_if<core::AdvanceFlow>(&effect)) check("advance", *advance);
        if (const auto* resolve = std::get_if<core::ResolveEdges>(&effect)) check("resolve", *resolve);
        if (const auto* rest = std::get_if<core::CancelRest>(&effect)) check("cancel rest", *rest);
        if (const auto* expand = std::get_if<core::ExpandMap>(&effect)) add_items(*expand);
        if (const auto* collect = std::get_if<core::CollectMap>(&effect)) end_map(*collect);
        if (const auto* subflow = std::get_if<core::RunSubflow>(&effect)) end_subflow(*subflow);
        if (const auto* subflow = std::get_if<core::EndSubflow>(&effect)) end_subflow(*subflow);
        check("settle", store::SettleEffects{.partition = partition, .effects = {effect}});
      }
    }
  }
  std::size_t ended() const { return ended_; }

  // Nothing is ever wrong without a fault.
  void expect_nothing_to_repair() {
    for (std::uint8_t number = 0; number < flows; ++number) {
      const auto id = FlowId{uuid('F', number)};
      const auto flow = stores_.run("check flow", core::CheckFlow{.id = id});
      EXPECT_EQ(must(flow).repaired, 0u);
      for (unsigned i = 0; i < names_max; ++i) {
        const auto node = stores_.run("check node", core::CheckNode{.id = id_of(id, i)});
        EXPECT_EQ(must(node).repaired, 0u);
      }
    }
  }

  void compare_all() {
    expect_nothing_to_repair();
    for (std::uint8_t number = 0; number < flows; ++number) {
      const auto id = FlowId{uuid('F', number)};
      const auto info = stores_.run("flow", core::ReadFlow{id});
      if (info && info->ended_at) ++ended_;
      check("nodes", ListFlowNodes{.id = id});
      for (unsigned i = 0; i < names_max; ++i) {
        const auto each = id_of(id, i);
        check("execution", GetExecution{each});
        check("attempts", GetAttempts{each});
        check("leases", GetLeaseHistory{each});
        check("inputs", GetInputs{.id = each});
      }
    }
    check("flows", ListFlows{});
    check("retention", store::RetentionDue{100});
  }

 private:
  static constexpr std::uint8_t flows = 3;
  static constexpr unsigned names_max = 12;

  template <class Op>
  void check(std::string_view what, const Op& operation) {
    stores_.run(what, operation);
  }

  unsigned below(unsigned end) { return static_cast<unsigned>(source_() % end); }
  static Uuid uuid(char kind, unsigned number) {
    Uuid::Bytes bytes{};
    bytes[0] = static_cast<std::uint8_t>(kind);
    bytes[14] = static_cast<std::uint8_t>(number >> 8);
    bytes[15] = static_cast<std::uint8_t>(number);
    return Uuid{bytes};
  }
  FlowId flow() { return FlowId{uuid('F', below(flows))}; }
  PartitionIndex partition_of(const FlowId& id) const {
    return core::partition_of(id.uuid(), stores_.partition_count());
  }
  static NodeName name(unsigned number) { return *NodeName::parse(fmt::format("n{}", number)); }
  ExecutionId id_of(const FlowId& id, unsigned number) const {
    return core::node_id(id, partition_of(id), name(number));
  }
  ExecutionId node() {
    const auto id = flow();
    if (below(4) > 0) return id_of(id, below(names_max));
    const auto grown_name = fmt::format("{}{}", below(2) == 0 ? "s" : "c", below(12));
    const auto item = fmt::format("n{}.{}", below(names_max), below(3));
    return core::node_id(id, partition_of(id),
                         *NodeName::parse(below(2) == 0 ? grown_name : item));
  }
  std::string reason() { return below(2) == 0 ? "" : fmt::format("because {}", below(3)); }

  std::vector<core::NewNode> nodes(const FlowId& id, unsigned first, unsigned last) {
    std::vector<core::NewNode> added;
    for (auto i = first; i < last; ++i) {
      FlowNode each{.name = name(i), .kind = *Kind::parse("k"), .payload = "in"};
      if (below(8) == 0) each.payload = "other";
      for (unsigned j = 0; j < i; ++j)
        if (below(3) == 0)
          each.after.push_back({.node = name(j), .on = static_cast<DependsOn>(below(3))});
      if (!each.after.empty() && below(3) == 0) {
        each.needed = 1 + below(static_cast<unsigned>(each.after.size()));
        each.rest = static_cast<RestAction>(below(2));
      }
      if (!each.after.empty() && below(4) == 0) each.after.back().input = name(100 + i);
      each.optional = below(5) == 0;
      if (below(6) == 0) each.delay_until = stores_.now() + 5s;
      if (below(8) == 0) each.deadline = stores_.now() + 15s;
      if (below(3) == 0) each.policy.retry = RetryPolicy{.max_retries = 1};
      if (below(4) == 0) each.tags = {{"a", "b"}};
      if (!each.after.empty() && below(5) == 0)
        each.map = MapOver{.input = each.after[0].node, .max_parallel = 1 + below(2)};
      else if (below(6) == 0)
        each.flow = Subflow{};
      added.push_back({id_of(id, i), std::move(each)});
    }
    return added;
  }
  void create() {
    const auto id = flow();
    core::CreateFlow create{.id = id, .partition = partition_of(id), .submit = {}, .nodes = {}};
    create.digest = below(2);
    create.submit.on_failure = static_cast<FlowFailure>(below(2));
    create.submit.building = below(3) == 0;
    create.submit.retention = 10s;
    if (below(2) == 0) create.submit.result = name(0);
    if (below(3) == 0) create.submit.deadline = stores_.now() + 30s;
    if (below(3) == 0) create.submit.tags = {{"team", "x"}};
    if (below(3) == 0) create.parent = core::ParentNode{.node = node(), .run = below(2)};
    create.nodes = nodes(id, 0, 1 + below(names_max));
    check("create", create);
  }
  void extend() {
    const auto id = flow();
    const auto first = below(names_max);
    core::AddNodes add{.id = id, .nodes = {}};
    add.nodes = nodes(id, first, std::min(first + 3, names_max));
    check("extend", add);
  }
  // As the engine does it, for a list of none to three entries.
  void add_items(const core::ExpandMap& effect) {
    const auto node = stores_.run("node of a list", GetExecution{effect.id});
    if (!node || !node->flow || !node->node) return;
    const auto count = below(4);
    for (unsigned i = 0; i <= count; ++i) {
      core::AddItems slice{.id = effect.id, .run = effect.run, .first = i, .items = {}};
      slice.is_last = i == count;
      if (i < count)
        slice.items.push_back(
            {core::node_id(*node->flow, effect.id.partition(), core::item_name(*node->node, i)),
             std::to_string(below(3))});
      check("items", slice);
    }
  }
  void end_map(const core::CollectMap& effect) {
    core::EndNode end{.id = effect.id, .run = effect.run};
    if (below(3) > 0)
      end.result = "[]";
    else
      end.failure = {.reason = "too many failed", .category = "map"};
    check("end of a list", end);
  }
  // The end of a flow that a node is, perhaps; otherwise the node goes on waiting.
  template <class Effect>
  void end_subflow(const Effect& effect) {
    if (below(2) == 0) return;
    core::EndNode end{.id = effect.id, .run = effect.run};
    if (below(3) > 0) end.result = "out";
    if (below(3) == 0) end.content_type = *ContentType::parse("text/plain");
    if (below(3) == 0) end.failure = {.reason = "flow failed", .category = "subflow"};
    check("end of a flow that is a node", end);
  }
  // Of a node that a worker has.
  void grow(const ExecutionId& id, const Fence& fence) {
    const auto node = stores_.run("spawner", GetExecution{id});
    if (!node || !node->flow) return;
    core::Grow grow{.id = id, .flow = *node->flow, .end = {}, .nodes = {}};
    if (below(2) == 0) {
      grow.end = Complete{.id = id, .fence = fence, .result = "out"};
      for (unsigned i = 0; i <= below(3); ++i) grow.nodes.push_back(grown(*node->flow, "s", i));
      if (below(2) == 0) grow.nodes.back().node.after.push_back({.node = name(below(names_max))});
    } else {
      grow.end = WaitForChildren{.id = id, .fence = fence};
      for (unsigned i = 0; i <= below(3); ++i) grow.nodes.push_back(grown(*node->flow, "c", i));
    }
    check("grow", grow);
  }
  core::NewNode grown(const FlowId& id, const char* prefix, unsigned number) {
    const auto named = *NodeName::parse(fmt::format("{}{}", prefix, number + 3 * below(4)));
    return {core::node_id(id, partition_of(id), named),
            {.name = named, .kind = *Kind::parse("k"), .payload = below(3) == 0 ? "a" : "b"}};
  }
  void cancel() {
    if (below(3) > 0) return;
    check("cancel flow", core::BeginCancel{.id = flow(),
                                           .reason = reason(),
                                           .policy = static_cast<CancelPolicy>(below(3))});
  }
  void redrive() {
    const auto id = flow();
    core::BeginRedrive redrive{.id = id, .reason = reason()};
    if (below(2) == 0) redrive.from = id_of(id, below(names_max));
    check("redrive", redrive);
  }
  void fire() {
    if (below(3) > 0)
      return check("timer", core::TimerFire{.id = node(),
                                            .kind = static_cast<core::TimerKind>(below(5))});
    const auto id = flow();
    const ExecutionId subject{partition_of(id), id.uuid()};
    check("flow timer",
          core::TimerFire{.id = subject, .kind = core::TimerKind::flow_deadline});
    check("remove", core::Remove{.id = subject});
  }
  void lease() {
    const auto id = node();
    if (below(8) == 0)
      return check("grant", core::GrantIssue{.id = id, .worker = worker(), .grant_ttl = 5s});
    const auto source = below(6) == 0 ? core::LeaseSource::grant : core::LeaseSource::ready;
    ++leases_;
    auto claimed = stores_.run("lease", core::LeaseGrant{.id = id,
                                                         .source = source,
                                                         .worker = worker(),
                                                         .lease_id = LeaseId{uuid('L', leases_)},
                                                         .attempt_id = AttemptId{uuid('A', leases_)},
                                                         .lease_ttl = 10s});
    if (claimed) held_[claimed->id] = claimed->fence;
  }
  static WorkerId worker() { return *WorkerId::parse("w"); }
  void end() {
    if (held_.empty()) return lease();
    auto held = held_.begin();
    std::advance(held, below(static_cast<unsigned>(held_.size())));
    const auto [id, fence] = *held;
    if (below(4) > 0) held_.erase(held);
    switch (below(13)) {
      case 10:
      case 11: return grow(id, fence);
      case 0: return check("hand back", HandBack{.id = id, .fence = fence});
      case 1:
        return check("delay", Delay{.id = id, .fence = fence, .until = stores_.now() + 3s});
      case 2: return check("wait for children", WaitForChildren{.id = id, .fence = fence});
      case 3: return check("revoke", RevokeLease{.id = id, .reason = reason()});
      case 4:
      case 5:
        return check("fail", Fail{.id = id, .fence = fence, .reason = "bad", .category = "x"});
      default: return check("complete", Complete{.id = id, .fence = fence, .result = "out"});
    }
  }

  std::mt19937_64 source_;
  unsigned leases_ = 0;
  std::map<ExecutionId, Fence> held_;
  std::size_t effects_ = 0;
  std::size_t ended_ = 0;
  BothStores<SameFlowReplies> stores_;
};

constexpr const char* flow_store_seeds_file = "tests/differential/flow_store_seeds.txt";

TEST(FlowStoreDifferential, BothStoresAnswerTheSame) {
  constexpr int steps = 400;
  std::size_t ended = 0;
  for (const auto seed : test::seeds(flow_store_seeds_file)) {
    SCOPED_TRACE(test::how_to_repeat(seed, flow_store_seeds_file));
    FlowWalk walk(seed);
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("step {}", i));
      walk.step();
      walk.carry_out_effects();
      if (i % 10 == 0 || testing::Test::HasFailure()) walk.compare_all();
    }
    if (testing::Test::HasFailure()) return;
    ended += walk.ended();
  }
  EXPECT_GT(ended, 0u) << "some of the flows ended";
}

}  // namespace
}  // namespace ff::differential
