#include "base/text/redact.hpp"

#include <algorithm>
#include <array>

namespace ff {
namespace {

bool is_secret(std::string_view name) {
  constexpr std::array words{"password", "token", "secret"};
  return !name.ends_with("_file") && std::ranges::any_of(words, [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// name=value&… with *** for the values that are secret.
std::string without_secret_values(std::string_view query) {
  std::string shown;
  while (!query.empty()) {
    const auto part = query.substr(0, std::min(query.find('&'), query.size() - 1) + 1);
    const auto equals = part.find('=');
    const bool secret = equals != std::string_view::npos && is_secret(part.substr(0, equals));
    shown += secret ? std::string(part.substr(0, equals + 1)) + "***" : std::string(part);
    if (secret && part.ends_with('&')) shown += '&';
    query.remove_prefix(part.size());
  }
  return shown;
}

}  // namespace

std::string without_password(std::string_view url) {
  if (url.starts_with("embedded:")) return std::string(url);
  std::string shown;
  // A password may hold what it should have encoded: all up to the last @ is hidden.
  if (const auto at = url.rfind('@'); at != std::string_view::npos) {
    const auto slashes = std::min(url.find("//"), at);
    const auto begin = slashes == at ? 0 : slashes + 2;
    const auto colon = url.find(':', begin);
    shown = std::string(url.substr(0, colon < at ? colon + 1 : begin)) + "***";
    url.remove_prefix(at);
  }
  const auto question = url.find('?');
  shown += url.substr(0, question);
  if (question == std::string_view::npos) return shown;
  return shown + '?' + without_secret_values(url.substr(question + 1));
}

}  // namespace ff
