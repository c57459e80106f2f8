#include "store/valkey/boot/boot.hpp"

#include <array>
#include <set>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "store/valkey/boot/library.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

using Steady = std::chrono::steady_clock;

std::unexpected<Error> unexpected_reply(std::string_view command, const Reply& reply) {
  return fail(Errc::malformed_response,
              fmt::format("Valkey answered {} with {}", command, printable(to_text(reply))));
}

asio::awaitable<void> pause(Millis duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
}

// The primaries that answer: of a cluster, the others may be down. Fails if none answers.
Async<std::vector<valkey::NodeName>> answering(Client& client) {
  std::vector<valkey::NodeName> found;
  std::optional<Error> failure;
  const auto nodes = client.nodes();
  for (const auto& node : nodes) {
    Request request{.command = {"PING"}, .route = node.name};
    if (nodes.size() > 1) request.patience = Patience::brief;
    auto reply = co_await client.run(std::move(request));
    if (reply)
      found.push_back(node.name);
    else
      failure = std::move(reply.error());
  }
  if (found.empty() && failure) co_return std::unexpected(std::move(*failure));
  co_return found;
}

// A command to every primary that answers; no answer may be an error.
Async<std::vector<Reply>> ask_all(Client& client, std::vector<std::string> command) {
  std::vector<Reply> replies;
  const auto nodes = co_await answering(client);
  FF_CO_TRY(nodes);
  for (const auto& node : *nodes) {
    Request request{.command = command, .route = node};
    auto reply = co_await client.run(std::move(request));
    FF_CO_TRY(reply);
    if (const auto* error = reply->as_error())
      co_return fail(Errc::malformed_response,
                     fmt::format("Valkey at {} refused {}: {}", node.text, command.front(),
                                 printable(error->text)));
    replies.push_back(std::move(*reply));
  }
  co_return replies;
}

std::string_view line_value(std::string_view info, std::string_view name) {
  std::size_t from = 0;
  while (from < info.size()) {
    const auto end = std::min(info.find('\n', from), info.size());
    auto line = info.substr(from, end - from);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
      return line.substr(name.size() + 1);
    from = end + 1;
  }
  return {};
}

Async<void> ping(Client& client) {
  Request request{.command = {"PING"}};
  auto reply = co_await client.run(std::move(request));
  FF_CO_TRY(reply);
  if (const auto* text = reply->as_text(); !text || *text != "PONG")
    co_return unexpected_reply("PING", *reply);
  co_return Result<void>{};
}

Async<void> check_versions(Client& client) {
  std::vector<std::string> command{"INFO", "server"};
  auto infos = co_await ask_all(client, std::move(command));
  FF_CO_TRY(infos);
  std::set<std::string> versions;
  for (const auto& info : *infos) {
    const auto* text = info.as_text();
    if (!text) co_return unexpected_reply("INFO server", info);
    FF_CO_TRY(check_version(*text));
    versions.insert(std::string(line_value(*text, "valkey_version")));
  }
  log::info("valkey version={}", fmt::join(versions, ", "));
  co_return Result<void>{};
}

// A cluster in the middle of an upgrade has old nodes for a moment.
Async<void> wait_for_version(Client& client, Millis budget) {
  const auto deadline = Steady::now() + budget;
  Millis wait{200};
  while (true) {
    auto fine = co_await check_versions(client);
    const bool final_answer =
        fine || (!fine.error().retryable() && fine.error().code != Errc::store_too_old);
    if (final_answer || Steady::now() + wait > deadline) co_return fine;
    log::warn("valkey is not usable yet, trying again: {}", fine.error().message);
    co_await pause(wait);
    wait = std::min(wait * 2, Millis{5000});
  }
}

std::optional<PartitionCounts> read_counts(const Reply& reply) {
  const auto* list = reply.as_array();
  if (!list || list->size() != 3) return std::nullopt;
  const auto count = [&](std::size_t i) {
    const auto* text = (*list)[i].as_text();
    return text ? parse_number<PartitionIndex>(*text).value_or(0) : PartitionIndex{0};
  };
  const PartitionCounts counts{.executions = count(0), .budgets = count(1), .quotas = count(2)};
  const bool fine = counts.executions > 0 && counts.budgets > 0 && counts.quotas > 0;
  return fine ? std::optional(counts) : std::nullopt;
}

struct CountName {
  PartitionIndex PartitionCounts::*count;
  PartitionIndex of_new_store;
  std::string_view setting;
};
constexpr PartitionIndex resource_partitions_default = 32;
constexpr std::array count_names{
    CountName{&PartitionCounts::executions, core::partition_count_default, "partitions"},
    CountName{&PartitionCounts::budgets, resource_partitions_default, "budget_partitions"},
    CountName{&PartitionCounts::quotas, resource_partitions_default, "quota_partitions"}};

std::string setting(const std::vector<Reply>& pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (const auto* key = pairs[i].as_text(), *value = pairs[i + 1].as_text();
        key && value && *key == name)
      return *value;
  return {};
}

std::string loss_of(const std::vector<Reply>& config, std::string_view replication) {
  const auto aof = setting(config, "appendonly");
  const auto fsync = setting(config, "appendfsync");
  std::string loss;
  if (aof == "yes" && fsync == "always")
    loss = "a crash loses nothing";
  else if (aof == "yes" && fsync == "everysec")
    loss = "a power cut or a crash of the machine loses up to a second (appendfsync everysec)";
  else if (aof == "yes")
    loss = "a crash of the machine loses what the system had not written yet (appendfsync no)";
  else if (!setting(config, "save").empty())
    loss = "a crash loses everything since the last snapshot (no append-only file)";
  else
    loss = "a restart loses everything (neither append-only file nor snapshots)";
  const auto replicas = line_value(replication, "connected_slaves");
  if (replicas.empty() || replicas == "0")
    loss += "; there is no replica to take over";
  else
    loss +=
        fmt::format("; a failover to one of {} replicas loses what it had not received", replicas);
  return loss;
}

// Managed servers may forbid CONFIG: then nothing is known, and that is said.
Async<std::vector<std::string>> losses(Client& client) {
  std::vector<std::string> all;
  const auto nodes = co_await answering(client);
  FF_CO_TRY(nodes);
  for (const auto& node : *nodes) {
    Request ask_config{.command = {"CONFIG", "GET", "appendonly", "appendfsync", "save"},
                       .route = node};
    auto config = co_await client.run(std::move(ask_config));
    Request ask_info{.command = {"INFO", "replication"}, .route = node};
    auto info = co_await client.run(std::move(ask_info));
    const auto* pairs = config ? config->as_array() : nullptr;
    const auto* replication = info ? info->as_text() : nullptr;
    all.push_back(fmt::format("{}: {}", node.text,
                              pairs && replication
                                  ? loss_of(*pairs, *replication)
                                  : std::string("its persistence settings cannot be read")));
  }
  co_return all;
}

std::optional<LibraryVersion> parse_version(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_number<int>(text.substr(0, dot));
  const auto minor = parse_number<int>(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return LibraryVersion{*major, *minor};
}

bool is_function_not_found(const Reply& reply) {
  const auto* error = reply.as_error();
  return error && error->text.find("Function not found") != std::string::npos;
}

enum class Found : std::uint8_t { serves, missing, older };

Async<Found> look_at_library(Client& client, const valkey::NodeName& node) {
  Request request{.command = {"FCALL", "ff_version", "0"}, .route = node};
  auto reply = co_await client.run(std::move(request));
  FF_CO_TRY(reply);
  if (is_function_not_found(*reply)) co_return Found::missing;
  const auto* text = reply->as_text();
  const auto version = text ? parse_version(*text) : std::nullopt;
  if (!version)
    co_return fail(
        Errc::store_too_new,
        fmt::format(
            "Valkey at {} holds a function library that is not FlowFabric's own (ff_version "
            "says {}); use another Valkey, or remove it with FUNCTION DELETE flowfabric",
            node.text, printable(to_text(*reply))));
  if (version->major > library_version.major)
    co_return fail(
        Errc::store_too_new,
        fmt::format("Valkey at {} holds function library {}.{}, this program is made for {}.{}; "
                    "upgrade this program",
                    node.text, version->major, version->minor, library_version.major,
                    library_version.minor));
  co_return *version < library_version ? Found::older : Found::serves;
}

// A library that is lost, by a restart without persistence for one, is loaded again by a program that is new
// enough for the data.
Async<void> check_not_outdated(Client& client) {
  const std::string key(keys::partition_config);
  Request request{.command = {"HGET", key, "library_version"}, .route = slot_of(key)};
  const auto reply = co_await client.run(std::move(request));
  FF_CO_TRY(reply);
  const auto* text = reply->as_text();
  const auto newest = text ? parse_version(*text) : std::nullopt;
  if (!newest || *newest <= library_version) co_return Result<void>{};
  co_return fail(
      Errc::store_too_new,
      fmt::format(
          "Valkey has lost its function library, which was {}.{}; this program has the older "
          "{}.{}: start a program of that version or a later one",
          newest->major, newest->minor, library_version.major, library_version.minor));
}

Async<void> load_library(Client& client, const valkey::NodeName& node) {
  Request request{.command = {"FUNCTION", "LOAD", "REPLACE", std::string(library_text())},
                  .route = node};
  auto reply = co_await client.run(std::move(request));
  FF_CO_TRY(reply);
  if (const auto* error = reply->as_error())
    co_return fail(Errc::store_not_writable,
                   fmt::format("the function library cannot be loaded into Valkey at {}: {}",
                               node.text, printable(error->text)));
  log::info("valkey={} function library {}.{} loaded", node.text, library_version.major,
            library_version.minor);
  co_return Result<void>{};
}

}  // namespace

Result<void> check_version(std::string_view info) {
  auto version = line_value(info, "valkey_version");
  if (version.empty())
    return fail(
        Errc::store_too_old,
        fmt::format("this server is not Valkey (it says redis_version {}); FlowFabric needs "
                    "Valkey 8.0 or later",
                    printable(line_value(info, "redis_version"))));
  const auto major = parse_number<int>(version.substr(0, version.find('.')));
  constexpr int required = 8;
  if (!major || *major < required)
    return fail(
        Errc::store_too_old,
        fmt::format("valkey version too low: detected {}, required >= 8.0; upgrade the server",
                    printable(version)));
  return {};
}

// Both in one step: created if there is none, and read back.
Async<PartitionCounts> fix_partition_counts(Client& client, PartitionCounts wanted) {
  const std::string key(keys::partition_config);
  std::vector<std::string> command{"FCALL", "ff_partition_counts", "1", key};
  for (const auto& [count, of_new_store, setting] : count_names)
    command.push_back(std::to_string(wanted.*count == 0 ? of_new_store : wanted.*count));
  Request request{.command = std::move(command), .route = slot_of(key)};
  auto reply = co_await client.run(std::move(request));
  FF_CO_TRY(reply);
  const auto stored = read_counts(*reply);
  if (!stored) co_return unexpected_reply("ff_partition_counts", *reply);
  for (const auto& [count, of_new_store, setting] : count_names)
    if (wanted.*count != 0 && wanted.*count != (*stored).*count)
      co_return fail(Errc::invalid_input,
                     fmt::format("this store was made with {}={}, but {} are asked for; the number "
                                 "cannot change: leave the setting out, or use another store",
                                 setting, (*stored).*count, wanted.*count));
  co_return *stored;
}

Async<void> ensure_library(Client& client) {
  const auto nodes = co_await answering(client);
  FF_CO_TRY(nodes);
  for (const auto& node : *nodes) {
    const auto found = co_await look_at_library(client, node);
    FF_CO_TRY(found);
    if (*found == Found::serves) continue;
    if (*found == Found::missing) {
      FF_CO_TRY(co_await check_not_outdated(client));
    }
    FF_CO_TRY(co_await load_library(client, node));
    const auto now = co_await look_at_library(client, node);
    FF_CO_TRY(now);
    if (*now != Found::serves)
      co_return fail(Errc::store_not_writable,
                     fmt::format("Valkey at {} does not keep the function library", node.text));
  }
  co_return Result<void>{};
}

Async<Booted> boot(Client& client, BootOptions options) {
  FF_CO_TRY(co_await ping(client));
  FF_CO_TRY(co_await wait_for_version(client, options.version_budget));
  FF_CO_TRY(co_await ensure_library(client));
  const auto partitions = co_await fix_partition_counts(client, options.partitions);
  FF_CO_TRY(partitions);
  auto told = co_await losses(client);
  FF_CO_TRY(told);
  co_return Booted{.partitions = *partitions, .losses = std::move(*told)};
}

}  // namespace ff::valkey_store
