// A server as a process: open the store, listen, run until told to stop.
#pragma once

#include <functional>
#include <memory>

#include "cli/command.hpp"
#include "engine/local_engine.hpp"
#include "http/server.hpp"

namespace ff::cli {

// Declares the settings of a server.
void add_service_settings(Arguments& arguments);

class Service {
 public:
  // Takes SIGINT and SIGTERM from here on, for every thread that is started later.
  static Result<Service> start(const Settings& settings,
                               std::function<void(const Event&)> on_event = {});

  http::Server& server() { return *server_; }

  // Until SIGINT or SIGTERM, or until the store fails; in that case, its error.
  Result<ExitCode> wait_for_stop();

 private:
  Service(std::unique_ptr<LocalEngine> engine, std::unique_ptr<http::Server> server)
      : engine_(std::move(engine)), server_(std::move(server)) {}

  std::unique_ptr<LocalEngine> engine_;
  std::unique_ptr<http::Server> server_;
};

void set_log_level(const Settings& settings);

}  // namespace ff::cli
