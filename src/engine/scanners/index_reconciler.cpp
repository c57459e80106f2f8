#include "engine/scanners/index_reconciler.hpp"

#include "base/try.hpp"

namespace ff {

Async<Scan> IndexReconciler::run_once() {
  Scan scan;
  std::optional<Error> failure;
  bool any = false;
  // One partition after the other: a shard does other work in between.
  for (const auto partition : rotation_.scan(name(), store_.now())) {
    const auto reply = co_await store_.run(store::Reconcile{partition});
    if (!reply) {
      failure = reply.error();
      continue;
    }
    any = true;
    scan.seen += reply->checked;
    scan.changed += reply->repaired;
  }
  // The node of some partitions may be down; the others are checked all the same.
  if (failure && !any) co_return std::unexpected(std::move(*failure));
  co_return scan;
}

}  // namespace ff
