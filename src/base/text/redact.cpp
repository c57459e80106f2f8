#include "base/text/redact.hpp"

namespace ff {

std::string without_password(std::string_view url) {
  const auto begin = url.find("//");
  if (begin == std::string_view::npos) return std::string(url);
  // A password may hold what it should have encoded: all up to the last @ is hidden.
  const auto at = url.substr(0, url.find('?', begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  const auto colon = url.find(':', begin);
  const auto shown = colon < at ? colon + 1 : begin + 2;
  return std::string(url.substr(0, shown)) + "***" + std::string(url.substr(at));
}

}  // namespace ff
