// Compares indexes with records, a few partitions at a time, and mends what differs.
#pragma once

#include "base/rotation.hpp"
#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

class IndexReconciler final : public Scanner {
 public:
  // Every partition is looked at within partition_count / partitions_per_run runs.
  explicit IndexReconciler(store::Store& store)
      : store_(store), rotation_({.partition_count = store.partition_count()}) {}

  std::string_view name() const override { return "index_reconciler"; }
  Async<Scan> run_once() override;

 private:
  store::Store& store_;
  PartitionRotation rotation_;
};

}  // namespace ff
