// The fields of a stored hash, read into types. The first that cannot be read is remembered; what was
// made of the others is then not to be used.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <charconv>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

class Fields {
 public:
  // `flat` is field, value, field, value, …; `of` says whose they are. What is empty counts as absent.
  Fields(std::vector<Reply> flat, std::string of) : of_(std::move(of)) {
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
      if (auto* name = flat[i].as_text())
        if (auto* value = flat[i + 1].as_text(); value && !value->empty())
          values_[std::move(*name)] = std::move(*value);
  }

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }

  std::string text(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string{} : found->second;
  }
  std::optional<std::string> optional_text(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  template <class Number>
  std::optional<Number> optional_number(std::string_view name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const auto number = parse_number<Number>(found->second);
    if (!number) wrong(name, found->second);
    return number;
  }
  template <class Number>
  Number number(std::string_view name) {
    return optional_number<Number>(name).value_or(Number{});
  }

  std::optional<TimePoint> optional_time(std::string_view name) {
    const auto ms = optional_number<std::int64_t>(name);
    return ms ? std::optional(TimePoint{Millis{*ms}}) : std::nullopt;
  }
  TimePoint time(std::string_view name) { return optional_time(name).value_or(TimePoint{}); }
  std::optional<Millis> optional_millis(std::string_view name) {
    const auto ms = optional_number<std::int64_t>(name);
    return ms ? std::optional(Millis{*ms}) : std::nullopt;
  }

  template <class Id>
  std::optional<Id> optional_id(std::string_view name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    auto id = Id::parse(found->second);
    if (!id) wrong(name, found->second);
    return id ? std::optional(std::move(*id)) : std::nullopt;
  }
  template <class Id>
  Id id(std::string_view name) {
    auto found = optional_id<Id>(name);
    if (!found && !has(name)) wrong(name, "");
    return found.value_or(Id{});
  }

  template <Named Enum>
  Enum name_of(std::string_view name) {
    const auto value = from_name<Enum>(text(name));
    if (!value) wrong(name, text(name));
    return value.value_or(Enum{});
  }

  void wrong(std::string_view name, std::string_view value) {
    if (error_) return;
    error_ =
        Error{Errc::store_damaged,
              fmt::format("the field {} of {} holds '{}', which is not what FlowFabric writes; "
                          "something else changes its keys",
                          name, of_, printable(value))};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string of_;
  std::map<std::string, std::string, std::less<>> values_;
  std::optional<Error> error_;
};

}  // namespace ff::valkey_store
