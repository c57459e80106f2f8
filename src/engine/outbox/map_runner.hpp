// Runs nodes that stand for a list: adds a node for each of its entries, and collects their results.
#pragma once

#include "store/store.hpp"

namespace ff {

// Both are safe to repeat. Thread-safe.
class MapRunner {
 public:
  MapRunner(store::Store& store, Millis retention_default)
      : store_(store), retention_default_(retention_default) {}

  Async<Done> run(core::ExpandMap effect);
  Async<Done> run(core::CollectMap effect);

 private:
  Async<Done> add_items(const core::ExpandMap& effect, const ExecutionInfo& node,
                        const std::string& list);

  store::Store& store_;
  Millis retention_default_;
};

}  // namespace ff
