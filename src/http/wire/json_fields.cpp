#include "http/wire/json_fields.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "base/clock.hpp"
#include "base/text/base64.hpp"
#include "base/text/json_parts.hpp"
#include "base/text/utf8.hpp"
#include "http/wire/json_codec.hpp"

namespace ff::http {
namespace {

std::string base64_name(std::string_view name) { return std::string(name) + "_base64"; }

// A message that begins so goes on with the path of the field.
constexpr std::string_view unknown_field_start = "there is no field '";

// Of a text in JSON, without its quotes.
std::size_t escaped_size(std::string_view text) {
  std::size_t size = text.size();
  for (const char c : text) {
    const bool has_short_escape = c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f';
    if (c == '"' || c == '\\' || has_short_escape)
      size += 1;
    else if (static_cast<unsigned char>(c) < 0x20)
      size += 5;  // \u00XX
  }
  return size;
}

}  // namespace

Error inside(std::string_view name, Error cause) {
  auto& message = cause.message;
  if (message.starts_with(unknown_field_start) && !name.starts_with('['))
    message.insert(unknown_field_start.size(), fmt::format("{}.", name));
  else if (message.starts_with("must"))
    message = fmt::format("{} {}", name, message);
  else if (message.starts_with('['))
    message = fmt::format("{}{}", name, message);
  else if (name.starts_with('['))
    message = fmt::format("{}: {}", name, message);
  const auto inner = std::ranges::find(cause.details, "field", &Error::Detail::name);
  if (inner == cause.details.end())
    cause.details.insert(cause.details.begin(), {"field", std::string(name)});
  else
    inner->value =
        fmt::format("{}{}{}", name, inner->value.starts_with('[') ? "" : ".", inner->value);
  return cause;
}

void FieldReader::visit(const Field& field) {
  if (!read(field) && field.presence == Presence::required)
    refuse(Errc::invalid_input, field.name, fmt::format("{} is missing", field.name));
}

bool FieldReader::read(const Field& field) {
  const auto found = take(field.name);
  if (!found) return false;
  if (error_) return true;
  if (auto decoded = field.type.read(*found->value, found->source, field.value); !decoded)
    refuse(field.name, std::move(decoded.error()));
  return true;
}

// The struct was chosen by the value, so that needs no second look.
void FieldReader::constant(std::string_view name, std::string_view) {
  std::string text;
  required(name, text);
}

void FieldReader::group(std::string_view name, const Describe& describe_fields) {
  const auto found = take(name);
  if (!found || error_) return;
  if (!found->value->is_object())
    return refuse(name, wrong_type("an object", *found->value).error());
  static const json::object nothing;
  FieldReader inner(nothing, found->value->get_object(), found->source);
  describe_fields(inner);
  if (auto finished = inner.finish(); !finished) refuse(name, std::move(finished.error()));
}

bool FieldReader::has(std::string_view name) const {
  const auto* in_body = body_.if_contains(name);
  return url_.contains(name) || (in_body && !in_body->is_null());
}

std::optional<FieldReader::Found> FieldReader::take(std::string_view name) {
  const auto in_url = url_.find(name);
  const auto in_body = body_.find(name);
  const bool is_in_url = in_url != url_.end();
  if (is_in_url) taken_.push_back(&*in_url);
  if (in_body != body_.end()) taken_.push_back(&*in_body);
  const bool is_in_body = in_body != body_.end() && !in_body->value().is_null();
  if (is_in_url && is_in_body && in_url->value() != in_body->value())
    refuse(
        Errc::invalid_input, name,
        fmt::format("{} is given twice, in the URL and in the body, with different values", name));
  if (is_in_url && !is_in_body) return Found{&in_url->value(), Source::url};
  if (!is_in_body) return std::nullopt;
  const bool has_parts = in_body->value().is_structured();
  return Found{&in_body->value(), {source_.kind, has_parts ? text_of(in_body) : ""}};
}

// An object keeps its members in the order of the text; members that were added to it stand behind those.
std::string_view FieldReader::text_of(json::object::const_iterator member) const {
  JsonParts parts(source_.text);
  for (auto before = body_.begin(); before != member; ++before) parts.next();
  return parts.next();
}

void FieldReader::refuse(Errc code, std::string_view field, std::string message) {
  if (!error_) error_ = fail_field(code, field, std::move(message)).error();
}

void FieldReader::refuse(std::string_view field, Error cause) {
  if (!error_) error_ = inside(field, std::move(cause));
}

void FieldReader::refuse_both(std::string_view name, std::string_view other) {
  refuse(Errc::invalid_input, name, fmt::format("give either {} or {}, not both", name, other));
}

void FieldReader::bytes(std::string_view name, std::string& value) {
  const auto encoded_name = base64_name(name);
  if (has(name) && has(encoded_name)) refuse_both(name, encoded_name);
  defaulted(name, value);
  std::optional<std::string> encoded;
  optional(encoded_name, encoded);
  if (!encoded || error_) return;
  auto decoded = base64_decode(*encoded);
  if (decoded)
    value = std::move(*decoded);
  else
    refuse(encoded_name, std::move(decoded.error()));
}

void FieldReader::bytes(std::string_view name, std::optional<std::string>& value) {
  if (!has(name) && !has(base64_name(name))) return;
  bytes(name, value.emplace());
}

ContentType Fields::json_content_type() { return *ContentType::parse("application/json"); }

bool FieldReader::json_bytes(std::string_view name, std::string& text) {
  const auto in_body = body_.find(name);
  if (in_body == body_.end() || in_body->value().is_null() || in_body->value().is_string())
    return false;
  if (source_.text.empty()) return false;  // refused as no text
  static_cast<void>(take(name));
  if (has(base64_name(name))) refuse_both(name, base64_name(name));
  text = text_of(in_body);
  return true;
}

void FieldReader::time(std::string_view name, std::string_view delay_name,
                       std::optional<TimePoint>& value) {
  optional(name, value);
  std::optional<Millis> delay;
  optional(delay_name, delay);
  if (value && delay) refuse_both(name, delay_name);
  if (!delay || error_) return;
  if (*delay < Millis{0} || *delay > limits::duration_max)
    return refuse(Errc::invalid_input, delay_name,
                  fmt::format("{} must be from 0 to {}", delay_name, limits::duration_max.count()));
  value = SystemClock().now() + *delay;
}

void FieldReader::time(std::string_view name, std::string_view delay_name, TimePoint& value) {
  std::optional<TimePoint> given;
  time(name, delay_name, given);
  if (given)
    value = *given;
  else
    refuse(Errc::invalid_input, name,
           fmt::format("{} is missing; give {} or {}", name, name, delay_name));
}

bool FieldReader::has_fence() const {
  return has("lease_id") || has("lease_epoch") || has("attempt_id");
}

void FieldReader::fence(std::optional<Fence>& value) {
  if (has_fence()) fence(value.emplace());
}

void FieldReader::fence(Fence& value) {
  const auto names = {"lease_id", "lease_epoch", "attempt_id"};
  const auto missing = std::ranges::find_if(names, [this](auto name) { return !has(name); });
  if (!has_fence())
    refuse(
        Errc::fence_required, "lease_id",
        "lease_id, lease_epoch and attempt_id are missing; give the ones the claim answered with");
  else if (missing != names.end())
    refuse(Errc::partial_fence_triple, *missing,
           "lease_id, lease_epoch and attempt_id belong together; give all three");
  defaulted("lease_id", value.lease_id);
  defaulted("lease_epoch", value.lease_epoch);
  defaulted("attempt_id", value.attempt_id);
}

Result<void> FieldReader::finish() {
  if (source_ != Source::reply)
    for (const auto* object : {&url_, &body_})
      for (const auto& field : *object)
        if (std::ranges::find(taken_, &field) == taken_.end())
          refuse(Errc::unknown_field, printable(field.key()),
                 fmt::format("{}{}' here; check its spelling", unknown_field_start,
                             printable(field.key())));
  if (error_) return std::unexpected(std::move(*error_));
  return {};
}

void FieldWriter::visit(const Field& field) {
  auto value = field.type.write(field.value);
  if (!value.is_null()) object_[field.name] = std::move(value);
}

void FieldWriter::group(std::string_view name, const Describe& describe_fields) {
  FieldWriter inner;
  describe_fields(inner);
  object_[name] = inner.finish();
}

void FieldWriter::bytes(std::string_view name, std::optional<std::string>& value) {
  if (value) write_bytes(name, *value);
}

void FieldWriter::write_bytes(std::string_view name, const std::string& value) {
  // Text, unless its escapes would make it longer than base64: no payload may outgrow the limit of a
  // request's body.
  if (is_valid_utf8(value) && escaped_size(value) <= base64_encoded_size(value.size()))
    object_[name] = value;
  else
    object_[base64_name(name)] = base64_encode(value);
}

void FieldWriter::time(std::string_view name, std::string_view, TimePoint& value) {
  required(name, value);
}
void FieldWriter::time(std::string_view name, std::string_view, std::optional<TimePoint>& value) {
  optional(name, value);
}

void FieldWriter::fence(std::optional<Fence>& value) {
  if (value) fence(*value);
}

void FieldWriter::fence(Fence& value) {
  required("lease_id", value.lease_id);
  required("lease_epoch", value.lease_epoch);
  required("attempt_id", value.attempt_id);
}

}  // namespace ff::http
