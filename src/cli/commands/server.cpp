
#include "base/log.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "cli/service.hpp"

namespace ff::cli {
namespace {

// Tokens, certificates and webhooks as their files are now. If they are wrong, what was good stays.
void exchange_credentials(const Settings& settings, http::Server& server) {
  auto access = service_access(settings);
  if (access) {
    server.exchange(std::move(access->server.credentials));
    log::info("tokens, certificates and webhooks are read again");
  } else {
    log::error("tokens, certificates and webhooks stay as they were: {}", access.error().message);
  }
}

void warn_of_open_access(const std::string& url) {
  log::warn(
      "no token is set (FF_API_TOKEN, FF_TOKENS_FILE): everybody who reaches {} may submit, "
      "claim, cancel, revoke leases, reset budgets and make backups",
      url);
  log::warn("no token is set: everybody who reaches {} may read payloads and results", url);
}

}  // namespace

Run setup_server(Arguments& arguments) {
  add_service_settings(arguments);
  add_access_settings(arguments);
  arguments.examples(
      "  ff server --store embedded:/var/lib/flowfabric\n"
      "  ff server --config /etc/flowfabric/ff.conf --log-level warn\n"
      "  ff server --webhooks webhooks.json\n"
      "  ff server --listen 0.0.0.0:9090 --tokens-file tokens.json --tls-cert c.pem --tls-key "
      "k.pem");

  return [](const Context& context) -> Result<ExitCode> {
    const auto& settings = context.settings;
    auto access = service_access(settings);
    FF_TRY(access);
    const bool is_open = access->server.credentials.access->is_open();
    const bool is_for_all_pages = access->server.cors.is_for_all();
    auto service = Service::start(settings, std::move(*access));
    FF_TRY(service);
    auto& server = service->server();
    if (is_open) warn_of_open_access(server.url());
    if (is_open && is_for_all_pages)
      log::warn("no token is set and FF_CORS_ORIGINS is *: every web page that a user of {} opens may "
                "do everything",
                server.url());
    log::info("FlowFabric {} serves {} at {}", version, service->store(), server.url());
    auto stopped = service->wait_for_stop([&] { exchange_credentials(settings, server); });
    log::info("stopping");
    return stopped;
  };
}

}  // namespace ff::cli
