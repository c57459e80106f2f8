// The desk: one thread that owns all budgets, quotas, the list of workers, the key ring, the paused lanes and the audit
// log, as a shard owns executions.
#pragma once

#include "store/embedded/commit/mailbox.hpp"
#include "store/embedded/resources/audit_log.hpp"
#include "store/embedded/resources/budgets.hpp"
#include "store/embedded/resources/lanes.hpp"
#include "store/embedded/resources/quotas.hpp"
#include "store/embedded/resources/stored_key_ring.hpp"
#include "store/embedded/resources/workers.hpp"
#include "store/store.hpp"

namespace ff::embedded {

template <class Op>
concept AtDesk = store::OfResource<Op> || store::OfKeyRing<Op>;

inline constexpr auto is_about_resource = []<class Op>() { return AtDesk<Op>; };
using ResourceCall = store::AnyCallOf<Filtered<store::StoreOperations, is_about_resource>>;

// start() may be called from any thread.
class ResourceShard {
 public:
  struct Parts {
    BatchWriter::Parts writing;
    const Clock& clock;
    std::optional<WaitpointSecret> waitpoint_secret;
  };

  explicit ResourceShard(Parts parts) : parts_(std::move(parts)), writer_(parts_.writing) {}

  // Before run(): reads what is on disk, then is shown every execution that has not ended.
  Result<void> restore();
  void hold(const core::Execution& execution) { quotas_.hold(execution, parts_.clock.now()); }
  void run() {
    mailbox_.run([this](std::vector<ResourceCall> calls) { process(std::move(calls)); });
  }

  void start(std::vector<ResourceCall> calls) { mailbox_.put(std::move(calls)); }
  store::PausedLanesCopy::Set paused_lanes() const { return lanes_.paused(); }
  void stop() { mailbox_.stop(); }  // finishes what is in the mailbox

 private:
  void process(std::vector<ResourceCall> calls);
  template <class Op>
  void process(store::Call<Op>& call, Batch& batch);
  template <class Op>
  Result<typename Op::Reply> execute(const Op& operation, Turn& turn);
  TimePoint now();

  Parts parts_;
  BatchWriter writer_;
  Budgets budgets_;
  Quotas quotas_;
  Workers workers_;
  Lanes lanes_{[this] { parts_.writing.sinks.on_paused_lanes(); }};
  AuditLog audit_log_;
  StoredKeyRing key_ring_;
  TimePoint last_now_{};           // time never runs backwards in here
  Mailbox<ResourceCall> mailbox_;  // last: its thread uses all of the above
};

}  // namespace ff::embedded
