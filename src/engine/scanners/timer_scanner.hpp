// Does what comes due by time: one scanner per kind of timer.
#pragma once

#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"
#include "store/store.hpp"

namespace ff {

class TimerScanner final : public Scanner {
 public:
  TimerScanner(store::Store& store, core::TimerKind kind, ScannerFilter filter = {})
      : store_(store), kind_(kind), candidates_(store, std::move(filter)) {}

  std::string_view name() const override;
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t batch_max = 500;
  store::Store& store_;
  core::TimerKind kind_;
  FilteredCandidates candidates_;
};

}  // namespace ff
