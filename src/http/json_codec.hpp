// Single values in JSON: one codec per type.
#pragma once

#include <flowfabric/operations.hpp>

#include <charconv>
#include <concepts>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "base/utf8.hpp"

namespace ff::http {

namespace json = boost::json;

// Where a value comes from, and so how it is read: in a URL every value is text, in JSON a number is a
// number. What is unknown in a request is refused; in a reply it is left to newer clients.
enum class Source { json, url, reply };

template <class T>
struct Codec;  // write(value) → json::value;  read(json::value, Source) → Result<T>

inline std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "true or false";
    case json::kind::int64:
    case json::kind::uint64: return "a whole number";
    case json::kind::double_: return "a fraction";
    case json::kind::string: return "text";
    case json::kind::array: return "a list";
    case json::kind::object: return "an object";
  }
  return "";
}

// Messages of codecs begin with "must": the reader puts the field's name in front.
inline std::unexpected<Error> wrong_type(std::string_view wanted, const json::value& got) {
  return fail(Errc::invalid_input, fmt::format("must be {}, got {}", wanted, type_name(got)));
}

// In a URL, an object is its JSON text.
inline Result<json::object> read_object(const json::value& value, Source source) {
  if (source == Source::url && value.is_string()) {
    boost::system::error_code malformed;
    auto parsed = json::parse(value.get_string(), malformed);
    if (!malformed && parsed.is_object()) return std::move(parsed.get_object());
    return fail(Errc::invalid_input, "must be a JSON object as text");
  }
  if (!value.is_object()) return wrong_type("an object", value);
  return value.get_object();
}

template <>
struct Codec<std::string> {
  static json::value write(const std::string& value) { return json::value(value); }
  static Result<std::string> read(const json::value& value, Source) {
    if (!value.is_string()) return wrong_type("text", value);
    return std::string(value.get_string());
  }
};

template <>
struct Codec<bool> {
  static json::value write(bool value) { return value; }
  static Result<bool> read(const json::value& value, Source source) {
    if (source == Source::url && value == "true") return true;
    if (source == Source::url && value == "false") return false;
    if (!value.is_bool()) return wrong_type("true or false", value);
    return value.get_bool();
  }
};

template <std::integral T>
struct Codec<T> {
  static json::value write(T value) { return value; }
  static Result<T> read(const json::value& value, Source source) {
    if (source == Source::url && value.is_string()) return parse(value.get_string());
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
      return fail(Errc::invalid_input,
                  fmt::format("must be a whole number, got '{}'", printable(text)));
    return number;
  }
  static std::unexpected<Error> too_large() {
    return fail(Errc::invalid_input, "must not be that large or small a number");
  }
};

template <>
struct Codec<Millis> {
  static json::value write(Millis value) { return value.count(); }
  static Result<Millis> read(const json::value& value, Source source) {
    const auto number = Codec<Millis::rep>::read(value, source);
    if (!number) return std::unexpected(number.error());
    return Millis{*number};
  }
};

template <>
struct Codec<TimePoint> {
  static json::value write(TimePoint value) { return value.time_since_epoch().count(); }
  static Result<TimePoint> read(const json::value& value, Source source) {
    const auto since_epoch = Codec<Millis>::read(value, source);
    if (!since_epoch) return std::unexpected(since_epoch.error());
    return TimePoint{*since_epoch};
  }
};

template <>
struct Codec<LeaseEpoch> {
  static json::value write(LeaseEpoch value) { return std::to_underlying(value); }
  static Result<LeaseEpoch> read(const json::value& value, Source source) {
    const auto number = Codec<std::uint64_t>::read(value, source);
    if (!number) return std::unexpected(number.error());
    return LeaseEpoch{*number};
  }
};

template <Named E>
struct Codec<E> {
  static json::value write(E value) { return json::value(to_string(value)); }
  static Result<E> read(const json::value& value, Source source) {
    const auto text = Codec<std::string>::read(value, source);
    if (!text) return std::unexpected(text.error());
    const auto named = from_name<E>(*text);
    if (!named)
      return fail(Errc::invalid_input,
                  fmt::format("must be one of {}, got '{}'", fmt::join(Names<E>::values, ", "),
                              printable(*text)));
    return *named;
  }
};

template <>
struct Codec<double> {
  static json::value write(double value) { return value; }
  static Result<double> read(const json::value& value, Source) {
    if (!value.is_number()) return wrong_type("a number", value);
    return value.to_number<double>();
  }
};

// Ids: anything with parse(text) and str().
template <class T>
requires requires(const T& id) {
  { T::parse(id.str()) } -> std::same_as<Result<T>>;
}
struct Codec<T> {
  static json::value write(const T& value) { return json::value(value.str()); }
  static Result<T> read(const json::value& value, Source source) {
    auto text = Codec<std::string>::read(value, source);
    if (!text) return std::unexpected(text.error());
    return T::parse(std::move(*text));
  }
};

// In a URL: its elements with commas between them.
template <class T>
struct Codec<std::vector<T>> {
  static json::value write(const std::vector<T>& values) {
    json::array array;
    for (const auto& value : values) array.push_back(Codec<T>::write(value));
    return array;
  }
  static Result<std::vector<T>> read(const json::value& value, Source source) {
    if (source == Source::url && value.is_string())
      return read_all(split(value.get_string()), source);
    if (!value.is_array()) return wrong_type("a list", value);
    return read_all(value.get_array(), source);
  }

 private:
  static json::array split(std::string_view text) {
    json::array parts;
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      parts.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(text.size(), comma + 1));
    }
    return parts;
  }
  static Result<std::vector<T>> read_all(const json::array& array, Source source) {
    std::vector<T> values;
    for (const auto& element : array) {
      auto decoded = Codec<T>::read(element, source);
      if (!decoded) return std::unexpected(decoded.error());
      values.push_back(std::move(*decoded));
    }
    return values;
  }
};

template <>
struct Codec<Tags> {
  static json::value write(const Tags& tags) {
    json::object object;
    for (const auto& [key, value] : tags) object[key] = value;
    return object;
  }
  static Result<Tags> read(const json::value& value, Source source) {
    const auto object = read_object(value, source);
    if (!object) return std::unexpected(object.error());
    Tags tags;
    for (const auto& field : *object) {
      if (!field.value().is_string()) return wrong_type("an object of texts", field.value());
      tags.emplace(field.key(), field.value().get_string());
    }
    return tags;
  }
};

template <>
struct Codec<Amounts> {
  static json::value write(const Amounts& amounts) {
    json::object object;
    for (const auto& [dimension, amount] : amounts) object[dimension] = amount;
    return object;
  }
  static Result<Amounts> read(const json::value& value, Source source) {
    const auto object = read_object(value, source);
    if (!object) return std::unexpected(object.error());
    Amounts amounts;
    for (const auto& field : *object) {
      const auto amount = Codec<std::uint64_t>::read(field.value(), source);
      if (!amount)
        return fail(Errc::invalid_input,
                    fmt::format("must be an object of whole numbers, but '{}' {}",
                                printable(field.key()), amount.error().message));
      amounts.emplace(field.key(), *amount);
    }
    return amounts;
  }
};

template <>
struct Codec<CapabilitySet> {
  static json::value write(const CapabilitySet& set) {
    return Codec<std::vector<std::string>>::write(set.tokens());
  }
  static Result<CapabilitySet> read(const json::value& value, Source source) {
    auto tokens = Codec<std::vector<std::string>>::read(value, source);
    if (!tokens) return std::unexpected(tokens.error());
    return CapabilitySet::parse(std::move(*tokens));
  }
};

}  // namespace ff::http
