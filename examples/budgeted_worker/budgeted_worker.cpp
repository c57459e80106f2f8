// A budget for work that costs something: handlers say what they used, and once it is used up the rest
// of the work waits until the budget is reset.
#include <flowfabric/flowfabric.hpp>

#include <iostream>

using namespace std::chrono_literals;

namespace {

// [spend]
// Says what it has used. Whoever pays is the engine's business: the execution knows its budgets.
ff::Outcome summarise(ff::Task& task) {
  const auto summary = task.payload().substr(0, 5) + "…";
  const auto usage = ff::must(task.report_usage({{"tokens", 5}}));
  if (usage.outcome == ff::UsageOutcome::soft_breach)
    std::cout << "nearly used up: " << usage.breach->usage << " tokens\n";
  return summary;
}
// [spend]

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./budgeted_worker-data"));
  ff::Client client(*engine);

  // [budget]
  const ff::BudgetSpec spec{.hard_limits = {{"tokens", 10}}, .soft_limits = {{"tokens", 8}}};
  const auto budget = ff::must(client.create_budget({.spec = spec})).id;
  const ff::Policy policy{.budgets = {budget}};
  // [budget]

  ff::Worker worker(*engine);
  worker.handle("summarise", summarise);
  ff::must(worker.start());

  const auto submit = [&](const char* text) {
    return ff::must(client.submit({.kind = "summarise", .payload = text, .policy = policy})).id;
  };
  for (const char* text : {"Call me Ishmael.", "Some years ago, never mind how long."})
    std::cout << ff::must(client.result(submit(text), 30s)) << '\n';

  // [why]
  const auto third = submit("Having little or no money in my purse.");
  for (const auto& obstacle : ff::must(client.why(third)).obstacles)
    std::cout << to_string(obstacle.reason) << ": " << obstacle.detail << '\n';
  ff::must(client.reset_budget(budget));
  std::cout << ff::must(client.result(third, 30s)) << '\n';
  // [why]
}
