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
  OpeningScanner(store::Store& store, Gate& gate, Fleet& fleet, Offer offer,
                 std::function<std::size_t()> waiting)
      : store_(store),
        gate_(gate),
        fleet_(fleet),
        offer_(std::move(offer)),
        waiting_(std::move(waiting)) {}

  std::string_view name() const override { return "openings"; }
  Async<Scan> run_once() override;

 private:
  // Those whose turn it is: a budget's room is looked at less often than a quota's, which comes with time.
  std::vector<Gate::Wanted> due();
  // Wakes claims for the groups that need it and that nothing else holds back.
  Async<void> offer_what_needs(const Gate::Resource& what, WaitReasons& reasons,
                               std::size_t claims);

  store::Store& store_;
  Gate& gate_;
  Fleet& fleet_;
  Offer offer_;
  std::function<std::size_t()> waiting_;
  std::optional<TimePoint> budgets_looked_at_;
};

}  // namespace ff
