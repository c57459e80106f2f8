// Waiting for the end of an execution.
#pragma once

#include <flowfabric/client.hpp>

#include <mutex>
#include <string>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/output/output.hpp"

namespace ff::cli {

// --wait and --timeout: whether a command waits for the end, and how long.
struct WaitOption {
  bool wait = false;
  Millis timeout = std::chrono::seconds{60};

  void add_to(Arguments& arguments, const char* what) {
    arguments.flag("--wait", wait, what);
    arguments.option("--timeout", timeout, "With --wait: how long at most (default: 1m)");
  }
  Millis limit() const { return wait ? timeout : Millis{0}; }
};

// SIGINT and SIGTERM end the process at once, as they would without it, but the id of what was submitted is printed to
// standard error first. It takes the signals from every thread that is started later, so it must come before the
// engine; it lives as long as the process.
class IdAtInterrupt {
 public:
  IdAtInterrupt();
  void set(std::string work);  // "execution ID"; before, nothing is printed

 private:
  struct Shared {
    std::mutex mutex;
    std::string work;
  };
  std::shared_ptr<Shared> shared_;
};

inline Result<ExitCode> print_result(const Context& context, Engine& engine, const ExecutionId& id,
                                     Millis limit) {
  Client client(engine);
  // A wait would try again and again to reach a server that may not be there.
  FF_TRY(client.state(id));
  auto result = client.result(id, limit);
  FF_TRY(result);
  print_bytes(context, "result", id, {.bytes = std::move(*result)});
  return ExitCode::ok;
}

}  // namespace ff::cli
