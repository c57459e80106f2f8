// The engine on a store in reach: scheduler, scanners and waiting around it.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>
#include <memory>

#include "base/random.hpp"
#include "base/runtime.hpp"
#include "engine/scheduler.hpp"
#include "engine/supervisor.hpp"
#include "engine/wait_list.hpp"
#include "store/store.hpp"

namespace ff {

struct LocalEngineOptions {
  std::size_t threads = 2;
  bool scan = true;  // run the scanners; tests run them by hand
  Millis lease_reaper_interval{1500};
  // Every lifecycle event, from any thread; must not block.
  std::function<void(const core::Event&)> on_event = {};
};

class LocalEngine final : public Engine {
 public:
  explicit LocalEngine(std::unique_ptr<store::Store> store, LocalEngineOptions options = {});

  Async<SubmitReply> run(Submit operation) override;
  Async<ExecutionInfo> run(GetExecution operation) override;
  Async<ResultBytes> run(GetResult operation) override;
  Async<ClaimReply> run(Claim operation) override;
  Async<RenewReply> run(Renew operation) override;
  Async<EndReply> run(Complete operation) override;
  Async<EndReply> run(Fail operation) override;
  Async<HealthReply> run(Health operation) override;

  asio::any_io_executor executor() override { return runtime_.executor(); }

  Supervisor& scanners() { return scanners_; }

 private:
  using Queue = std::pair<Namespace, LaneId>;

  template <class Op>
  Result<void> check(const Op& operation) const;
  template <class Op>
  Async<typename Op::Reply> pass_on(Op operation);
  Async<ClaimReply> claim_or_wait(Claim operation);
  Async<ResultBytes> read_result_or_wait(GetResult operation);
  void on_events(std::span<const core::Event> events);

  // In the order in which they may go: each uses those above it.
  LocalEngineOptions options_;
  Runtime runtime_;
  SystemRandom random_;
  WaitList<Queue> waiting_for_work_;
  WaitList<ExecutionId> waiting_for_end_;
  std::unique_ptr<store::Store> store_;
  Scheduler scheduler_;
  Supervisor scanners_;
};

}  // namespace ff
