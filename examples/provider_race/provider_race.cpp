// Three providers are asked the same question; the first answer counts, and the others are cancelled.
#include <flowfabric/flowfabric.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

ff::Outcome ask(ff::Task& task) {
  if (task.text() == "fast") return "42, says " + task.node()->str();
  // The others think until they are told to stop.
  while (!task.cancelled()) std::this_thread::sleep_for(10ms);
  return {};
}

ff::Outcome use(ff::Task& task) { return task.input("answer").bytes; }

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./provider_race-data"));
  // A short lease: a handler hears of a cancellation when its lease is renewed.
  ff::Worker worker(*engine, {.concurrency = 4, .lease_ttl = 1s});
  worker.handle("ask", ask);
  worker.handle("use", use);
  ff::must(worker.start());

  // [race]
  ff::Flow flow("race");
  flow.add("alpha", "ask", "slow").optional();
  flow.add("beta", "ask", "fast").optional();
  flow.add("gamma", "ask", "slow").optional();
  flow.add("first", "use").after_any({"alpha", "beta", "gamma"}, "answer").cancel_rest();
  flow.result("first");
  // [race]

  ff::Client client(*engine);
  const auto id = ff::must(client.submit(flow)).flow.id;
  std::cout << ff::must(client.flow_result(id, 30s)).bytes << '\n';
  for (const auto& node : ff::must(client.flow_nodes(id)))
    std::cout << node.name.str() << " " << to_string(node.state) << '\n';
}
