// A durable "hello": the engine runs inside this program, its state is in ./hello-data.
#include <flowfabric/flowfabric.hpp>

#include <iostream>

int main() {
  using namespace std::chrono_literals;

  const auto engine = ff::must(ff::open("embedded:./hello-data"));

  ff::Worker worker(*engine);
  worker.handle("greet", [](ff::Task& task) { return "Hello, " + task.payload() + "!"; });
  ff::must(worker.start());

  ff::Client client(*engine);
  const auto submitted = ff::must(client.submit({.kind = "greet", .payload = "world"}));
  std::cout << ff::must(client.result(submitted.id, 10s)) << '\n';
}
