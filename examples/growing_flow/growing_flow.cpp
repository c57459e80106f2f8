// A flow that grows while it runs: a node for each entry of a list, children of a running node, and nodes that a node
// adds when it ends.
#include <flowfabric/flowfabric.hpp>

#include <boost/json.hpp>
#include <iostream>
#include <sstream>

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

ff::Outcome split(ff::Task&) {
  return ff::Outcome::completed(R"(["it was a dark night", "and it rained", "all night and all day"])",
                                "application/json");
}

// Once for each chapter: the payload is its entry of the list.
ff::Outcome count(ff::Task& task) {
  std::istringstream chapter{std::string(task.json().as_string())};
  int words = 0;
  for (std::string word; chapter >> word;) ++words;
  return ff::Outcome::completed(std::to_string(words), "application/json");
}

// [spawn]
ff::Outcome sum(ff::Task& task) {
  std::int64_t words = 0;
  const auto chapters = task.input_json("chapters");
  for (const auto& each : chapters.as_array()) words += each.as_int64();
  std::cout << words << " words in " << chapters.as_array().size() << " chapters\n";

  ff::Flow more;
  more.add("review", "review");  // depends on this node
  return ff::Outcome(std::to_string(words)).spawn(more);
}
// [spawn]

// [children]
ff::Outcome review(ff::Task& task) {
  ff::Flow readers;
  readers.add("first-reader", "read");
  readers.add("second-reader", "read");
  const auto answers = task.run_children(readers);  // the handler ends here, and runs again when they have ended
  return "checked by " + std::to_string(answers.size());
}
// [children]

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./growing_flow-data"));
  ff::Worker worker(*engine, {.concurrency = 4});
  worker.handle("split", split);
  worker.handle("count", count);
  worker.handle("sum", sum);
  worker.handle("review", review);
  worker.handle("read", [](ff::Task&) { return ff::Outcome("fine"); });
  ff::must(worker.start());

  // [map]
  ff::Flow flow("book");
  flow.add("list", "split");
  flow.add("chapters", "count").map("list", {.max_parallel = 2});
  flow.add("sum", "sum").after("chapters");
  // [map]

  ff::Client client(*engine);
  const auto id = ff::must(client.submit(flow)).flow.id;
  ff::must(client.wait(id, 30s));
  for (const auto& node : ff::must(client.flow_nodes(id)))
    if (node.name.str() == "review") std::cout << ff::must(client.result(node.id, 0s)) << '\n';
}
