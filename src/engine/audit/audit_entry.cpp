#include "engine/audit/audit_entry.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/utf8.hpp"
#include "core/audit/names.hpp"

namespace ff {

std::string AuditParts::shown(const std::string& text) {
  return to_valid_utf8(text, limits::audit_text_bytes_max);
}

std::string AuditParts::text_of(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string AuditParts::text_of(const Tags& tags) {
  std::string keys;
  for (const auto& [key, value] : tags) keys += (keys.empty() ? "" : ", ") + key;
  return keys;
}

std::string AuditParts::text_of(const BudgetSpec& spec) {
  std::vector<std::string> limits;
  for (const auto& [dimension, amount] : spec.hard_limits)
    limits.push_back(fmt::format("{}={}", dimension, amount));
  for (const auto& [dimension, amount] : spec.soft_limits)
    limits.push_back(fmt::format("{}={} (soft)", dimension, amount));
  return text_of(limits);
}

std::string AuditParts::text_of(const QuotaSpec& spec) {
  std::vector<std::string> limits;
  if (spec.max_per_window)
    limits.push_back(fmt::format("{} per {}", *spec.max_per_window, text_of(spec.window)));
  if (spec.max_concurrent) limits.push_back(fmt::format("{} at once", *spec.max_concurrent));
  return text_of(limits);
}

std::string operation_name(const std::type_info& type) { return core::operation_name(type); }

}  // namespace ff
