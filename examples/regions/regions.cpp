// Two regions are counted side by side, each by a flow of its own, which may run in another partition of the store.
#include <flowfabric/flowfabric.hpp>

#include <boost/json.hpp>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// [region]
ff::Flow region(const std::string& numbers) {
  ff::Flow flow("region");
  flow.add("read", "read", numbers);
  flow.add("count", "count").after("read");
  flow.result("count");
  return flow;
}
// [region]

std::int64_t sum_of(const boost::json::value& numbers) {
  std::int64_t sum = 0;
  for (const auto& each : numbers.as_array()) sum += each.as_int64();
  return sum;
}

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./regions-data"));
  ff::Worker worker(*engine, {.concurrency = 4});
  worker.handle("read", [](ff::Task& task) { return ff::Outcome(task.payload()); });
  worker.handle("count", [](ff::Task& task) {
    return ff::Outcome(std::to_string(sum_of(task.input_json("read"))));
  });
  worker.handle("report", [](ff::Task& task) {
    const auto eu = task.input_json("eu").as_int64();
    const auto us = task.input_json("us").as_int64();
    std::cout << "eu " << eu << ", us " << us << ": " << eu + us << '\n';
    return ff::Outcome("");
  });
  ff::must(worker.start());

  // [nodes]
  ff::Flow flow("report");
  flow.add("eu", region("[1, 2, 3]"));
  flow.add("us", region("[4, 5, 6]"));
  flow.add("report", "report").after({"eu", "us"});
  // [nodes]

  ff::Client client(*engine);
  const auto id = ff::must(client.submit(flow)).flow.id;
  ff::must(client.wait(id, 30s));
}
