// The store whose state is in Valkey: every change is one call of the function library.
#pragma once

#include <memory>

#include "base/async/wakeup.hpp"
#include "store/valkey/background.hpp"
#include "store/valkey/caches/local_copy.hpp"
#include "store/valkey/caches/own_event_filter.hpp"
#include "store/valkey/caches/paused_lanes_mirror.hpp"
#include "store/valkey/caches/server_clock.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/confirmations.hpp"
#include "store/valkey/executions.hpp"
#include "store/valkey/key_rings.hpp"
#include "store/valkey/open.hpp"
#include "store/valkey/resources.hpp"
#include "store/valkey/sweeps.hpp"
#include "valkey/subscriber.hpp"

namespace ff::valkey_store {

// Opens and closes; what an operation does is in the parts, one for each kind of owner.
class ValkeyStore final : public store::Store {
 public:
  static Result<std::unique_ptr<store::Store>> open(StoreOptions options);
  ~ValkeyStore() override;

  void start(std::vector<store::AnyCall> calls) override;
  void set_sinks(store::Sinks sinks) override {
    lanes_.set_sink(sinks.on_paused_lanes);
    copy_.set_sinks(std::move(sinks));
  }
  asio::awaitable<void> catch_up_with_events() override { return own_events_.catch_up(); }
  PartitionIndex partition_count() const override { return functions_.partition_count(); }
  TimePoint now() const override { return clock_.now(); }
  std::shared_ptr<const core::PausedLanes> paused_lanes() const override { return lanes_.paused(); }
  void break_off() override;
  std::string list_cursor(TimePoint created_at, const ExecutionId& id) const override;
  Result<void> health() const override { return {}; }

 private:
  explicit ValkeyStore(StoreOptions options);
  Async<void> prepare();
  asio::awaitable<void> subscribe();
  asio::awaitable<void> follow_server();
  Async<void> set_clock();

  StoreOptions options_;
  Background background_;
  ServerClock clock_{options_.simulated_clock};
  OwnEventFilter own_events_;
  Wakeup stopped_{background_.executor()};
  Wakeup subscribed_{background_.executor()};
  std::size_t subscriptions_ = 0;  // only on the background's thread
  // These three must be gone before the parts that their callbacks use.
  std::unique_ptr<Client> client_;
  std::unique_ptr<Confirmations> confirmations_;
  std::unique_ptr<valkey::Subscriber> subscriber_;

  Functions functions_{background_, *client_, clock_, options_.client};
  LocalCopy copy_{{.background = background_,
                   .functions = functions_,
                   .own_events = own_events_,
                   .clock = clock_,
                   .sweep = options_.sweep}};
  Executions executions_{{.client = *client_,
                          .functions = functions_,
                          .copy = copy_,
                          .own_events = own_events_,
                          .confirmations = confirmations_.get()}};
  PausedLanesMirror lanes_{
      {.background = background_, .client = *client_, .functions = functions_}};
  Resources resources_{{.background = background_,
                        .client = *client_,
                        .functions = functions_,
                        .clock = clock_,
                        .confirmations = confirmations_.get(),
                        .lanes = lanes_}};
  KeyRings key_rings_{{.background = background_,
                       .client = *client_,
                       .functions = functions_,
                       .confirmations = confirmations_.get(),
                       .configured = options_.waitpoint_secret,
                       .looks_after_all = options_.sweep}};
  Sweeps sweeps_{{.background = background_,
                  .client = *client_,
                  .functions = functions_,
                  .copy = copy_,
                  .clock = clock_}};
};

}  // namespace ff::valkey_store
