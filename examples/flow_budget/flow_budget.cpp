// A budget that all nodes of a flow spend from: when it is used up, the rest of the flow waits until it is reset.
#include <flowfabric/flowfabric.hpp>

#include <iostream>

using namespace std::chrono_literals;

namespace {

ff::Outcome summarise(ff::Task& task) {
  ff::must(task.report_usage({{"tokens", 5}}));
  return task.payload().substr(0, 4) + "…";
}

ff::Outcome join(ff::Task& task) {
  std::string all;
  for (const auto& summary : task.inputs("summary")) all += summary.result + " ";
  return all;
}

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./flow_budget-data"));
  ff::Client client(*engine);
  ff::Worker worker(*engine);
  worker.handle("summarise", summarise);
  worker.handle("join", join);
  ff::must(worker.start());

  // [budget]
  const ff::BudgetSpec spec{.hard_limits = {{"tokens", 10}}};
  const auto budget = ff::must(client.create_budget({.spec = spec})).id;
  ff::Flow flow("book");
  flow.add("one", "summarise", "Call me Ishmael.");
  flow.add("two", "summarise", "Some years ago").after("one");
  flow.add("three", "summarise", "Having little money").after("two");
  flow.add("all", "join").after({"one", "two", "three"}, "summary");
  flow.budget(budget).result("all");
  // [budget]

  const auto submitted = ff::must(client.submit(flow)).flow;
  const auto nodes = ff::must(client.flow_nodes(submitted.id));
  ff::must(client.wait(nodes.at(1).id, 30s));
  const auto held = ff::must(client.get(nodes.at(2).id));
  std::cout << "three is " << to_string(held.state) << ": " << held.blocking_detail.value_or("")
            << std::endl;
  ff::must(client.reset_budget(budget));
  std::cout << ff::must(client.flow_result(submitted.id, 30s)).bytes << '\n';
}
