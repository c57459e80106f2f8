// Safety nets for flows: they look for nodes and flows that a lost effect or a fault left behind, a slice at a time,
// and repair them. A store without faults gives them nothing to do.
#pragma once

#include <deque>

#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"

namespace ff {

// Nodes that wait for others although these have ended, or although nothing is left to wait for.
class DependencyReconciler final : public Scanner {
 public:
  explicit DependencyReconciler(store::Store& store, ScannerFilter filter = {})
      : store_(store), candidates_(store, std::move(filter)) {}

  std::string_view name() const override { return "dependency_reconciler"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t executions_max = 500;  // that one run looks at
  static constexpr std::size_t slices_max = 1'000;    // of at most 100 edges each, likewise

  store::Store& store_;
  FilteredCandidates candidates_;
  std::optional<std::string> next_;  // where the pass goes on
  std::deque<core::CheckNode> left_;
};

// Flows whose counters do not agree with their nodes, and walks whose effect is lost. Writes the summaries of flows
// that programs of the contract made.
class FlowProjector final : public Scanner {
 public:
  explicit FlowProjector(store::Store& store, ScannerFilter filter = {})
      : store_(store), filter_(std::move(filter)) {}

  std::string_view name() const override { return "flow_projector"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t flows_max = 200;   // that one run looks at
  static constexpr std::size_t slices_max = 200;  // of at most 100 nodes each, likewise

  store::Store& store_;
  const ScannerFilter filter_;
  std::optional<std::string> next_;  // where the pass goes on
  std::deque<core::CheckFlow> left_;
};

}  // namespace ff
