// Looks again at budgets and quotas that refused work.
#pragma once

#include <functional>

#include "engine/scanner.hpp"
#include "engine/wait_reasons.hpp"

namespace ff {

// A window's room comes with time, and an opening by another process may go unheard. Claims that wait for
// such work are woken here, as many as may start.
class OpeningScanner final : public Scanner {
 public:
  // `offer` wakes claims that wait for such work, at most so many; `waiting` is how many claims wait.
  using Offer = std::function<void(const store::ReadyGroup&, std::size_t)>;
  OpeningScanner(store::Store& store, Gate& gate, Offer offer, std::function<std::size_t()> waiting)
      : store_(store), gate_(gate), offer_(std::move(offer)), waiting_(std::move(waiting)) {}

  std::string_view name() const override { return "openings"; }
  Async<Scan> run_once() override;

 private:
  // The room that each has.
  Async<std::vector<std::size_t>> look_up(const std::vector<Gate::Wanted>& wanted);

  store::Store& store_;
  Gate& gate_;
  Offer offer_;
  std::function<std::size_t()> waiting_;
};

}  // namespace ff
