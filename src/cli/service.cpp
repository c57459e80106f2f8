#include "cli/service.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <thread>

#include <sys/resource.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text/redact.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/log.hpp"
#include "http/transport/tls.hpp"
#include "sdk/client/blocking.hpp"
#include "store/open_store.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::cli {
namespace {

sigset_t taken_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

// Connections and the store's files may be more than the usual limit of a process allows.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

// Safe inside any part of a URL.
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_')
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", byte);
  }
  return encoded;
}

void add_parameter(std::string& url, std::string_view name, std::string_view value) {
  const char separator = url.find('?') == std::string::npos ? '?' : '&';
  url += fmt::format("{}{}={}", separator, name, percent_encoded(value));
}

bool has_parameter(const std::string& url, std::string_view name) {
  const auto query = url.substr(std::min(url.find('?'), url.size()));
  return query.find(fmt::format("?{}=", name)) != std::string::npos ||
         query.find(fmt::format("&{}=", name)) != std::string::npos;
}

// Of a store on Valkey, as parameters of its URL.
struct PartitionCount {
  std::string_view parameter;
  Setting setting;
};
constexpr std::array partition_counts{
    PartitionCount{"partitions", Setting::flow_partitions},
    PartitionCount{"budget_partitions", Setting::budget_partitions},
    PartitionCount{"quota_partitions", Setting::quota_partitions}};

Result<std::string> with_partition_counts(std::string url, const Settings& settings) {
  for (const auto& [parameter, setting] : partition_counts) {
    const auto& count = settings.value(setting);
    if (count.text.empty()) continue;
    if (!valkey_store::is_valkey_url(url))
      return fail(
          Errc::invalid_input,
          fmt::format("{} is for a store on Valkey; the number of partitions of '{}' is fixed",
                      count.where, printable(without_password(url))));
    if (has_parameter(url, parameter))
      return fail(Errc::invalid_input,
                  fmt::format("{} and {} in the store's URL say the same; give one of them",
                              count.where, parameter));
    add_parameter(url, parameter, count.text);
  }
  return url;
}

ScannerFilter scanner_filter(const Settings& settings) {
  ScannerFilter filter;
  if (const auto& ns = settings.text(Setting::scanner_namespace); !ns.empty())
    filter.ns = *Namespace::parse(ns);
  if (const auto& tag = settings.text(Setting::scanner_tag); !tag.empty()) {
    const auto equals = tag.find('=');
    filter.tag = {tag.substr(0, equals), tag.substr(equals + 1)};
  }
  return filter;
}

LocalEngineOptions engine_options(const Settings& settings) {
  return {
      .threads = std::max(2u, std::thread::hardware_concurrency()),
      .intervals = {.lease_expiry = settings.duration(Setting::lease_expiry_interval),
                    .delayed_promoter = settings.duration(Setting::delayed_promoter_interval),
                    .attempt_timeout = settings.duration(Setting::attempt_timeout_interval),
                    .execution_deadline = settings.duration(Setting::execution_deadline_interval),
                    .grant_expiry = settings.duration(Setting::grant_expiry_interval),
                    .suspension_timeout = settings.duration(Setting::suspension_timeout_interval),
                    .waitpoint_expiry = settings.duration(Setting::waitpoint_expiry_interval),
                    .dependency_reconciler =
                        settings.duration(Setting::dependency_reconciler_interval),
                    .flow_projector = settings.duration(Setting::flow_projector_interval),
                    .cancel_reconciler = settings.duration(Setting::cancel_reconciler_interval),
                    .edge_cancel_dispatcher =
                        settings.duration(Setting::edge_cancel_dispatcher_interval),
                    .edge_cancel_reconciler =
                        settings.duration(Setting::edge_cancel_reconciler_interval),
                    .retention_trimmer = settings.duration(Setting::retention_trimmer_interval),
                    .index_reconciler = settings.duration(Setting::index_reconciler_interval),
                    .unblock = settings.duration(Setting::unblock_interval),
                    .openings = settings.duration(Setting::unblock_interval),
                    .budget_reset = settings.duration(Setting::budget_reset_interval),
                    .budget_reconciler = settings.duration(Setting::budget_reconciler_interval),
                    .quota_reconciler = settings.duration(Setting::quota_reconciler_interval)},
      .filter = scanner_filter(settings),
      .retention_default = settings.duration(Setting::retention),
      .waitpoint_secret_grace = settings.duration(Setting::waitpoint_grace),
      .audit_entries_max = settings.number(Setting::audit_entries),
      .audit_retention = settings.duration(Setting::audit_retention)};
}

// The store that FF_VALKEY_HOST and its companions name; "" if they name none.
Result<std::string> valkey_url(const Settings& settings) {
  const auto& host = settings.text(Setting::valkey_host);
  if (host.empty()) return std::string{};
  if (const auto& store = settings.value(Setting::store);
      store.source != SettingSource::default_value)
    return fail(Errc::invalid_input,
                fmt::format("{} and {} both say where the state is kept; give one of them",
                            store.where, settings.value(Setting::valkey_host).where));
  auto url = fmt::format("valkey{}{}://", settings.is_on(Setting::valkey_tls) ? "s" : "",
                         settings.is_on(Setting::valkey_cluster) ? "-cluster" : "");
  const auto& user = settings.text(Setting::valkey_user);
  const auto& password = settings.text(Setting::valkey_password);
  if (!user.empty() || !password.empty())
    url += fmt::format("{}:{}@", percent_encoded(user), percent_encoded(password));
  url += fmt::format("{}:{}", host, settings.text(Setting::valkey_port));
  if (const auto& ca_file = settings.text(Setting::valkey_ca_file); !ca_file.empty())
    add_parameter(url, "ca_file", ca_file);
  return url;
}

// The store's URL says how durable it is, if the setting does not.
Result<std::string> store_url(const Settings& settings) {
  auto on_valkey = valkey_url(settings);
  FF_TRY(on_valkey);
  if (!on_valkey->empty()) return with_partition_counts(std::move(*on_valkey), settings);
  auto with_counts = with_partition_counts(settings.text(Setting::store), settings);
  FF_TRY(with_counts);
  auto& url = *with_counts;
  const auto& durability = settings.value(Setting::durability);
  if (durability.source == SettingSource::default_value) return url;
  if (has_parameter(url, "durability"))
    return fail(Errc::invalid_input,
                fmt::format("{} and the store's URL both say how durable it is; give one of them",
                            durability.where));
  add_parameter(url, "durability", durability.text);
  return url;
}

}  // namespace

void add_service_settings(Arguments& arguments) {
  arguments.settings({Setting::store,
                      Setting::valkey_host,
                      Setting::valkey_port,
                      Setting::valkey_tls,
                      Setting::valkey_cluster,
                      Setting::valkey_user,
                      Setting::valkey_password,
                      Setting::valkey_ca_file,
                      Setting::flow_partitions,
                      Setting::budget_partitions,
                      Setting::quota_partitions,
                      Setting::listen,
                      Setting::waitpoint_secret,
                      Setting::waitpoint_grace,
                      Setting::durability,
                      Setting::retention,
                      Setting::audit_retention,
                      Setting::audit_entries,
                      Setting::log_level,
                      Setting::lease_expiry_interval,
                      Setting::delayed_promoter_interval,
                      Setting::attempt_timeout_interval,
                      Setting::execution_deadline_interval,
                      Setting::grant_expiry_interval,
                      Setting::suspension_timeout_interval,
                      Setting::waitpoint_expiry_interval,
                      Setting::dependency_reconciler_interval,
                      Setting::flow_projector_interval,
                      Setting::cancel_reconciler_interval,
                      Setting::edge_cancel_dispatcher_interval,
                      Setting::edge_cancel_reconciler_interval,
                      Setting::retention_trimmer_interval,
                      Setting::index_reconciler_interval,
                      Setting::unblock_interval,
                      Setting::budget_reset_interval,
                      Setting::budget_reconciler_interval,
                      Setting::quota_reconciler_interval,
                      Setting::scanner_namespace,
                      Setting::scanner_tag});
}

void add_access_settings(Arguments& arguments) {
  arguments.settings({Setting::api_token, Setting::tokens_file, Setting::webhooks,
                      Setting::tls_cert, Setting::tls_key, Setting::insecure_listen,
                      Setting::max_connections, Setting::max_long_polls, Setting::max_tails,
                      Setting::max_tails_per_token, Setting::cors_origins,
                      Setting::session_ttl, Setting::behind_https,
                      Setting::max_stream_ops});
}

Result<ServiceAccess> service_access(const Settings& settings) {
  auto tokens =
      http::Access::load(settings.text(Setting::api_token), settings.text(Setting::tokens_file));
  FF_TRY(tokens);
  ServiceAccess access;
  auto& server = access.server;
  server.credentials.access = std::move(*tokens);
  if (const auto& file = settings.text(Setting::webhooks); !file.empty()) {
    auto webhooks = http::Webhooks::load(file);
    FF_TRY(webhooks);
    server.credentials.webhooks = std::move(*webhooks);
  }
  const http::TlsFiles files{.certificate = settings.text(Setting::tls_cert),
                             .key = settings.text(Setting::tls_key)};
  if (files.given()) {
    auto tls = http::server_tls(files);
    FF_TRY(tls);
    server.credentials.tls = std::move(*tls);
  }
  server.limits.connections = settings.number(Setting::max_connections);
  server.limits.long_polls = settings.number(Setting::max_long_polls);
  server.limits.stream_ops = settings.number(Setting::max_stream_ops);
  server.limits.tails = settings.number(Setting::max_tails);
  server.limits.tails_each = settings.number(Setting::max_tails_per_token);
  server.limits.sessions.ttl = settings.duration(Setting::session_ttl);
  server.limits.behind_https = settings.is_on(Setting::behind_https);
  std::vector<std::string> no_origins;
  auto cors = http::Cors::parse(settings.text(Setting::cors_origins), &no_origins);
  FF_TRY(cors);
  for (const auto& entry : no_origins)
    log::warn("{}: '{}' is not an origin like https://app.example.com; it is left out",
              settings.value(Setting::cors_origins).where, entry);
  server.cors = std::move(*cors);
  if (!server.credentials.access->is_open() || settings.is_on(Setting::insecure_listen))
    access.reach = http::Reach::anywhere;
  return access;
}

Result<Service> Service::start(const Settings& settings, ServiceAccess access,
                               std::function<void(const Event&)> on_event) {
  set_log_level(settings);
  raise_file_limit();
  const auto signals = taken_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // The port first: a wrong or taken one must not leave a data directory behind.
  auto listener = http::Listener::bind(settings.text(Setting::listen), access.reach);
  FF_TRY(listener);
  const auto url = store_url(settings);
  FF_TRY(url);
  store::OpenStoreOptions store_options{.clock = std::make_shared<SystemClock>()};
  if (const auto& secret = settings.text(Setting::waitpoint_secret); !secret.empty())
    store_options.waitpoint_secret = *WaitpointSecret::parse(secret);
  auto store = store::open_store(*url, std::move(store_options));
  FF_TRY(store);
  auto options = engine_options(settings);
  options.on_event = std::move(on_event);
  auto engine = std::make_unique<LocalEngine>(std::move(*store), std::move(options));
  access.server.on_cut = [engine = engine.get()] { engine->break_off(); };
  auto server =
      std::make_unique<http::Server>(*engine, std::move(*listener), std::move(access.server));
  return Service(without_password(*url), std::move(engine), std::move(server));
}

Result<ExitCode> Service::wait_for_stop(const std::function<void()>& on_hangup) {
  const auto signals = taken_signals();
  constexpr timespec health_interval{.tv_sec = 0, .tv_nsec = 500'000'000};
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &health_interval);
    if (signal == SIGINT || signal == SIGTERM) {
      end_at_next_signal();
      return ExitCode::ok;
    }
    if (signal == SIGHUP) on_hangup();
    const auto health = run_blocking(*engine_, Health{});
    FF_TRY(health);
  }
}

void set_log_level(const Settings& settings) { log_to_stderr(settings.text(Setting::log_level)); }

}  // namespace ff::cli
