// Runs nodes that stand for a list: adds a node for each of its entries, and collects their results.
#pragma once

#include <atomic>

#include "store/store.hpp"

namespace ff {

// Both are safe to repeat. Thread-safe.
class MapRunner {
 public:
  MapRunner(store::Store& store, Millis retention_default)
      : store_(store), retention_default_(retention_default) {}

  Async<Done> run(core::ExpandMap effect);
  Async<Done> run(core::CollectMap effect);

  // Both end with the store's next answer; another process goes on with what they have not done.
  void stop() { stopping_ = true; }

 private:
  template <class Effect>
  Async<Done> fail_node(const Effect& effect, std::string reason);
  Async<Done> add_items(const core::ExpandMap& effect, const ExecutionInfo& node,
                        const std::string& list);

  Async<std::size_t> room_for_items(const core::ExpandMap& effect, FlowId id);

  store::Store& store_;
  Millis retention_default_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace ff
