// A partition in memory for the tests of flows: decides commands, carries out their plans, and keeps effects
// until they are run.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "base/overloaded.hpp"
#include "core/flows/draft.hpp"
#include "core/test_support.hpp"

namespace ff::core {

class MemoryPartition final : public PartitionView {
 public:
  template <class Command>
  Result<typename Command::Reply> run(Command command, TimePoint now) {
    auto plan = decide(*this, std::move(command), now);
    FF_TRY(plan);
    FF_TRY(add_consequences(*this, *plan, now));
    for (auto& change : plan->changes) std::visit([this](auto& each) { carry_out(each); }, change);
    for (auto& effect : plan->effects) effects_.push_back(std::move(effect));
    return std::move(plan->reply);
  }

  // Runs the effects, each of them slice by slice, until none is left.
  void run_effects(TimePoint now) {
    for (; !effects_.empty(); effects_.pop_front())
      std::visit(Overloaded{
                     [](const ReleaseToken&) {},
                     [](const ForgetSpending&) {},
                     [&](const ExpandMap& effect) { expand(effect, now); },
                     [&](const CollectMap& effect) {
                       must(run(EndNode{.id = effect.id, .run = effect.run, .result = "[]"}, now));
                     },
                     [](const RunSubflow&) {},
                     [](const EndSubflow&) {},
                     [&](auto slice) {
                       for (auto reply = must(run(slice, now)); reply.more;
                            reply = must(run(slice, now)))
                         if constexpr (requires { slice.after; }) slice.after = reply.next;
                     },
                 },
                 Effect(effects_.front()));
  }

  // As the engine does it: a list of none to three entries, other ones in each run, in two slices.
  void expand(const ExpandMap& effect, TimePoint now) {
    const auto& node = *executions_.at(effect.id).flow;
    const auto count = (node.index + effect.run) % 4;
    for (std::uint32_t i = 0; i <= count; ++i) {
      AddItems slice{.id = effect.id, .run = effect.run, .first = i, .items = {}};
      slice.is_last = i == count;
      if (i < count)
        slice.items.push_back({node_id(node.flow, effect.id.partition(), item_name(node.node, i)),
                               std::to_string(effect.run)});
      must(run(std::move(slice), now));
    }
  }

  // Faults.
  void lose_effects() { effects_.clear(); }
  Flow& damage_flow(const FlowId& id) { return flows_.at(id); }
  Membership& damage_node(const ExecutionId& id) { return *executions_.at(id).flow; }

  // Checks everything once; returns how many repairs that took.
  std::uint32_t repair(const FlowId& id, TimePoint now) {
    std::uint32_t repaired = 0;
    std::vector<ExecutionId> nodes;
    for (const auto& [node, execution] : executions_) nodes.push_back(node);
    for (const auto& node : nodes) {
      CheckNode check{.id = node};
      while (true) {
        const auto reply = must(run(check, now));
        repaired += reply.repaired;
        if (!reply.next) break;
        check.from = *reply.next;
      }
    }
    CheckFlow check{.id = id};
    while (true) {
      const auto reply = must(run(check, now));
      repaired += reply.repaired;
      if (!reply.next) return repaired;
      check = {.id = id, .from = *reply.next, .version = reply.version, .tally = reply.tally};
    }
  }

  const std::map<ExecutionId, Execution>& executions() const { return executions_; }
  const std::map<EdgeId, Edge>& edges() const { return edges_; }
  const Flow& flow(const FlowId& id) const { return flows_.at(id); }
  bool empty() const {
    return executions_.empty() && flows_.empty() && edges_.empty() && out_.empty() &&
           members_.empty();
  }

  Result<const Execution*> find(const ExecutionId& id) override {
    const auto found = executions_.find(id);
    return found == executions_.end() ? nullptr : &found->second;
  }
  Result<const Execution*> find(const Namespace&, const IdempotencyKey&) override {
    return nullptr;
  }
  Result<Waits> find_waits(const Execution&) override { return Waits{}; }
  Result<WaitDetails> find_details(const Execution&, const Waits&) override {
    return WaitDetails{};
  }
  Result<std::vector<StoredSignal>> find_signals(const Execution&, std::uint32_t) override {
    return std::vector<StoredSignal>{};
  }
  Result<std::vector<StoredSignal>> find_signals(const Execution&,
                                                 std::span<const std::uint32_t>) override {
    return std::vector<StoredSignal>{};
  }
  Result<std::optional<KnownSignal>> find_signal(const Execution&, const SignalKey&) override {
    return std::nullopt;
  }
  Result<std::optional<StoredSignal>> find_signal(const Execution&, const SignalId&) override {
    return std::nullopt;
  }
  Result<Streams> find_streams(const Execution&) override { return Streams{}; }
  Result<AppendSize> find_append(const Execution&, AppendPlace) override { return AppendSize{}; }
  Result<std::string> find_document(const Execution&, std::uint32_t) override { return ""; }
  Result<bool> has_step(const Execution&, const StepName&) override { return false; }
  bool has_effect(PartitionIndex, const Effect& effect) override {
    return std::ranges::find(effects_, effect) != effects_.end();
  }
  Result<const Flow*> find_flow(const FlowId& id) override {
    const auto found = flows_.find(id);
    return found == flows_.end() ? nullptr : &found->second;
  }
  Result<std::vector<ExecutionId>> find_members(const FlowId& flow, std::uint32_t from,
                                                std::size_t max) override {
    std::vector<ExecutionId> found;
    for (auto each = members_.lower_bound({flow, from});
         each != members_.end() && each->first.first == flow && found.size() < max; ++each)
      found.push_back(each->second);
    return found;
  }
  Result<std::vector<EdgeId>> find_edges_out(const ExecutionId& upstream,
                                             const std::optional<EdgeId>& after,
                                             std::size_t max) override {
    std::vector<EdgeId> found;
    auto each = after ? out_.upper_bound({upstream, *after}) : out_.lower_bound({upstream, {}});
    for (; each != out_.end() && each->first == upstream && found.size() < max; ++each)
      found.push_back(each->second);
    return found;
  }
  Result<Edge> find_edge(const EdgeId& id) override { return edges_.at(id); }

 private:
  void carry_out(PutExecution& put) { executions_.insert_or_assign(put.next.id, put.next); }
  void carry_out(RemoveExecution& remove) {
    const auto& last = remove.last;
    executions_.erase(last.id);
    std::erase_if(edges_, [&](const auto& each) { return each.first.downstream == last.id; });
    std::erase_if(out_, [&](const auto& each) { return each.first == last.id; });
    if (last.flow) members_.erase({last.flow->flow, last.flow->index});
  }
  void carry_out(PutBelonging&) {}
  void carry_out(EraseBelonging&) {}
  void carry_out(EraseAppend&) {}
  void carry_out(PutFlow& put) { flows_.insert_or_assign(put.next.id, put.next); }
  void carry_out(RemoveFlow& remove) { flows_.erase(remove.last.id); }
  void carry_out(AddMember& add) { members_[{add.flow, add.index}] = add.node; }
  void carry_out(AddEdge& add) {
    edges_[add.edge.id] = add.edge;
    out_.emplace(add.edge.upstream, add.edge.id);
  }
  void carry_out(PutEdge& put) { edges_.at(put.edge.id) = put.edge; }

  std::map<ExecutionId, Execution> executions_;
  std::map<FlowId, Flow> flows_;
  std::map<std::pair<FlowId, std::uint32_t>, ExecutionId> members_;
  std::map<EdgeId, Edge> edges_;
  std::set<std::pair<ExecutionId, EdgeId>> out_;
  std::deque<Effect> effects_;
};

}  // namespace ff::core
