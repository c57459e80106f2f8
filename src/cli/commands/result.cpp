#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_result(Arguments& arguments) {
  struct Given {
    ExecutionOption execution;
    WaitOption wait;
  };
  auto given = std::make_shared<Given>();
  given->execution.add_to(arguments);
  given->wait.add_to(arguments, "Wait for its end");

  return [given] {
    return given->execution.with([&](Client& client, const ExecutionId& id) {
      return print_result(client, id, given->wait.limit());
    });
  };
}

}  // namespace ff::cli
