// Runs nodes that are flows of their own: submits those flows, brings them in line with their nodes, and ends the
// nodes with them.
#pragma once

#include "store/store.hpp"

namespace ff {

// Both are safe to repeat. Thread-safe.
class SubflowRunner {
 public:
  SubflowRunner(store::Store& store, Millis retention_default)
      : store_(store), retention_default_(retention_default) {}

  Async<Done> run(core::RunSubflow effect);
  Async<Done> run(core::EndSubflow effect);

 private:
  // The state that a run of a node demands of its flow.
  enum class Demand { run, hold, cancel };
  struct Demanded {
    Demand demand = Demand::cancel;
    std::optional<ExecutionInfo> node = {};  // absent: it is gone
    std::optional<FlowInfo> flow = {};       // that it is a node of, unless the demand is to cancel
  };
  Async<Demanded> demand_of(const core::RunSubflow& effect);
  Async<Done> start(const core::RunSubflow& effect, const Demanded& demanded);
  Async<Done> cancel(const FlowId& id, const Demanded& demanded);
  Async<Done> fail_node(ExecutionId id, std::uint32_t run, std::string reason);

  store::Store& store_;
  Millis retention_default_;
};

}  // namespace ff
