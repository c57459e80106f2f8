// The single checks that validation is made of.
#pragma once

#include <flowfabric/budgets.hpp>
#include <flowfabric/error.hpp>
#include <flowfabric/limits.hpp>
#include <flowfabric/time.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace ff::core {

// The first that failed.
Result<void> all_of(std::initializer_list<Result<void>> checks);

Result<void> not_empty(std::string_view field, std::string_view text);

template <class Id>
Result<void> present(std::string_view field, const Id& id) {
  return not_empty(field, id.str());
}
template <class Id>
Result<void> present(std::string_view field, const std::optional<Id>& id) {
  return id ? present(field, *id) : Result<void>{};
}

template <class T>
Result<void> in_range(std::string_view field, T value, T low, T high) {
  if (value >= low && value <= high) return {};
  return fail_field(Errc::invalid_input, field,
                    fmt::format("{} must be from {} to {}, got {}", field, low, high, value));
}

Result<void> duration_in_range(std::string_view field, Millis value, Millis low, Millis high);
Result<void> duration_in_range(std::string_view field, const std::optional<Millis>& value,
                               Millis low);
Result<void> time_in_range(std::string_view field, const std::optional<TimePoint>& time);

// Names the part of the operation that the check was about: `path` in front of the field.
Result<void> inside(const std::string& path, Result<void> checked);

// A payload or result: bytes, counted only.
Result<void> fits(std::string_view field, std::size_t bytes, std::size_t bytes_max);

// Valid UTF-8 of limited length.
Result<void> short_text(std::string_view field, std::string_view text, std::size_t bytes_max);

// Each amount from `low` on.
Result<void> amounts_valid(std::string_view field, const Amounts& amounts, std::uint64_t low);

}  // namespace ff::core
