// The executions that the scanners of a process look after.
#pragma once

#include <flowfabric/executions.hpp>
#include <flowfabric/flows.hpp>

#include <set>

#include "store/store.hpp"

namespace ff {

// Without a namespace and a tag: all of them.
struct ScannerFilter {
  std::optional<Namespace> ns = {};
  std::optional<std::pair<std::string, std::string>> tag = {};  // key and value

  bool is_empty() const { return !ns && !tag; }
  bool matches(const ExecutionInfo& execution) const;
  bool matches(const FlowInfo& flow) const;
  std::string str() const;  // "namespace=shop tag=team.app=mail"
};

// The flows that the filter matches, in their order. A flow that cannot be read is left out.
asio::awaitable<std::vector<FlowId>> own_flows(store::Store& store, const ScannerFilter& filter,
                                               std::vector<FlowId> flows);

// Picks the candidates of a scanner that its filter matches, and remembers the others for a while: as long as
// they are due they come first, and must not hide the rest. Not thread-safe.
class FilteredCandidates {
 public:
  FilteredCandidates(store::Store& store, ScannerFilter filter)
      : store_(store), filter_(std::move(filter)) {}

  // How many candidates to ask for, to get `wanted` that are not known to be of others.
  std::size_t batch(std::size_t wanted) const { return wanted + others_.size(); }

  // The candidates that the filter matches, in their order. An execution that cannot be read is left out. A candidate may stand
  // for a flow (core::subject_of).
  asio::awaitable<std::vector<ExecutionId>> own(std::vector<ExecutionId> candidates);

 private:
  // Tags can change, so others are looked at again.
  static constexpr Millis remembered_for = std::chrono::minutes{1};
  static constexpr std::size_t others_max = 100'000;

  void forget_in_time();

  store::Store& store_;
  const ScannerFilter filter_;
  std::set<ExecutionId> others_;
  TimePoint forget_at_{};
};

}  // namespace ff
