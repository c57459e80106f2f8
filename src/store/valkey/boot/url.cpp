#include "store/valkey/boot/url.hpp"

#include <fstream>

#include <fmt/format.h>

#include "base/text/redact.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

struct Scheme {
  std::string_view text;
  bool tls;
  bool cluster;
  bool socket;
};
constexpr std::array schemes{
    Scheme{"valkey://", false, false, false}, Scheme{"valkeys://", true, false, false},
    Scheme{"valkey-cluster://", false, true, false},
    Scheme{"valkeys-cluster://", true, true, false}, Scheme{"valkey+unix://", false, false, true}};

const Scheme* scheme_of(std::string_view url) {
  const auto* const found = std::ranges::find_if(
      schemes, [&](const Scheme& scheme) { return url.starts_with(scheme.text); });
  return found == schemes.end() ? nullptr : found;
}

std::unexpected<Error> wrong(std::string_view url, std::string_view why) {
  return fail(Errc::invalid_input, fmt::format("'{}' is not the URL of a store: {}; one looks like "
                                               "valkey://HOST:6379 or valkey-cluster://HOST:6379",
                                               printable(without_password(url)), why));
}

// %41 is A.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    std::uint8_t byte = 0;
    const auto* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// HOST, HOST:PORT or [ADDRESS]:PORT
std::optional<TcpEndpoint> parse_endpoint(std::string_view text) {
  TcpEndpoint endpoint;
  auto port = std::string_view{};
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    endpoint.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const auto colon = std::min(text.find(':'), text.size());
    endpoint.host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (endpoint.host.empty()) return std::nullopt;
  if (port.empty()) return endpoint;
  const auto number = parse_number<std::uint16_t>(port.substr(1));
  if (port.front() != ':' || !number || *number == 0) return std::nullopt;
  endpoint.port = *number;
  return endpoint;
}

Result<std::string> read_password(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string password((std::istreambuf_iterator<char>(file)), {});
  password.erase(password.find_last_not_of(" \r\n\t") + 1);
  if (!file || password.empty())
    return fail(Errc::invalid_input,
                fmt::format("the password file '{}' cannot be read, or is empty", printable(path)));
  return password;
}

PartitionIndex* partition_count(PartitionCounts& counts, std::string_view name) {
  if (name == "partitions") return &counts.executions;
  if (name == "budget_partitions") return &counts.budgets;
  if (name == "quota_partitions") return &counts.quotas;
  return nullptr;
}

Result<void> set(StoreOptions& options, std::string_view url, std::string_view name,
                 const std::string& value) {
  if (name == "durability") {
    const auto durability = from_name<Durability>(value);
    if (!durability) return wrong(url, "durability is server, fsync or replicas");
    options.durability = *durability;
  } else if (name == "share") {
    const auto share = from_name<Share>(value);
    if (!share) return wrong(url, "share is part, all or none");
    options.share = *share;
  } else if (name == "ca_file") {
    options.client.ca_file = value;
  } else if (name == "password_file") {
    auto password = read_password(value);
    FF_TRY(password);
    options.client.password = std::move(*password);
  } else if (auto* partitions = partition_count(options.partitions, name)) {
    const auto count = parse_number<PartitionIndex>(value);
    if (!count || *count == 0 || *count > 32'767)
      return wrong(url, fmt::format("{} is a number from 1 to 32767", name));
    *partitions = *count;
  } else {
    // The name is not shown: after a ? in a password, it is a part of it.
    return wrong(url,
                 "after its ? there are only durability, ca_file, password_file, partitions, "
                 "budget_partitions, quota_partitions and share");
  }
  return {};
}

Result<void> set_user(StoreOptions& options, std::string_view url, std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  auto user = decoded(text.substr(0, colon));
  auto password = decoded(text.substr(std::min(colon + 1, text.size())));
  if (!user || !password) return wrong(url, "its user or password has a % that is not %XX");
  options.client.user = std::move(*user);
  options.client.password = std::move(*password);
  return {};
}

}  // namespace

bool is_valkey_url(std::string_view url) { return scheme_of(url) != nullptr; }

Result<StoreOptions> parse_url(std::string_view url) {
  const auto* scheme = scheme_of(url);
  if (!scheme) return wrong(url, "its scheme is not known");
  StoreOptions options;
  options.client.tls = scheme->tls;
  options.client.cluster = scheme->cluster;
  auto rest = url.substr(scheme->text.size());

  const auto question = std::min(rest.find('?'), rest.size());
  auto query = rest.substr(std::min(question + 1, rest.size()));
  rest = rest.substr(0, question);
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto part = query.substr(0, end);
    const auto equals = std::min(part.find('='), part.size());
    const auto value = decoded(part.substr(std::min(equals + 1, part.size())));
    if (!value) return wrong(url, "a setting has a % that is not %XX");
    FF_TRY(set(options, url, part.substr(0, equals), *value));
    query.remove_prefix(std::min(end + 1, query.size()));
  }

  if (scheme->socket) {
    if (!rest.starts_with('/')) return wrong(url, "it names no socket");
    options.client.endpoints.emplace_back(UnixEndpoint{std::string(rest)});
    return options;
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    FF_TRY(set_user(options, url, rest.substr(0, at)));
    rest.remove_prefix(at + 1);
  }
  while (true) {
    const auto comma = std::min(rest.find(','), rest.size());
    auto endpoint = parse_endpoint(rest.substr(0, comma));
    if (!endpoint) return wrong(url, "it names no HOST:PORT");
    options.client.endpoints.emplace_back(std::move(*endpoint));
    if (comma == rest.size()) return options;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ff::valkey_store
