#include <spdlog/spdlog.h>

#include "base/version.hpp"
#include "cli/service.hpp"

namespace ff::cli {

Run setup_server(Arguments& arguments) {
  auto option = std::make_shared<ServiceOption>();
  option->add_to(arguments);
  arguments.examples("  ff server --store embedded:/var/lib/ff --listen 127.0.0.1:9090");

  return [option]() -> Result<ExitCode> {
    auto service = Service::start(*option);
    if (!service) return std::unexpected(service.error());
    spdlog::info("FlowFabric {} serves {} at {}", version, option->store, service->server().url());
    auto stopped = service->wait_for_stop();
    spdlog::info("stopping");
    return stopped;
  };
}

}  // namespace ff::cli
