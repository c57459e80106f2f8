#include "http/wire/json_codec.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "base/text/json_parts.hpp"

namespace ff::http {
namespace {

std::string_view type_name(const json::value& value) {
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

template <class T>
Result<T> parse_number(std::string_view text) {
  T number{};
  const auto end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  const bool below_zero = std::unsigned_integral<T> && text.starts_with('-');
  if (failed == std::errc::result_out_of_range || below_zero)
    return detail::out_of_range<T>(text.starts_with('-'));
  if (failed != std::errc{} || rest != end)
    return fail(Errc::invalid_input,
                fmt::format("must be a whole number, got '{}'", printable(text)));
  return number;
}

template <class T>
Result<T> read_number(const json::value& value, Source source) {
  if (source == Source::url && value.is_string()) return parse_number<T>(value.get_string());
  if (!value.is_int64() && !value.is_uint64()) return wrong_type("a whole number", value);
  boost::system::error_code failed;
  const T number = value.to_number<T>(failed);
  if (failed) return detail::out_of_range<T>(value.is_int64() && value.get_int64() < 0);
  return number;
}

}  // namespace

std::unexpected<Error> wrong_type(std::string_view wanted, const json::value& got) {
  return fail(Errc::invalid_input, fmt::format("must be {}, got {}", wanted, type_name(got)));
}

Result<json::object> read_object(const json::value& value, Source source) {
  if (source == Source::url && value.is_string()) {
    boost::system::error_code malformed;
    auto parsed = json::parse(value.get_string(), malformed);
    if (!malformed && parsed.is_object()) return std::move(parsed.get_object());
    return fail(Errc::invalid_input, "must be a JSON object as text");
  }
  if (!value.is_object()) return wrong_type("an object", value);
  return value.get_object();
}

namespace detail {

Result<std::int64_t> read_signed(const json::value& value, Source source) {
  return read_number<std::int64_t>(value, source);
}
Result<std::uint64_t> read_unsigned(const json::value& value, Source source) {
  return read_number<std::uint64_t>(value, source);
}
std::unexpected<Error> too_small(const std::string& least) {
  return fail(Errc::invalid_input, "must be at least " + least);
}
std::unexpected<Error> too_large(const std::string& most) {
  return fail(Errc::invalid_input, "must be at most " + most);
}

Result<std::size_t> read_name(const json::value& value, Source source,
                              std::span<const std::string_view> names) {
  const auto text = Codec<std::string>::read(value, source);
  FF_TRY(text);
  const auto found = std::ranges::find(names, *text);
  if (found == names.end())
    return fail(Errc::invalid_input, fmt::format("must be one of {}, got '{}'",
                                                 fmt::join(names, ", "), printable(*text)));
  return static_cast<std::size_t>(found - names.begin());
}

json::object name_schema(NamedSchemas& named, const std::string& type,
                         std::span<const std::string_view> names) {
  named[type] = {{"type", "string"}, {"enum", json::array(names.begin(), names.end())}};
  return reference(type);
}

Result<void> read_list(const json::value& value, Source source, const AddElement& add) {
  if (source == Source::url && value.is_string()) {
    std::string_view text = value.get_string();
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      if (auto added = add(json::value(text.substr(0, comma)), source); !added) return added;
      text.remove_prefix(std::min(text.size(), comma + 1));
    }
    return {};
  }
  if (!value.is_array()) return wrong_type("a list", value);
  JsonParts texts(source.text);
  std::size_t index = 0;
  for (const auto& element : value.get_array()) {
    if (auto added = add(element, {source.kind, texts.next()}); !added)
      return std::unexpected(inside(fmt::format("[{}]", index), std::move(added.error())));
    ++index;
  }
  return {};
}

json::object item_schema(json::object schema_of_success) {
  const auto status = [](std::string_view word) {
    return json::object{{"type", "string"}, {"enum", json::array{word}}};
  };
  const json::object ok{
      {"allOf", json::array{std::move(schema_of_success),
                            json::object{{"type", "object"},
                                         {"properties", json::object{{"status", status("ok")}}},
                                         {"required", json::array{"status"}}}}}};
  const json::object error{
      {"type", "object"},
      {"properties", json::object{{"status", status("error")}, {"error", reference("Problem")}}},
      {"required", json::array{"status", "error"}}};
  return {{"oneOf", json::array{ok, error}}};
}

}  // namespace detail

Result<std::string> Codec<std::string>::read(const json::value& value, Source) {
  if (!value.is_string()) return wrong_type("text", value);
  return std::string(value.get_string());
}

Result<bool> Codec<bool>::read(const json::value& value, Source source) {
  // In a URL, the name alone says it: ?graph
  if (source == Source::url && (value == "true" || value == "")) return true;
  if (source == Source::url && value == "false") return false;
  if (!value.is_bool()) return wrong_type("true or false", value);
  return value.get_bool();
}

Result<double> Codec<double>::read(const json::value& value, Source) {
  if (!value.is_number()) return wrong_type("a number", value);
  return value.to_number<double>();
}

Result<Millis> Codec<Millis>::read(const json::value& value, Source source) {
  const auto number = Codec<Millis::rep>::read(value, source);
  FF_TRY(number);
  return Millis{*number};
}

Result<TimePoint> Codec<TimePoint>::read(const json::value& value, Source source) {
  auto since_epoch = Codec<Millis>::read(value, source);
  if (since_epoch) return TimePoint{*since_epoch};
  if (!value.is_string()) return std::unexpected(std::move(since_epoch.error()));
  const auto time = parse_rfc3339(value.get_string());
  if (!time)
    return fail(Errc::invalid_input,
                fmt::format("must be milliseconds since the Unix epoch or a time like "
                            "2027-01-31T08:30:00Z, got '{}'",
                            printable(value.get_string())));
  return *time;
}

Result<LeaseEpoch> Codec<LeaseEpoch>::read(const json::value& value, Source source) {
  const auto number = Codec<std::uint64_t>::read(value, source);
  FF_TRY(number);
  return LeaseEpoch{*number};
}

Result<KeyId> Codec<KeyId>::read(const json::value& value, Source source) {
  auto kid = IdCodec<KeyId>::read(value, source);
  if (!kid) kid.error().code = Errc::invalid_kid;
  return kid;
}

json::object Codec<KeyId>::schema(NamedSchemas&) {
  return {{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]{1,64}$"}};
}

json::value Codec<WaitpointSecret>::write(const WaitpointSecret& secret) {
  return json::value(secret.to_hex());
}

Result<WaitpointSecret> Codec<WaitpointSecret>::read(const json::value& value, Source source) {
  const auto hex = Codec<std::string>::read(value, source);
  FF_TRY(hex);
  return WaitpointSecret::parse(*hex);
}

json::object Codec<WaitpointSecret>::schema(NamedSchemas&) {
  return {{"type", "string"}, {"pattern", "^([0-9A-Fa-f]{2}){16,}$"}, {"writeOnly", true}};
}

json::value Codec<Tags>::write(const Tags& tags) {
  json::object object;
  for (const auto& [key, value] : tags) object[key] = value;
  return object;
}

Result<Tags> Codec<Tags>::read(const json::value& value, Source source) {
  const auto object = read_object(value, source);
  FF_TRY(object);
  Tags tags;
  for (const auto& field : *object) {
    if (!field.value().is_string()) return wrong_type("an object of texts", field.value());
    tags.emplace(field.key(), field.value().get_string());
  }
  return tags;
}

json::object Codec<Tags>::schema(NamedSchemas&) {
  return {{"type", "object"}, {"additionalProperties", type_schema("string")}};
}

json::value Codec<Amounts>::write(const Amounts& amounts) {
  json::object object;
  for (const auto& [dimension, amount] : amounts) object[dimension] = amount;
  return object;
}

Result<Amounts> Codec<Amounts>::read(const json::value& value, Source source) {
  const auto object = read_object(value, source);
  FF_TRY(object);
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

json::object Codec<Amounts>::schema(NamedSchemas& named) {
  return {{"type", "object"}, {"additionalProperties", Codec<std::uint64_t>::schema(named)}};
}

json::value Codec<CapabilitySet>::write(const CapabilitySet& set) {
  return Codec<std::vector<std::string>>::write(set.tokens());
}

Result<CapabilitySet> Codec<CapabilitySet>::read(const json::value& value, Source source) {
  auto tokens = Codec<std::vector<std::string>>::read(value, source);
  FF_TRY(tokens);
  return CapabilitySet::parse(std::move(*tokens));
}

json::object Codec<CapabilitySet>::schema(NamedSchemas& named) {
  return Codec<std::vector<std::string>>::schema(named);
}

}  // namespace ff::http
