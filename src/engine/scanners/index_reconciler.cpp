#include "engine/scanners/index_reconciler.hpp"

#include "base/try.hpp"

namespace ff {

Async<Scan> IndexReconciler::run_once() {
  Scan scan;
  // One partition after the other: a shard does other work in between.
  for (const auto partition : rotation_.scan(name(), store_.now())) {
    const auto reply = co_await store_.run(store::Reconcile{partition});
    FF_CO_TRY(reply);
    scan.seen += reply->checked;
    scan.changed += reply->repaired;
  }
  co_return scan;
}

}  // namespace ff
