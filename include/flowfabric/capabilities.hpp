// Capabilities: tokens such as "gpu" or "region=eu" that executions require and workers offer.
#pragma once

#include <flowfabric/error.hpp>

#include <compare>
#include <string>
#include <vector>

namespace ff {

// A set of capability tokens. One type, and so one rule, for what an execution requires and what a
// worker offers: a token that can be required can also be offered. Tokens are compared exactly, upper
// and lower case apart.
class CapabilitySet {
 public:
  CapabilitySet() = default;  // requires nothing, offers nothing

  // Any order, repetitions allowed. A token is UTF-8 text without ',', Unicode blanks and control
  // characters; the limits are in limits.hpp. Fails with `invalid_capabilities`, whose detail `what`
  // names the rule: empty_token, invalid_utf8, comma_in_token, control_or_whitespace,
  // too_many_tokens or too_many_bytes.
  static Result<CapabilitySet> parse(std::vector<std::string> tokens);

  // Sorted by bytes, each once.
  const std::vector<std::string>& tokens() const { return tokens_; }
  bool empty() const { return tokens_.empty(); }
  std::string csv() const;

  // Whether one who offers this may run what requires `required`.
  bool covers(const CapabilitySet& required) const;

  // The tokens of `required` that are not here, sorted.
  std::vector<std::string> missing(const CapabilitySet& required) const;

  auto operator<=>(const CapabilitySet&) const = default;

 private:
  explicit CapabilitySet(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}
  std::vector<std::string> tokens_;
};

}  // namespace ff
