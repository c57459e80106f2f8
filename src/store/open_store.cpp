#include "store/open_store.hpp"

#include <fmt/format.h>

#include "base/text/redact.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "store/embedded/embedded.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::store {

Result<std::unique_ptr<Store>> open_store(std::string_view url, OpenStoreOptions options) {
  if (valkey_store::is_valkey_url(url)) {
    auto on_valkey = valkey_store::parse_url(url);
    FF_TRY(on_valkey);
    on_valkey->sweep = options.looks_after_all;
    on_valkey->waitpoint_secret = std::move(options.waitpoint_secret);
    return valkey_store::open(std::move(*on_valkey));
  }
  const auto embedded = parse_embedded(url);
  FF_TRY(embedded);
  return ff::embedded::open({.directory = embedded->directory,
                             .clock = std::move(options.clock),
                             .durability = embedded->durability,
                             .waitpoint_secret = std::move(options.waitpoint_secret)});
}

Result<EmbeddedUrl> parse_embedded(std::string_view url) {
  constexpr std::string_view scheme = "embedded:";
  const auto query = url.find('?');
  const auto directory = url.substr(0, query);
  if (!directory.starts_with(scheme) || directory.size() == scheme.size())
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not the URL of a store; one looks like embedded:./ff-data "
                            "or valkey://HOST:6379",
                            printable(without_password(url))));
  EmbeddedUrl parsed{.directory = directory.substr(scheme.size())};
  if (query == std::string_view::npos) return parsed;

  constexpr std::string_view name = "durability=";
  const auto parameter = url.substr(query + 1);
  const auto durability = parameter.starts_with(name)
                              ? from_name<Durability>(parameter.substr(name.size()))
                              : std::nullopt;
  if (!durability)
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a setting of an embedded store; there is "
                            "durability=relaxed, durability=standard and durability=strict",
                            printable(parameter)));
  parsed.durability = *durability;
  return parsed;
}

}  // namespace ff::store
