#include "store/embedded/commit/batch_writer.hpp"

namespace ff::embedded {

Result<void> BatchWriter::write(Batch& batch) {
  if (batch.changes.empty()) return {};
  auto written = parts_.database.write(batch.changes);
  if (!written) parts_.fault.set(written.error());
  batch.changes.clear();
  batch.unwritten.clear();
  return written;
}

void BatchWriter::finish(Batch batch) {
  const auto written = write(batch);
  const Error* fault = parts_.fault.get();
  if (!written || fault) {
    batch.at_once.release(parts_.sinks, fault);
    batch.after_sync.release(parts_.sinks, fault);
    return;
  }
  if (batch.must_sync) {
    last_durable_ = batch.number;
    batch.after_sync.mark_synced(synced_through_, batch.number);
  }
  // Before the committer can tell of later changes to the same executions.
  batch.at_once.release_events(parts_.sinks);
  if (batch.must_sync)
    last_sync_ = parts_.committer.enqueue(std::move(batch.after_sync));
  else if (!batch.after_sync.empty())
    parts_.committer.enqueue_after(last_sync_, std::move(batch.after_sync));
  if (!batch.offers.empty()) parts_.sinks.on_changes(batch.offers);
  batch.at_once.release(parts_.sinks);
}

}  // namespace ff::embedded
