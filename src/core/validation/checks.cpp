#include "core/validation/checks.hpp"

#include "base/text/utf8.hpp"

namespace ff::core {

Result<void> all_of(std::initializer_list<Result<void>> checks) {
  for (const auto& check : checks)
    if (!check) return check;
  return {};
}

Result<void> not_empty(std::string_view field, std::string_view text) {
  if (!text.empty()) return {};
  return fail_field(Errc::invalid_input, field, fmt::format("{} must not be empty", field));
}

Result<void> duration_in_range(std::string_view field, Millis value, Millis low, Millis high) {
  return in_range(field, value.count(), low.count(), high.count());
}

Result<void> duration_in_range(std::string_view field, const std::optional<Millis>& value,
                               Millis low) {
  if (!value) return {};
  return duration_in_range(field, *value, low, limits::duration_max);
}

Result<void> time_in_range(std::string_view field, const std::optional<TimePoint>& time) {
  if (!time) return {};
  return in_range(field, time->time_since_epoch().count(), Millis::rep{0},
                  limits::time_max.time_since_epoch().count());
}

Result<void> inside(const std::string& path, Result<void> checked) {
  if (checked) return checked;
  auto error = std::move(checked).error();
  error.message = path + ": " + error.message;
  const auto field = std::ranges::find(error.details, "field", &Error::Detail::name);
  if (field == error.details.end())
    error.details.push_back({"field", path});
  else
    field->value = path + '.' + field->value;
  return std::unexpected(std::move(error));
}

Result<void> fits(std::string_view field, std::size_t bytes, std::size_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return fail_field(Errc::payload_too_large, field,
                    fmt::format("{} is {} bytes; at most {} are allowed, so store large data "
                                "elsewhere and pass a reference",
                                field, bytes, bytes_max));
}

Result<void> short_text(std::string_view field, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return fail_field(
        Errc::invalid_input, field,
        fmt::format("{} is {} bytes; at most {} are allowed", field, text.size(), bytes_max));
  if (!is_valid_utf8(text))
    return fail_field(Errc::invalid_input, field, fmt::format("{} must be valid UTF-8", field));
  return {};
}

}  // namespace ff::core
