// Durable jobs inside an existing program: a shop that takes orders in its own main loop and leaves the
// invoices to an engine in the same process. `embedded_jobs die` ends it in the middle, as a crash would;
// run again, it takes up what was left, and writes no invoice twice.
#include <flowfabric/flowfabric.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

namespace {

struct Order {
  int number;
  int euros;
};

// The shop's only tie to FlowFabric: what it asks for here will be done, whatever happens to the process.
class Invoices {
 public:
  Invoices() {
    worker_.handle("invoice",
                   [](ff::Task& task) { return "invoice over " + task.text() + " EUR"; });
    ff::must(worker_.start());
  }

  // [enqueue]
  // On disk when it returns. Asked for twice, for example because the shop was restarted before it could
  // note the first time, it is still one job: the key says so.
  ff::ExecutionId enqueue(const Order& order) {
    const auto submitted =
        ff::must(client_.submit({.kind = "invoice",
                                 .payload = std::to_string(order.euros),
                                 .idempotency_key = "order-" + std::to_string(order.number)}));
    std::cout << "order " << order.number
              << (submitted.duplicate ? ": its invoice was queued before"
                                      : ": its invoice is queued")
              << std::endl;
    return submitted.id;
  }
  // [enqueue]

  std::string text(const ff::ExecutionId& id) { return ff::must(client_.result(id, 30s)); }

 private:
  // In the order in which they may go: the worker stops before the engine does. A job that was running
  // when the process died is run again when its lease runs out, so a short one.
  std::shared_ptr<ff::Engine> engine_ = ff::must(ff::open("embedded:./embedded_jobs-data"));
  ff::Client client_{*engine_};
  ff::Worker worker_{*engine_, {.concurrency = 2, .lease_ttl = 1s}};
};

}  // namespace

int main(int count, char** arguments) {
  const bool die = count > 1 && arguments[1] == std::string_view("die");
  const std::vector<Order> orders{{1, 10}, {2, 20}, {3, 30}};

  Invoices invoices;
  std::vector<ff::ExecutionId> ids;
  for (const auto& order : orders) {
    if (die && order.number == 3) std::_Exit(EXIT_SUCCESS);  // nothing is tidied up
    ids.push_back(invoices.enqueue(order));
  }
  for (std::size_t i = 0; i < orders.size(); ++i)
    std::cout << "order " << orders[i].number << ": " << invoices.text(ids[i]) << '\n';
}
