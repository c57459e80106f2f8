// Forgets executions that ended long enough ago.
#pragma once

#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"
#include "store/store.hpp"

namespace ff {

class RetentionTrimmer final : public Scanner {
 public:
  explicit RetentionTrimmer(store::Store& store, ScannerFilter filter = {})
      : store_(store), candidates_(store, std::move(filter)) {}

  std::string_view name() const override { return "retention_trimmer"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t batch_max = 1'000;
  store::Store& store_;
  FilteredCandidates candidates_;
};

}  // namespace ff
