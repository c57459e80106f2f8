// Tells of executions that cannot start what they wait for, and when that is over.
#pragma once

#include <functional>

#include "engine/fleet.hpp"
#include "engine/gate.hpp"
#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

// Whether those who need the same may start: looked up once per pass, whoever asks.
class Judge {
 public:
  Judge(store::Store& store, Fleet& fleet) : store_(store), fleet_(fleet) {}

  // None: nothing but a worker's turn is missing. Budgets and quotas that cannot be read are an error.
  Async<std::optional<Refused>> operator()(const Namespace& ns, const core::Needs& needs);

  // Whether its quota lets one more start now; that one is then taken.
  bool take_room(const core::Needs& needs);

  // The last thing that could not be read.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  struct Room {
    std::optional<Refused> refused = {};
    std::uint64_t left = 0;
  };
  Async<std::optional<Refused>> budget(const BudgetId& id);
  Async<std::optional<Refused>> quota(const QuotaId& id);

  store::Store& store_;
  Fleet& fleet_;
  std::optional<Error> failure_;
  std::map<BudgetId, Result<std::optional<Refused>>> budgets_;
  std::map<QuotaId, Result<Room>> quotas_;
  std::map<std::pair<Namespace, CapabilitySet>, bool> covered_;
};

class UnblockScanner final : public Scanner {
 public:
  // `offer` wakes those who wait for such work.
  UnblockScanner(store::Store& store, Fleet& fleet,
                 std::function<void(const store::ReadyGroup&, std::size_t room)> offer)
      : store_(store), fleet_(fleet), offer_(std::move(offer)) {}

  std::string_view name() const override { return "unblock"; }
  Async<Scan> run_once() override;

  // A worker came: lets go at once what waited for one like it.
  asio::awaitable<void> promote(const Namespace& ns);

 private:
  static constexpr std::size_t batch_max = 256;
  static constexpr std::size_t pages_max = 64;  // of one run; the next one goes on from there

  Async<Scan> look_at_groups(Judge& judge);
  asio::awaitable<std::size_t> call_blocked(const store::ReadyGroup& group, const Refused& refused);
  asio::awaitable<std::size_t> open(const store::ReadyGroup& group, Judge& judge);
  Async<Scan> look_at_all(Judge& judge);
  Async<Scan> let_go(Judge& judge, store::FindBlocked& query, const std::optional<Namespace>& ns);

  store::Store& store_;
  Fleet& fleet_;
  std::function<void(const store::ReadyGroup&, std::size_t)> offer_;
  std::map<BlockingReason, std::optional<std::string>> places_;  // where to go on
  TimePoint look_at_all_at_{};
};

}  // namespace ff
