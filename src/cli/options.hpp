// Arguments that several commands share.
#pragma once

#include <flowfabric/client.hpp>
#include <flowfabric/open.hpp>
#include <flowfabric/time.hpp>

#include <memory>
#include <string>

#include "cli/command.hpp"

namespace ff::cli {

// --url: which engine a command talks to.
struct EngineOption {
  std::string url = "http://127.0.0.1:9090";

  void add_to(Arguments& arguments) {
    arguments.option("--url", url, "The server (or embedded:DIR)", "FF_URL");
  }
  Result<std::shared_ptr<Engine>> open() const { return ff::open(url); }
};

// ID and --url: the execution that a command is about, and the engine that has it.
struct ExecutionOption {
  EngineOption engine;
  std::string id;

  void add_to(Arguments& arguments) {
    arguments.positional("id", id, "The execution", Arguments::Need::required);
    engine.add_to(arguments);
  }

  // Opens the engine and lets `use` do the command's work on it.
  using Use = std::function<Result<ExitCode>(Client& client, const ExecutionId& id)>;
  Result<ExitCode> with(const Use& use) const {
    const auto parsed = ExecutionId::parse(id);
    if (!parsed) return std::unexpected(parsed.error());
    const auto opened = engine.open();
    if (!opened) return std::unexpected(opened.error());
    Client client(**opened);
    return use(client, *parsed);
  }
};

// --wait and --timeout: whether a command waits for the end of an execution, and how long.
struct WaitOption {
  bool wait = false;
  double timeout_seconds = 60;

  void add_to(Arguments& arguments, const char* what) {
    arguments.flag("--wait", wait, what);
    arguments.seconds("--timeout", timeout_seconds, "With --wait: how many seconds at most");
  }
  Millis limit() const {
    return wait ? std::chrono::ceil<Millis>(std::chrono::duration<double>(timeout_seconds))
                : Millis{0};
  }
};

// --store and --listen: what a server serves, and where.
struct ServiceOption {
  std::string store = "embedded:./ff-data";
  std::string listen = "127.0.0.1:9090";

  void add_to(Arguments& arguments) {
    arguments.option("--store", store, "Where state is kept: embedded:DIR", "FF_STORE");
    arguments.option("--listen", listen, "IP:PORT to serve on (loopback; port 0: any free one)",
                     "FF_LISTEN_ADDR");
  }
};

}  // namespace ff::cli
