// The settings of `ff`: one table of them, and their values from flags, variables, a file and defaults.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ff::cli {

enum class Setting : std::uint8_t {
  url,
  token,
  token_file,
  ca_file,
  ns,
  store,
  valkey_host,
  valkey_port,
  valkey_tls,
  valkey_cluster,
  valkey_user,
  valkey_password,
  valkey_ca_file,
  flow_partitions,
  budget_partitions,
  quota_partitions,
  listen,
  api_token,
  tokens_file,
  webhooks,
  tls_cert,
  tls_key,
  insecure_listen,
  waitpoint_secret,
  waitpoint_grace,
  max_connections,
  max_long_polls,
  max_tails,
  max_tails_per_token,
  cors_origins,
  session_ttl,
  behind_https,
  max_stream_ops,
  durability,
  retention,
  audit_retention,
  audit_entries,
  log_level,
  lease_expiry_interval,
  delayed_promoter_interval,
  attempt_timeout_interval,
  execution_deadline_interval,
  grant_expiry_interval,
  suspension_timeout_interval,
  waitpoint_expiry_interval,
  dependency_reconciler_interval,
  flow_projector_interval,
  cancel_reconciler_interval,
  edge_cancel_dispatcher_interval,
  edge_cancel_reconciler_interval,
  retention_trimmer_interval,
  index_reconciler_interval,
  unblock_interval,
  budget_reset_interval,
  budget_reconciler_interval,
  quota_reconciler_interval,
  scanner_namespace,
  scanner_tag,
};

struct SettingInfo {
  Setting setting;
  std::string_view name;  // in a file; as a flag with -- before it
  std::string_view variable;
  std::string_view default_value;
  std::string_view
      type;  // what help calls the value; choices have | between them; empty: yes or no
  std::string_view meaning;
  Result<void> (*check)(std::string_view value);
  // Given only by its variable, so that it is in no process list, and never shown.
  bool secret = false;
  std::string_view old_variable =
      {};  // an older name of the variable, read if the newer is not set
};

std::span<const SettingInfo> settings_table();  // in the order of the enum
const SettingInfo& info(Setting setting);

enum class SettingSource { flag, variable, file, default_value };

struct SettingValue {
  std::string text;
  SettingSource source = SettingSource::default_value;
  std::string where;  // the flag, the variable, or FILE:LINE
};

// Where values may come from, the first one first.
struct SettingSources {
  std::map<Setting, std::string> flags;
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::map<Setting, SettingValue> file;
};

class Settings {
 public:
  // Finds and checks the value of each of `wanted`. An empty variable counts as none. Fails with
  // invalid_input, naming where the wrong value comes from.
  static Result<Settings> resolve(std::span<const Setting> wanted, const SettingSources& sources);

  // Of what was wanted.
  const SettingValue& value(Setting setting) const;
  const std::string& text(Setting setting) const { return value(setting).text; }
  Millis duration(Setting setting) const;
  std::size_t number(Setting setting) const;
  bool is_on(Setting setting) const;

 private:
  std::map<Setting, SettingValue> values_;
};

}  // namespace ff::cli
