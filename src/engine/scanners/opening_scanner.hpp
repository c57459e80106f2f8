// Looks again at budgets and quotas that refused work.
#pragma once

#include <functional>

#include "engine/scanner.hpp"
#include "engine/starting/wait_reasons.hpp"

namespace ff {

// A window's room comes with time, and an opening by another process may go unheard. Claims that wait for
// such work are woken here, as many as may start.
class OpeningScanner final : public Scanner {
 public:
  // `offer` wakes claims that wait for such work, at most so many; `waiting` is how many claims wait.
  using Offer = std::function<void(const store::ReadyGroup&, std::size_t)>;
  OpeningScanner(store::Store& store, StartGate& gate, WorkerCache& workers, Offer offer,
                 std::function<std::size_t()> waiting)
      : store_(store),
        gate_(gate),
        workers_(workers),
        offer_(std::move(offer)),
        waiting_(std::move(waiting)) {}

  std::string_view name() const override { return "openings"; }
  Async<Scan> run_once() override;

 private:
  // Resources due for a look: budgets less often than quotas, whose room comes with time.
  std::vector<StartGate::Wanted> due();
  // Wakes claims for the groups that need it and that nothing else holds back.
  Async<void> offer_what_needs(const StartGate::Resource& what, WaitReasons& reasons,
                               std::size_t claims);

  store::Store& store_;
  StartGate& gate_;
  WorkerCache& workers_;
  Offer offer_;
  std::function<std::size_t()> waiting_;
  std::optional<TimePoint> budgets_looked_at_;
};

}  // namespace ff
