// The outbox: carries out the effects that changes cause in other owners.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "base/async/coroutine_group.hpp"
#include "engine/outbox/map_runner.hpp"
#include "engine/outbox/subflow_runner.hpp"
#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

// An effect is stored with its cause. The process that made the change carries it out at once and settles it
// afterwards, many together; run_once() does both for effects that another process, or an earlier run of this
// one, left behind. All effects are safe to repeat. Thread-safe.
class Outbox final : public Scanner {
 public:
  Outbox(store::Store& store, asio::any_io_executor executor, Millis retention_default)
      : store_(store), executor_(std::move(executor)), maps_(store, retention_default), subflows_(store, retention_default) {}

  // Starts them and does not wait. An effect that fails is left for run_once().
  void carry_out(PartitionIndex partition, std::vector<core::Effect> effects);

  std::string_view name() const override { return "outbox"; }
  Async<Scan> run_once() override;

  // Work on lists ends with the store's next answer, and is left for another process.
  void stop_lists() { maps_.stop(); }

  // Starts to settle everything that was carried out; later effects are left for another process.
  void close();

  // After close(): whether work on lists has ended after `limit` at most.
  bool ended_within(Millis limit) { return coroutines_.wait_for(limit); }
  void wait() { coroutines_.wait(); }

 private:
  using Done = std::map<PartitionIndex, std::vector<core::Effect>>;
  static constexpr std::size_t sweep_max = 1'000;
  static constexpr std::size_t unsettled_max = 256;
  static constexpr Millis settle_every{200};

  // Commands that do a slice at a time: the next one starts when the last has ended.
  template <class Command>
  void carry_out_slice(PartitionIndex partition, const Command& effect, Command slice,
                       std::vector<store::AnyCall>& calls);
  template <class Command>
  Async<ff::Done> carry_out_all(Command slice);
  // Work of the engine: lists, and flows that are nodes of others.
  template <class Effect>
  Async<ff::Done> work(const Effect& effect);
  template <class Effect>
  void carry_out_work(PartitionIndex partition, Effect effect);
  asio::awaitable<std::vector<Result<ff::Done>>> forget(std::vector<core::ForgetSpending> forgets);
  void note_done(PartitionIndex partition, core::Effect effect);
  void settle(Done done);

  store::Store& store_;
  asio::any_io_executor executor_;
  MapRunner maps_;
  SubflowRunner subflows_;
  CoroutineGroup coroutines_;
  std::mutex mutex_;
  Done done_;
  std::size_t done_count_ = 0;
  std::chrono::steady_clock::time_point settled_at_ = std::chrono::steady_clock::now();
  bool closed_ = false;
};

}  // namespace ff
