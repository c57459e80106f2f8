// Lets go what other schedulers on the same store blocked, when what it waited for is there.
#pragma once

#include <atomic>
#include <map>

#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"
#include "engine/starting/wait_reasons.hpp"

namespace ff {

// The engine itself blocks nothing, and its own claims take what is blocked for a reason that is over. But
// workers of the published contract find only what stands among the eligible executions.
class UnblockScanner final : public Scanner {
 public:
  UnblockScanner(store::Store& store, WorkerCache& workers, ScannerFilter filter = {})
      : store_(store), workers_(workers), candidates_(store, std::move(filter)) {}

  std::string_view name() const override { return "unblock"; }
  Async<Scan> run_once() override;

  // An execution was blocked, or something opened: worth a look.
  void note_change() { look_ = true; }

 private:
  static constexpr std::size_t batch_max = 256;
  static constexpr std::size_t pages_max = 64;  // of one run; the next one goes on from there

  Async<Scan> unblock(WaitReasons& reasons, BlockingReason reason);

  store::Store& store_;
  WorkerCache& workers_;
  FilteredCandidates candidates_;
  std::atomic<bool> look_ = true;
  TimePoint look_again_at_{};
  std::map<BlockingReason, std::optional<std::string>> next_;  // where to go on
};

}  // namespace ff
