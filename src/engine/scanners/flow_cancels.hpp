// Cancellations in flows that programs of the contract began on the same Valkey and left to others.
#pragma once

#include <atomic>

#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"

namespace ff {

// Cancels the members of cancelled flows whose program has not done so within its grace.
class CancelReconciler final : public Scanner {
 public:
  explicit CancelReconciler(store::Store& store, ScannerFilter filter = {})
      : store_(store), filter_(std::move(filter)) {}

  std::string_view name() const override { return "cancel_reconciler"; }
  Async<Scan> run_once() override;

  // Flows whose members are still to be cancelled, as the last run found them; of all namespaces.
  std::size_t backlog() const { return backlog_; }

 private:
  static constexpr std::size_t flows_max = 50;     // of each partition that one run looks at
  static constexpr std::size_t slices_max = 1'000;  // of at most 25 members each, likewise

  store::Store& store_;
  const ScannerFilter filter_;
  std::atomic<std::size_t> backlog_ = 0;
};

// Cancels the nodes before a node that started without them (`cancel_remaining`).
class EdgeCancelDispatcher final : public Scanner {
 public:
  // It looks after a change of a flow, and otherwise at most `look_every` apart.
  EdgeCancelDispatcher(store::Store& store, ScannerFilter filter, Millis look_every)
      : store_(store), filter_(std::move(filter)), look_every_(look_every) {}

  std::string_view name() const override { return "edge_cancel_dispatcher"; }
  Async<Scan> run_once() override;

  // A flow changed. Any thread.
  void note_change() { look_ = true; }

 private:
  static constexpr std::size_t groups_max = 50;  // of each partition that one run looks at
  static constexpr std::size_t slices_max = 1'000;

  store::Store& store_;
  const ScannerFilter filter_;
  const Millis look_every_;
  std::atomic<bool> look_ = true;
  TimePoint look_again_at_{};
};

}  // namespace ff
