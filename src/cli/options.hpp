// Arguments that several commands share.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <memory>
#include <string>

#include "cli/command.hpp"

namespace ff::cli {

// --url: which engine a command talks to.
struct EngineOption {
  std::string url = "http://127.0.0.1:9090";

  void add_to(CLI::App& app) {
    app.add_option("--url", url, "The server (or embedded:DIR)")
        ->envname("FF_URL")
        ->capture_default_str();
  }
  Result<std::shared_ptr<Engine>> open() const { return ff::open(url); }
};

// --store and --listen: what a server serves, and where.
struct ServerOption {
  std::string store = "embedded:./ff-data";
  std::string listen = "127.0.0.1:9090";

  void add_to(CLI::App& app) {
    app.add_option("--store", store, "Where state is kept: embedded:DIR")
        ->envname("FF_STORE")
        ->capture_default_str();
    app.add_option("--listen", listen, "ADDRESS:PORT to serve on (loopback; port 0: any free one)")
        ->envname("FF_LISTEN_ADDR")
        ->capture_default_str();
  }
};

}  // namespace ff::cli
