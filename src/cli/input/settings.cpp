#include "cli/input/settings.hpp"

#include <flowfabric/ids.hpp>
#include <flowfabric/secrets.hpp>

#include <array>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/input/duration.hpp"
#include "cli/input/number.hpp"
#include "core/validation/validate.hpp"
#include "core/waitpoints/key_ring.hpp"
#include "http/server/access/cors.hpp"
#include "store/durability.hpp"

namespace ff::cli {
namespace {

Result<void> any_text(std::string_view) { return {}; }

Result<void> done(const Result<Millis>& parsed) {
  FF_TRY(parsed);
  return {};
}
Result<void> a_duration(std::string_view text) { return done(parse_duration(text)); }

Result<void> a_duration_in_ms(std::string_view text) {
  return done(parse_duration(text, Millis{1}));
}

// How long a scanner waits at most, in the unit that a bare number has.
constexpr Millis scan_interval_min{100};

template <Millis::rep bare_unit_ms>
Result<void> an_interval(std::string_view text) {
  const auto interval = parse_duration(text, Millis{bare_unit_ms});
  if (interval && *interval < scan_interval_min)
    return fail(Errc::invalid_input, fmt::format("'{}' is too often; at least {}", printable(text),
                                                 format_duration(scan_interval_min)));
  return done(interval);
}

Result<void> origins(std::string_view text) {
  FF_TRY(http::Cors::parse(text));
  return {};
}

constexpr NumberRange count_range{1, 1'000'000};

Result<void> a_count(std::string_view text) {
  const auto count = parse_number(text, count_range);
  FF_TRY(count);
  return {};
}

Result<void> a_port(std::string_view text) {
  const auto port = parse_number(text, NumberRange{1, 65'535});
  FF_TRY(port);
  return {};
}

// Empty: the store's own. The text is not repeated: it may be most of a secret.
Result<void> a_secret(std::string_view text) {
  if (text.empty()) return {};
  const auto secret = WaitpointSecret::parse(text);
  FF_TRY(secret);
  return core::check_length(*secret);
}

// Empty: as the store has them.
Result<void> a_partition_count(std::string_view text) {
  if (text.empty()) return {};
  const auto count = parse_number(text, NumberRange{1, 32'767});
  FF_TRY(count);
  return {};
}

// Empty: all of them.
Result<void> a_namespace(std::string_view text) {
  if (text.empty()) return {};
  FF_TRY(Namespace::parse(std::string(text)));
  return {};
}
Result<void> a_tag(std::string_view text) {
  const auto equals = text.find('=');
  if (text.empty()) return {};
  if (equals != std::string_view::npos)
    return core::tag_valid(text.substr(0, equals), text.substr(equals + 1));
  return fail(Errc::invalid_input,
              fmt::format("'{}' is not a tag; write it as KEY=VALUE", printable(text)));
}

Result<void> one_of(std::string_view text, std::string_view choices) {
  const auto padded = fmt::format("|{}|", choices);
  if (text.find('|') == std::string_view::npos && !text.empty() &&
      padded.find(fmt::format("|{}|", text)) != std::string::npos)
    return {};
  return fail(Errc::invalid_input, fmt::format("'{}' is not one of {}", printable(text), choices));
}

constexpr std::string_view durabilities = "relaxed|standard|strict";
constexpr std::string_view log_levels = "trace|debug|info|warn|error|critical|off";
Result<void> yes_or_no(std::string_view text) { return one_of(text, "true|false|1|0"); }
Result<void> a_durability(std::string_view text) { return one_of(text, durabilities); }
Result<void> a_log_level(std::string_view text) { return one_of(text, log_levels); }

constexpr std::array table{
    SettingInfo{
        Setting::url, "url", "FF_URL", "http://127.0.0.1:9090", "URL",
        "The engine that a command talks to: a server, `embedded:DIR` in this process, or a Valkey "
        "(`valkey://HOST:PORT`)",
        any_text},
    SettingInfo{Setting::token, "token", "FF_TOKEN", "", "TEXT",
                "The token that a server wants from its clients", any_text, true},
    SettingInfo{Setting::token_file, "token-file", "FF_TOKEN_FILE", "", "FILE",
                "The file that holds that token, if the variable does not", any_text},
    SettingInfo{Setting::ca_file, "ca-file", "FF_CA_FILE", "", "FILE",
                "CA bundle (PEM) for verifying the server, instead of the system's CAs", any_text},
    SettingInfo{Setting::ns, "namespace", "FF_NAMESPACE", "default", "NAME",
                "The tenant whose executions a command is about", any_text},
    SettingInfo{Setting::store, "store", "FF_STORE", "embedded:./ff-data", "URL",
                "Where a server keeps its state: `embedded:DIR`, or a Valkey "
                "(`valkey://HOST:PORT`, `valkey-cluster://…`)",
                any_text},
    SettingInfo{Setting::valkey_host, "valkey-host", "FF_VALKEY_HOST", "", "HOST",
                "The Valkey that a server keeps its state in, instead of a store's URL", any_text,
                false, "FF_HOST"},
    SettingInfo{Setting::valkey_port, "valkey-port", "FF_VALKEY_PORT", "6379", "NUMBER",
                "The port of that Valkey", a_port, false, "FF_PORT"},
    SettingInfo{Setting::valkey_tls, "valkey-tls", "FF_VALKEY_TLS", "false", "",
                "Talk to that Valkey over TLS", yes_or_no, false, "FF_TLS"},
    SettingInfo{Setting::valkey_cluster, "valkey-cluster", "FF_VALKEY_CLUSTER", "false", "",
                "That Valkey is a node of a cluster", yes_or_no, false, "FF_CLUSTER"},
    SettingInfo{Setting::valkey_user, "valkey-user", "FF_VALKEY_USER", "", "NAME",
                "The ACL user of that Valkey", any_text},
    SettingInfo{Setting::valkey_password, "valkey-password", "FF_VALKEY_PASSWORD", "", "TEXT",
                "The password of that user", any_text, true},
    SettingInfo{Setting::valkey_ca_file, "valkey-ca-file", "FF_VALKEY_CA_FILE", "", "FILE",
                "CA bundle (PEM) for verifying that Valkey", any_text},
    SettingInfo{Setting::flow_partitions, "flow-partitions", "FF_FLOW_PARTITIONS", "", "NUMBER",
                "How many partitions of executions that Valkey has, fixed when the store is made "
                "(256)",
                a_partition_count},
    SettingInfo{Setting::budget_partitions, "budget-partitions", "FF_BUDGET_PARTITIONS", "",
                "NUMBER", "The same for budgets (32)", a_partition_count},
    SettingInfo{Setting::quota_partitions, "quota-partitions", "FF_QUOTA_PARTITIONS", "", "NUMBER",
                "The same for quotas (32)", a_partition_count},
    SettingInfo{Setting::listen, "listen", "FF_LISTEN_ADDR", "127.0.0.1:9090", "IP:PORT",
                "Where a server listens; port 0 is any free one", any_text},
    SettingInfo{Setting::api_token, "api-token", "FF_API_TOKEN", "", "TEXT",
                "A token that gives its holder every right on a server", any_text, true},
    SettingInfo{Setting::tokens_file, "tokens-file", "FF_TOKENS_FILE", "", "FILE",
                "The tokens that a server knows, with their roles; read again on SIGHUP", any_text},
    SettingInfo{Setting::webhooks, "webhooks", "FF_WEBHOOKS", "", "FILE",
                "Signed requests that a server turns into signals; read again on SIGHUP", any_text},
    SettingInfo{Setting::tls_cert, "tls-cert", "FF_TLS_CERT", "", "FILE",
                "The server's certificate and its chain, in PEM; read again on SIGHUP", any_text},
    SettingInfo{Setting::tls_key, "tls-key", "FF_TLS_KEY", "", "FILE",
                "The key of that certificate, in PEM; read again on SIGHUP", any_text},
    SettingInfo{Setting::insecure_listen, "insecure-listen", "FF_INSECURE_LISTEN", "false", "",
                "Listen beyond loopback although there are no tokens: everybody may do everything",
                yes_or_no},
    SettingInfo{Setting::waitpoint_secret, "waitpoint-hmac-secret", "FF_WAITPOINT_HMAC_SECRET", "",
                "HEX",
                "The first secret that signs waitpoint tokens; without it, a new store makes one",
                a_secret, true},
    SettingInfo{Setting::waitpoint_grace, "waitpoint-hmac-grace", "FF_WAITPOINT_HMAC_GRACE_MS",
                "1d", "DURATION",
                "How long waitpoint tokens stay valid after a rotation of their secret",
                a_duration_in_ms},
    SettingInfo{Setting::max_connections, "max-connections", "FF_MAX_CONNECTIONS", "4096", "NUMBER",
                "How many clients a server serves at a time", a_count},
    SettingInfo{Setting::max_long_polls, "max-long-polls", "FF_MAX_LONG_POLLS", "4096", "NUMBER",
                "How many of them may wait, for work or events for example", a_count},
    SettingInfo{Setting::max_tails, "max-tails", "FF_MAX_TAILS", "4096", "NUMBER",
                "How many of them may follow streams", a_count},
    SettingInfo{Setting::max_tails_per_token, "max-tails-per-token", "FF_MAX_TAILS_PER_TOKEN",
                "1024", "NUMBER", "The same for each token; a ticket has at most 64", a_count},
    SettingInfo{Setting::cors_origins, "cors-origins", "FF_CORS_ORIGINS", "", "LIST",
                "Origins like `https://app.example.com`, comma-separated, whose web pages may use a "
                "server from a browser; `*` for all (default: none)",
                origins},
    SettingInfo{Setting::session_ttl, "session-ttl", "FF_SESSION_TTL", "12h", "DURATION",
                "How long a login session of a browser lasts at most", an_interval<1000>},
    SettingInfo{Setting::behind_https, "behind-https", "FF_BEHIND_HTTPS", "false", "",
                "A proxy in front of the server speaks TLS: cookies of login sessions are for https only",
                yes_or_no},
    SettingInfo{Setting::max_stream_ops, "max-concurrent-stream-ops",
                "FF_MAX_CONCURRENT_STREAM_OPS", "64", "NUMBER",
                "How many reads and tails of attempts' streams a server carries out at a time",
                a_count, false, "FF_MAX_CONCURRENT_TAIL"},
    SettingInfo{Setting::durability, "durability", "FF_DURABILITY", "standard", durabilities,
                "What is on disk before it is acknowledged", a_durability},
    SettingInfo{Setting::retention, "retention", "FF_RETENTION", "1d", "DURATION",
                "How long an ended execution is kept, unless its policy says", a_duration},
    SettingInfo{Setting::audit_retention, "audit-retention", "FF_AUDIT_RETENTION", "90d",
                "DURATION", "How long an entry of the audit log is kept", a_duration},
    SettingInfo{Setting::audit_entries, "audit-entries", "FF_AUDIT_ENTRIES", "100000", "NUMBER",
                "How many entries the audit log keeps at most", a_count},
    SettingInfo{Setting::log_level, "log-level", "FF_LOG_LEVEL", "info", log_levels,
                "The least that is logged", a_log_level},
    SettingInfo{Setting::lease_expiry_interval, "lease-expiry-interval",
                "FF_LEASE_EXPIRY_INTERVAL_MS", "1500ms", "DURATION",
                "At least so often: take back what lost its worker", an_interval<1>},
    SettingInfo{Setting::delayed_promoter_interval, "delayed-promoter-interval",
                "FF_DELAYED_PROMOTER_INTERVAL_MS", "750ms", "DURATION",
                "At least so often: make delayed executions ready", an_interval<1>},
    SettingInfo{Setting::attempt_timeout_interval, "attempt-timeout-interval",
                "FF_ATTEMPT_TIMEOUT_INTERVAL_S", "2s", "DURATION",
                "At least so often: end attempts that took too long", an_interval<1000>},
    SettingInfo{Setting::execution_deadline_interval, "execution-deadline-interval",
                "FF_EXECUTION_DEADLINE_INTERVAL_S", "5s", "DURATION",
                "At least so often: end executions past their deadline", an_interval<1000>},
    SettingInfo{Setting::grant_expiry_interval, "grant-expiry-interval",
                "FF_GRANT_EXPIRY_INTERVAL_MS", "1s", "DURATION",
                "At least so often: take back unused grants", an_interval<1>},
    SettingInfo{Setting::suspension_timeout_interval, "suspension-timeout-interval",
                "FF_SUSPENSION_TIMEOUT_INTERVAL_S", "2s", "DURATION",
                "Maximum interval between scans for suspensions that timed out", an_interval<1000>},
    SettingInfo{Setting::waitpoint_expiry_interval, "waitpoint-expiry-interval",
                "FF_PENDING_WP_EXPIRY_INTERVAL_S", "5s", "DURATION",
                "Maximum interval between scans for waitpoints that expired", an_interval<1000>},
    SettingInfo{Setting::dependency_reconciler_interval, "dependency-reconciler-interval",
                "FF_DEPENDENCY_RECONCILER_INTERVAL_S", "15s", "DURATION",
                "Interval between looks for nodes of flows that wait without a reason", an_interval<1000>},
    SettingInfo{Setting::flow_projector_interval, "flow-projector-interval",
                "FF_FLOW_PROJECTOR_INTERVAL_S", "15s", "DURATION",
                "Interval between counts of the nodes of some flows", an_interval<1000>},
    SettingInfo{Setting::cancel_reconciler_interval, "cancel-reconciler-interval",
                "FF_CANCEL_RECONCILER_INTERVAL_S", "15s", "DURATION",
                "Interval between looks for members of cancelled flows of other programs", an_interval<1000>},
    SettingInfo{Setting::edge_cancel_dispatcher_interval, "edge-cancel-dispatcher-interval",
                "FF_EDGE_CANCEL_DISPATCHER_INTERVAL_S", "1s", "DURATION",
                "The same for nodes that another one started without, after a change of a flow", an_interval<1000>},
    SettingInfo{Setting::edge_cancel_reconciler_interval, "edge-cancel-reconciler-interval",
                "FF_EDGE_CANCEL_RECONCILER_INTERVAL_S", "10s", "DURATION",
                "The same without a change", an_interval<1000>},
    SettingInfo{Setting::retention_trimmer_interval, "retention-trimmer-interval",
                "FF_RETENTION_TRIMMER_INTERVAL_S", "1m", "DURATION",
                "So often: forget what was kept long enough", an_interval<1000>},
    SettingInfo{Setting::index_reconciler_interval, "index-reconciler-interval",
                "FF_INDEX_RECONCILER_INTERVAL_S", "45s", "DURATION",
                "So often: compare a part of the indexes with the records", an_interval<1000>},
    SettingInfo{Setting::unblock_interval, "unblock-interval", "FF_UNBLOCK_INTERVAL_S", "5s",
                "DURATION",
                "Maximum interval between looks at budgets and quotas that hold work back",
                an_interval<1000>},
    SettingInfo{Setting::budget_reset_interval, "budget-reset-interval",
                "FF_BUDGET_RESET_INTERVAL_S", "15s", "DURATION",
                "At least so often: reset budgets whose time has come", an_interval<1000>},
    SettingInfo{Setting::budget_reconciler_interval, "budget-reconciler-interval",
                "FF_BUDGET_RECONCILER_INTERVAL_S", "30s", "DURATION",
                "So often: forget what executions spent that are gone", an_interval<1000>},
    SettingInfo{Setting::quota_reconciler_interval, "quota-reconciler-interval",
                "FF_QUOTA_RECONCILER_INTERVAL_S", "30s", "DURATION",
                "So often: give back slots that nobody holds", an_interval<1000>},
    SettingInfo{Setting::scanner_namespace, "scanner-namespace", "FF_SCANNER_NAMESPACE", "", "NAME",
                "The only namespace whose executions the scanners of a server look after; another "
                "server must look after the others",
                a_namespace},
    SettingInfo{Setting::scanner_tag, "scanner-tag", "FF_SCANNER_TAG", "", "KEY=VALUE",
                "The same for executions with this tag", a_tag},
};

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].setting) != i) return false;
  return static_cast<std::size_t>(Setting::scanner_tag) + 1 == table.size();
}
static_assert(table_follows_enum(), "a row per Setting, in the order of the enum");

SettingValue find_value(const SettingInfo& info, const SettingSources& sources) {
  if (const auto flag = sources.flags.find(info.setting); flag != sources.flags.end())
    return {flag->second, SettingSource::flag, fmt::format("--{}", info.name)};
  for (const auto& variable : {std::string(info.variable), std::string(info.old_variable)}) {
    if (variable.empty()) continue;
    if (const auto value = sources.variable(variable); value && !value->empty())
      return {*value, SettingSource::variable, variable};
  }
  if (const auto line = sources.file.find(info.setting); line != sources.file.end())
    return line->second;
  return {std::string(info.default_value), SettingSource::default_value, ""};
}

}  // namespace

std::span<const SettingInfo> settings_table() { return table; }
const SettingInfo& info(Setting setting) { return table[static_cast<std::size_t>(setting)]; }

Result<Settings> Settings::resolve(std::span<const Setting> wanted, const SettingSources& sources) {
  Settings settings;
  for (const auto setting : wanted) {
    auto value = find_value(info(setting), sources);
    if (auto checked = info(setting).check(value.text); !checked)
      return fail(Errc::invalid_input, fmt::format("{}: {}", value.where, checked.error().message));
    settings.values_.emplace(setting, std::move(value));
  }
  return settings;
}

const SettingValue& Settings::value(Setting setting) const {
  const auto found = values_.find(setting);
  FF_ASSERT(found != values_.end());
  return found->second;
}

Millis Settings::duration(Setting setting) const {
  const bool bare_seconds = info(setting).variable.ends_with("_S");
  const auto parsed = parse_duration(text(setting), Millis{bare_seconds ? 1000 : 1});
  FF_ASSERT(parsed);
  return *parsed;
}

std::size_t Settings::number(Setting setting) const {
  const auto parsed = parse_number(text(setting), count_range);
  FF_ASSERT(parsed);
  return static_cast<std::size_t>(*parsed);
}

bool Settings::is_on(Setting setting) const {
  return text(setting) == "true" || text(setting) == "1";
}

}  // namespace ff::cli
