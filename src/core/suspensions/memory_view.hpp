// A partition in memory for the tests of suspensions: decides commands and carries out their plans.
#pragma once

#include <map>
#include <tuple>

#include "base/overloaded.hpp"
#include "core/test_support.hpp"
#include "core/transitions/plan.hpp"

namespace ff::core {

class MemoryView : public PartitionView {
 public:
  explicit MemoryView(Execution execution) : execution_(std::move(execution)) {}

  template <class Command>
  Result<typename Command::Reply> run(Command command, TimePoint now) {
    auto plan = decide(*this, std::move(command), now);
    FF_TRY(plan);
    events_.clear();
    for (auto& change : plan->changes) std::visit([this](auto& each) { carry_out(each); }, change);
    return std::move(plan->reply);
  }

  std::size_t signals_read = 0;  // by all commands

  const Execution& execution() const { return *execution_; }
  const std::optional<Waits>& waits() const { return waits_; }
  const std::map<std::uint32_t, StoredSignal>& signals() const { return signals_; }
  const Streams& streams() const { return streams_; }
  const std::map<AppendPlace, Append>& appends() const { return appends_; }
  const std::map<std::uint32_t, std::string>& documents() const { return documents_; }
  void set(Execution execution) { execution_ = std::move(execution); }
  std::size_t record_count() const {
    return (waits_ ? 1 : 0) + (details_ ? 1 : 0) + signals_.size() + payloads_.size() + keys_.size() + steps_.size();
  }
  // The state, and the event of the last command.
  std::string story() const {
    return show(*execution_) +
           (events_.empty() ? "" : fmt::format(" [{}]", to_string(events_.back())));
  }

  Result<const Execution*> find(const ExecutionId&) override { return &*execution_; }
  Result<const Execution*> find(const Namespace&, const IdempotencyKey&) override {
    return nullptr;
  }
  Result<Waits> find_waits(const Execution&) override { return waits_.value_or(Waits{}); }
  Result<WaitDetails> find_details(const Execution&, const Waits&) override {
    return details_.value_or(WaitDetails{});
  }
  Result<std::vector<StoredSignal>> find_signals(
      const Execution&, std::span<const std::uint32_t> indexes) override {
    std::vector<StoredSignal> found;
    for (const auto index : indexes) found.push_back(signals_.at(index));
    signals_read += found.size();
    return found;
  }
  Result<std::vector<StoredSignal>> find_signals(const Execution&, std::uint32_t from) override {
    std::vector<StoredSignal> found;
    for (const auto& [index, signal] : signals_)
      if (index >= from) found.push_back(signal);
    signals_read += found.size();
    return found;
  }
  Result<std::optional<KnownSignal>> find_signal(const Execution&, const SignalKey& key) override {
    const auto found = keys_.find(key);
    return found == keys_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<StoredSignal>> find_signal(const Execution&, const SignalId& id) override {
    for (const auto& [index, signal] : signals_)
      if (signal.id == id) return signal;
    return std::nullopt;
  }
  Result<const Flow*> find_flow(const FlowId&) override { return nullptr; }
  Result<std::vector<ExecutionId>> find_members(const FlowId&, std::uint32_t,
                                                std::size_t) override {
    return std::vector<ExecutionId>{};
  }
  Result<std::vector<EdgeId>> find_edges_out(const ExecutionId&, const std::optional<EdgeId>&,
                                             std::size_t) override {
    return std::vector<EdgeId>{};
  }
  Result<Edge> find_edge(const EdgeId&) override { return Edge{}; }
  bool has_effect(PartitionIndex, const Effect&) override { return false; }
  Result<Streams> find_streams(const Execution&) override { return streams_; }
  Result<AppendSize> find_append(const Execution&, AppendPlace place) override {
    const auto& append = appends_.upper_bound(place)->second;
    return AppendSize{
        .end = append.place.end, .bytes = bytes_of(append.frames), .lost = append.lost};
  }
  Result<std::string> find_document(const Execution&, std::uint32_t stream) override {
    return documents_.at(stream);
  }
  Result<bool> has_step(const Execution&, const StepName& name) override {
    return steps_.contains(name);
  }

 private:
  void carry_out(PutExecution& put) {
    execution_ = std::move(put.next);
    if (put.event) events_.push_back(*put.event);
  }
  void carry_out(RemoveExecution&) {}
  void carry_out(auto&) {}
  void carry_out(PutBelonging& put) {
    std::visit(Overloaded{
                   [](std::string&) {},
                   [](Attempt&) {},
                   [&](Waits& waits) { waits_ = std::move(waits); },
                   [&](WaitDetails& details) { details_ = std::move(details); },
                   [&](StoredSignal& signal) { signals_[signal.index] = signal; },
                   [&](SignalPayload& payload) { payloads_[payload.index] = payload.bytes; },
                   [&](KnownSignal& known) { keys_.insert_or_assign(known.key, known); },
                   [](SignalIndex&) {},
                   [&](StoredStep& step) { steps_[step.name] = step; },
                   [&](Streams& streams) { streams_ = std::move(streams); },
                   [&](Append& append) { appends_[append.place] = append; },
                   [&](StreamDocument& document) { documents_[document.stream] = document.text; },
               },
               put.value);
  }
  void carry_out(EraseAppend& erase) { appends_.erase(erase.place); }
  void carry_out(EraseBelonging& erase) {
    if (erase.kind == Belonging::waits) waits_.reset();
    if (erase.kind == Belonging::wait_details) details_.reset();
    if (erase.kind == Belonging::signal) signals_.clear();
    if (erase.kind == Belonging::signal_payload) payloads_.clear();
    if (erase.kind == Belonging::signal_key) keys_.clear();
    if (erase.kind == Belonging::step) steps_.clear();
  }

  std::optional<Execution> execution_;
  std::optional<Waits> waits_;
  std::optional<WaitDetails> details_;
  std::map<std::uint32_t, StoredSignal> signals_;
  std::map<std::uint32_t, std::string> payloads_;
  std::map<SignalKey, KnownSignal> keys_;
  std::map<StepName, StoredStep> steps_;
  Streams streams_;
  std::map<AppendPlace, Append> appends_;
  std::map<std::uint32_t, std::string> documents_;
  std::vector<EventType> events_;
};

}  // namespace ff::core
