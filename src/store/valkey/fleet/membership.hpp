// This process among those that live on the same store.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/async/wakeup.hpp"
#include "store/valkey/background.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/fleet/division.hpp"

namespace ff::valkey_store {

// Tells the others at intervals that this process lives and what it does, and learns the same of them. A process
// that falls silent counts as dead after `lives`; one that ends in order says so. If the store cannot be asked for
// that long, this process does everything itself: better twice than not at all. A process that neither sweeps nor
// claims tells nothing, and needs no share.
class Membership {
 public:
  struct Parts {
    Background& background;
    Functions& functions;
    std::string process;
    bool joins;  // false: it does everything itself, and others do not learn of it
    bool sweeps;
    bool looks_after_none;  // its scanners have no partitions
    Pace pace = {};
  };
  explicit Membership(Parts parts) : parts_(std::move(parts)) {}

  // Called on the background's thread after each change of the division.
  void on_change(std::function<void()> call) { on_change_ = std::move(call); }

  // Any thread.
  std::shared_ptr<const Division> division() const;
  // The partitions that scanners of this process look after. Any thread.
  bool looks_after(PartitionIndex partition) const;
  std::vector<PartitionIndex> own_partitions() const;
  std::vector<keys::Partition> own(const std::vector<keys::Partition>& places) const;
  // A claim looks for work here. Any thread.
  void note_claim();

  // The first sign of life, when the store is opened.
  asio::awaitable<void> join();
  // Further ones, until the store is closed.
  asio::awaitable<void> keep_up();
  void wake() { wakeup_.wake(); }
  // The last one, before the connections are closed.
  asio::awaitable<void> leave();

 private:
  using Steady = std::chrono::steady_clock;

  bool claims() const;
  bool takes_part() const { return parts_.joins && (parts_.sweeps || claims()); }
  Async<void> beat(Millis lives);
  void set_division(Division division);
  void note_failure(const Error& error);
  Steady::time_point next_beat() const;

  Parts parts_;
  std::function<void()> on_change_ = [] {};
  mutable std::mutex mutex_;
  std::shared_ptr<const Division> division_ = std::make_shared<Division>();
  Wakeup wakeup_{parts_.background.executor()};
  std::atomic<Steady::rep> claimed_at_ = never;
  static constexpr Steady::rep never = Steady::time_point::min().time_since_epoch().count();
  // Only on the background's thread.
  bool told_claims_ = false;
  bool is_known_ = false;  // to the others
  bool is_leaving_ = false;
  bool is_lost_ = false;  // the store could not be asked for long
  Steady::time_point beaten_at_ = Steady::now();
  // When the first of the others is dead unless it gives another sign.
  Steady::time_point first_death_ = Steady::time_point::max();
};

}  // namespace ff::valkey_store
