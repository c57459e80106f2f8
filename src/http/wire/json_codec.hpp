// Single values in JSON: one codec per type.
#pragma once

#include <flowfabric/operations.hpp>

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/try.hpp"
#include "http/wire/json_fields.hpp"
#include "http/wire/problem.hpp"
#include "http/wire/schema.hpp"

namespace ff::http {

// Messages of codecs begin with "must": the reader puts the field's name in front.
std::unexpected<Error> wrong_type(std::string_view wanted, const json::value& got);

// In a URL, an object is its JSON text.
Result<json::object> read_object(const json::value& value, Source source);

namespace detail {

Result<std::int64_t> read_signed(const json::value& value, Source source);
Result<std::uint64_t> read_unsigned(const json::value& value, Source source);
std::unexpected<Error> too_small(const std::string& least);
std::unexpected<Error> too_large(const std::string& most);
template <class T>
std::unexpected<Error> out_of_range(bool below) {
  using Limits = std::numeric_limits<T>;
  return below ? too_small(std::to_string(Limits::min()))
               : too_large(std::to_string(Limits::max()));
}

// The position of a name in `names`.
Result<std::size_t> read_name(const json::value& value, Source source,
                              std::span<const std::string_view> names);
// A reference to the schema of an enum, which is then among the named ones.
json::object name_schema(NamedSchemas& named, const std::string& type,
                         std::span<const std::string_view> names);

// Calls `add` with each element of a list. In a URL, a list is its elements with commas between them.
using AddElement = std::function<Result<void>(const json::value& element, Source source)>;
Result<void> read_list(const json::value& value, Source source, const AddElement& add);

// One item of a batch.
json::object item_schema(json::object schema_of_success);

}  // namespace detail

template <>
struct Codec<std::string> {
  static json::value write(const std::string& value) { return json::value(value); }
  static Result<std::string> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) { return type_schema("string"); }
};

template <>
struct Codec<bool> {
  static json::value write(bool value) { return value; }
  static Result<bool> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) { return type_schema("boolean"); }
};

template <>
struct Codec<double> {
  static json::value write(double value) { return value; }
  static Result<double> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) { return type_schema("number"); }
};

template <std::signed_integral T>
struct Codec<T> {
  static json::value write(T value) { return value; }
  static Result<T> read(const json::value& value, Source source) {
    const auto number = detail::read_signed(value, source);
    FF_TRY(number);
    if (!std::in_range<T>(*number)) return detail::out_of_range<T>(*number < 0);
    return static_cast<T>(*number);
  }
  static json::object schema(NamedSchemas&) { return type_schema("integer"); }
};

template <std::unsigned_integral T>
struct Codec<T> {
  static json::value write(T value) { return value; }
  static Result<T> read(const json::value& value, Source source) {
    const auto number = detail::read_unsigned(value, source);
    FF_TRY(number);
    if (!std::in_range<T>(*number)) return detail::out_of_range<T>(false);
    return static_cast<T>(*number);
  }
  static json::object schema(NamedSchemas&) { return {{"type", "integer"}, {"minimum", 0}}; }
};

template <>
struct Codec<Millis> {
  static json::value write(Millis value) { return value.count(); }
  static Result<Millis> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) {
    return {{"type", "integer"}, {"description", "milliseconds"}};
  }
};

template <>
struct Codec<TimePoint> {
  static json::value write(TimePoint value) { return value.time_since_epoch().count(); }
  // Milliseconds since the epoch, or text as RFC 3339 has it.
  static Result<TimePoint> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) {
    return {{"type", "integer"}, {"description", "milliseconds since the Unix epoch"}};
  }
};

template <>
struct Codec<LeaseEpoch> {
  static json::value write(LeaseEpoch value) { return std::to_underlying(value); }
  static Result<LeaseEpoch> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&) { return {{"type", "integer"}, {"minimum", 0}}; }
};

template <Named E>
struct Codec<E> {
  static json::value write(E value) { return json::value(to_string(value)); }
  static Result<E> read(const json::value& value, Source source) {
    const auto position = detail::read_name(value, source, Names<E>::values);
    FF_TRY(position);
    return static_cast<E>(*position);
  }
  static json::object schema(NamedSchemas& named) {
    return detail::name_schema(named, name_of(typeid(E)), Names<E>::values);
  }
};

// Ids: anything with parse(text) and str().
template <class T>
struct IdCodec {
  static json::value write(const T& value) { return json::value(value.str()); }
  static Result<T> read(const json::value& value, Source source) {
    auto text = Codec<std::string>::read(value, source);
    FF_TRY(text);
    return T::parse(std::move(*text));
  }
};
template <>
struct Codec<ExecutionId> : IdCodec<ExecutionId> {
  static json::object schema(NamedSchemas&) {
    return {{"type", "string"}, {"pattern", R"(^(\{fp:[0-9]+\}:|[0-9]+-)[0-9a-f-]{36}$)"}};
  }
};
template <>
struct Codec<TraceParent> : IdCodec<TraceParent> {
  static json::object schema(NamedSchemas&) {
    return {{"type", "string"}, {"pattern", "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"}};
  }
};
template <class Tag>
struct Codec<UuidId<Tag>> : IdCodec<UuidId<Tag>> {
  static json::object schema(NamedSchemas&) { return {{"type", "string"}, {"format", "uuid"}}; }
};
template <const TextRule& rule>
struct Codec<TextId<rule>> : IdCodec<TextId<rule>> {
  static json::object schema(NamedSchemas&) {
    return {{"type", "string"}, {"minLength", 1}, {"maxLength", rule.bytes_max}};
  }
};

// An error has a code of its own.
template <>
struct Codec<KeyId> : IdCodec<KeyId> {
  static Result<KeyId> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&);
};
// Hex digits. An error does not repeat them.
template <>
struct Codec<WaitpointSecret> {
  static json::value write(const WaitpointSecret& secret);
  static Result<WaitpointSecret> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&);
};

template <>
struct Codec<Tags> {
  static json::value write(const Tags& tags);
  static Result<Tags> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&);
};

template <>
struct Codec<Amounts> {
  static json::value write(const Amounts& amounts);
  static Result<Amounts> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&);
};

template <>
struct Codec<CapabilitySet> {
  static json::value write(const CapabilitySet& set);
  static Result<CapabilitySet> read(const json::value& value, Source source);
  static json::object schema(NamedSchemas&);
};

template <class T>
struct Codec<std::vector<T>> {
  static json::value write(const std::vector<T>& values) {
    json::array array;
    for (const auto& value : values) array.push_back(Codec<T>::write(value));
    return array;
  }
  static Result<std::vector<T>> read(const json::value& value, Source source) {
    std::vector<T> values;
    const auto add = [&](const json::value& element, Source source_of_element) {
      return value_type<T>.read(element, source_of_element, &values.emplace_back());
    };
    FF_TRY(detail::read_list(value, source, add));
    return values;
  }
  static json::object schema(NamedSchemas& named) {
    return {{"type", "array"}, {"items", Codec<T>::schema(named)}};
  }
};

// Absent: null, which a writer leaves out.
template <class T>
struct Codec<std::optional<T>> {
  static json::value write(const std::optional<T>& value) {
    return value ? Codec<T>::write(*value) : json::value();
  }
  static Result<std::optional<T>> read(const json::value& value, Source source) {
    return Codec<T>::read(value, source);
  }
  static json::object schema(NamedSchemas& named) { return Codec<T>::schema(named); }
};

// A struct inside another.
template <Described T>
struct Codec<T> {
  static json::value write(const T& value) { return to_fields(value); }
  static Result<T> read(const json::value& value, Source source) {
    if (const auto* object = value.if_object()) return from_fields<T>({}, *object, source);
    const auto object = read_object(value, source);
    FF_TRY(object);
    return from_fields<T>({}, *object, {Source::json, value.get_string()});
  }
  static json::object schema(NamedSchemas& named) { return schema_of<T>(named); }
};

// One item of a batch: {"status": "ok", …}, or {"status": "error", "error": …} with a problem.
template <class T>
struct Codec<Result<T>> {
  static json::value write(const Result<T>& result) {
    FieldWriter fields;
    fields.word("status", result ? "ok" : "error");
    if (result) write_fields(fields, *result);
    auto object = fields.finish();
    if (!result) object["error"] = to_problem(result.error());
    return object;
  }
  static Result<Result<T>> read(const json::value& value, Source source) {
    const auto* object = value.if_object();
    const auto* error = object ? object->if_contains("error") : nullptr;
    if (!error) {
      auto read = Codec<T>::read(value, source);
      FF_TRY(read);
      return Result<T>(std::move(*read));
    }
    auto parsed = error->is_object() ? from_problem(error->get_object()) : std::nullopt;
    if (!parsed) return fail(Errc::invalid_input, "must be a reply or an error");
    return Result<T>(std::unexpected(std::move(*parsed)));
  }
  static json::object schema(NamedSchemas& named) {
    return detail::item_schema(Codec<T>::schema(named));
  }
};

}  // namespace ff::http
