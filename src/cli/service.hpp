// A server as a process: open the store, listen, run until told to stop.
#pragma once

#include <functional>
#include <memory>

#include "cli/command.hpp"
#include "engine/local_engine.hpp"
#include "http/server/server.hpp"

namespace ff::cli {

// Declares the settings that a server has in any case, and those of one that others can reach.
void add_service_settings(Arguments& arguments);
void add_access_settings(Arguments& arguments);

// Access to a server: clients, addresses and limits; from the settings of add_access_settings().
struct ServiceAccess {
  http::ServerOptions server = {};
  http::Reach reach = http::Reach::loopback;
};
Result<ServiceAccess> service_access(const Settings& settings);

class Service {
 public:
  // Takes SIGINT, SIGTERM and SIGHUP from here on, for every thread that is started later.
  static Result<Service> start(const Settings& settings, ServiceAccess access,
                               std::function<void(const Event&)> on_event = {});

  http::Server& server() { return *server_; }
  const std::string& store() const { return store_; }  // its URL, without a password

  // Until SIGINT or SIGTERM, or until the store fails; in that case, its error. SIGHUP is handed on.
  Result<ExitCode> wait_for_stop(const std::function<void()>& on_hangup);

 private:
  Service(std::string store, std::unique_ptr<LocalEngine> engine,
          std::unique_ptr<http::Server> server)
      : store_(std::move(store)), engine_(std::move(engine)), server_(std::move(server)) {}

  std::string store_;
  std::unique_ptr<LocalEngine> engine_;
  std::unique_ptr<http::Server> server_;
};

void set_log_level(const Settings& settings);

}  // namespace ff::cli
