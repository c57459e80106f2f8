// Single values in JSON: one codec per type.
#pragma once

#include <flowfabric/operations.hpp>

#include <charconv>
#include <concepts>
#include <limits>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace ff::http {

namespace json = boost::json;

// In a URL every value is text; in JSON a number is a number.
enum class Spelling { json, url };

template <class T>
struct Codec;  // write(value) → json::value;  read(json::value, Spelling) → Result<T>

inline std::unexpected<Error> wrong_type(std::string_view wanted, const json::value& got) {
  return fail(Errc::invalid_input,
              fmt::format("must be {}, got {}", wanted, std::string_view(json::to_string(got.kind()))));
}

template <>
struct Codec<std::string> {
  static json::value write(const std::string& value) { return json::value(value); }
  static Result<std::string> read(const json::value& value, Spelling) {
    if (!value.is_string()) return wrong_type("text", value);
    return std::string(value.get_string());
  }
};

template <>
struct Codec<bool> {
  static json::value write(bool value) { return value; }
  static Result<bool> read(const json::value& value, Spelling) {
    if (!value.is_bool()) return wrong_type("true or false", value);
    return value.get_bool();
  }
};

template <std::integral T>
struct Codec<T> {
  static json::value write(T value) { return value; }
  static Result<T> read(const json::value& value, Spelling spelling) {
    if (spelling == Spelling::url && value.is_string()) return parse(value.get_string());
    if (!value.is_int64() && !value.is_uint64()) return wrong_type("a whole number", value);
    boost::system::error_code out_of_range;
    const T number = value.to_number<T>(out_of_range);
    if (out_of_range) return too_large();
    return number;
  }

 private:
  static Result<T> parse(std::string_view text) {
    T number{};
    const auto end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, number);
    if (failed == std::errc::result_out_of_range) return too_large();
    if (failed != std::errc{} || rest != end)
      return fail(Errc::invalid_input, fmt::format("must be a whole number, got '{}'", text));
    return number;
  }
  static std::unexpected<Error> too_large() {
    return fail(Errc::invalid_input,
                fmt::format("must be from {} to {}", std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()));
  }
};

template <>
struct Codec<Millis> {
  static json::value write(Millis value) { return value.count(); }
  static Result<Millis> read(const json::value& value, Spelling spelling) {
    const auto number = Codec<Millis::rep>::read(value, spelling);
    if (!number) return std::unexpected(number.error());
    return Millis{*number};
  }
};

template <>
struct Codec<TimePoint> {
  static json::value write(TimePoint value) { return value.time_since_epoch().count(); }
  static Result<TimePoint> read(const json::value& value, Spelling spelling) {
    const auto since_epoch = Codec<Millis>::read(value, spelling);
    if (!since_epoch) return std::unexpected(since_epoch.error());
    return TimePoint{*since_epoch};
  }
};

template <>
struct Codec<LeaseEpoch> {
  static json::value write(LeaseEpoch value) { return std::to_underlying(value); }
  static Result<LeaseEpoch> read(const json::value& value, Spelling spelling) {
    const auto number = Codec<std::uint64_t>::read(value, spelling);
    if (!number) return std::unexpected(number.error());
    return LeaseEpoch{*number};
  }
};

template <>
struct Codec<ExecutionState> {
  static json::value write(ExecutionState value) { return json::value(to_string(value)); }
  static Result<ExecutionState> read(const json::value& value, Spelling spelling) {
    const auto text = Codec<std::string>::read(value, spelling);
    if (!text) return std::unexpected(text.error());
    const auto state = execution_state_from(*text);
    if (!state)
      return fail(Errc::invalid_input, fmt::format("there is no execution state '{}'", *text));
    return *state;
  }
};

// Ids: anything with parse(text) and str().
template <class T>
  requires requires(const T& id) {
    { T::parse(id.str()) } -> std::same_as<Result<T>>;
  }
struct Codec<T> {
  static json::value write(const T& value) { return json::value(value.str()); }
  static Result<T> read(const json::value& value, Spelling spelling) {
    auto text = Codec<std::string>::read(value, spelling);
    if (!text) return std::unexpected(text.error());
    return T::parse(std::move(*text));
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static json::value write(const std::vector<T>& values) {
    json::array array;
    for (const auto& value : values) array.push_back(Codec<T>::write(value));
    return array;
  }
  static Result<std::vector<T>> read(const json::value& value, Spelling spelling) {
    if (!value.is_array()) return wrong_type("a list", value);
    std::vector<T> values;
    for (const auto& element : value.get_array()) {
      auto decoded = Codec<T>::read(element, spelling);
      if (!decoded) return std::unexpected(decoded.error());
      values.push_back(std::move(*decoded));
    }
    return values;
  }
};

}  // namespace ff::http
