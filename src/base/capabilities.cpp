#include <flowfabric/capabilities.hpp>
#include <flowfabric/limits.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

std::unexpected<Error> refuse(std::string_view what, std::string message) {
  return fail(Errc::invalid_capabilities, std::move(message), {{"what", std::string(what)}});
}

Result<void> check_token(const std::string& token) {
  if (token.empty())
    return refuse("empty_token", "a capability is empty; give it a name or leave it out");
  if (!is_valid_utf8(token))
    return refuse("invalid_utf8",
                  fmt::format("capability '{}' is not valid UTF-8; write it as UTF-8 text",
                              printable(token)));
  if (token.contains(','))
    return refuse("comma_in_token",
                  fmt::format("capability '{}' holds a comma; give each capability on its own",
                              printable(token)));
  if (!has_only_visible_text(token))
    return refuse("control_or_whitespace",
                  fmt::format("capability '{}' holds a blank or control character; write it "
                              "without, with '-' or '_' for example",
                              printable(token)));
  return {};
}

Result<void> check_size(const CapabilitySet& set) {
  if (const auto count = set.tokens().size(); count > limits::capability_tokens_max)
    return refuse("too_many_tokens",
                  fmt::format("there are {} capabilities; at most {} are allowed, leave some out",
                              count, limits::capability_tokens_max));
  if (const auto bytes = set.csv().size(); bytes > limits::capability_csv_bytes_max)
    return refuse(
        "too_many_bytes",
        fmt::format("the capabilities, joined by commas, are {} bytes long; at most {} are "
                    "allowed, shorten them or leave some out",
                    bytes, limits::capability_csv_bytes_max));
  return {};
}

}  // namespace

Result<CapabilitySet> CapabilitySet::parse(std::vector<std::string> tokens) {
  std::ranges::sort(tokens);
  const auto repeated = std::ranges::unique(tokens);
  tokens.erase(repeated.begin(), repeated.end());
  for (const auto& token : tokens) FF_TRY(check_token(token));

  CapabilitySet set(std::move(tokens));
  FF_TRY(check_size(set));
  return set;
}

std::string CapabilitySet::csv() const { return fmt::format("{}", fmt::join(tokens_, ",")); }

bool CapabilitySet::covers(const CapabilitySet& required) const {
  return std::ranges::includes(tokens_, required.tokens_);
}

std::vector<std::string> CapabilitySet::missing(const CapabilitySet& required) const {
  std::vector<std::string> tokens;
  std::ranges::set_difference(required.tokens_, tokens_, std::back_inserter(tokens));
  return tokens;
}

}  // namespace ff
