// A program of another project: the blocking interface, the engine's own for coroutines, the test kit.
#include <flowfabric/engine.hpp>
#include <flowfabric/flowfabric.hpp>
#include <flowfabric/testing.hpp>

#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_service.hpp>
#include <boost/asio/use_future.hpp>

ff::Outcome greet(ff::Task& task) { return "Hello, " + task.payload() + "!"; }

int main() {
  ff::testing::TestTask test({.payload = "test kit"});
  std::cout << to_string(test.run(greet)) << '\n';

  const auto engine = ff::must(ff::open("embedded:./data"));
  ff::Worker worker(*engine);
  worker.handle("greet", greet);
  ff::must(worker.start());
  const auto submitted =
      ff::must(ff::Client(*engine).submit({.kind = "greet", .payload = "package"}));

  boost::asio::io_service context;  // deprecated, like run(failed): the library forbids neither
  ff::GetResult get{.id = submitted.id, .wait = std::chrono::seconds{30}};
  auto result = boost::asio::co_spawn(context, engine->run(get), boost::asio::use_future);
  boost::system::error_code failed;
  context.run(failed);
  std::cout << ff::must(result.get()).bytes << '\n';
}
