#include <spdlog/spdlog.h>

#include "base/version.hpp"
#include "cli/service.hpp"

namespace ff::cli {

Run setup_server(Arguments& arguments) {
  add_service_settings(arguments);
  arguments.examples(
      "  ff server --store embedded:/var/lib/flowfabric\n"
      "  ff server --config /etc/flowfabric/ff.conf --log-level warn");

  return [](const Context& context) -> Result<ExitCode> {
    auto service = Service::start(context.settings);
    if (!service) return std::unexpected(service.error());
    spdlog::info("FlowFabric {} serves {} at {}", version, context.settings.text(Setting::store),
                 service->server().url());
    auto stopped = service->wait_for_stop();
    spdlog::info("stopping");
    return stopped;
  };
}

}  // namespace ff::cli
