#include "http/wire/schema.hpp"

#include <boost/core/demangle.hpp>

#include "http/wire/descriptions.hpp"
#include "http/wire/json_codec.hpp"

namespace ff::http {

json::object reference(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

json::object described(std::string_view owner, std::string_view name, json::object schema) {
  const auto* type = schema.if_contains("type");
  const auto text = description_of(
      {owner, name, type ? std::string_view(type->get_string()) : std::string_view{}});
  if (!text.empty()) schema["description"] = text;
  return schema;
}

std::string name_of(const std::type_info& type) {
  const auto full = boost::core::demangle(type.name());
  return full.substr(full.rfind(':') + 1);
}

json::object named_schema(NamedSchemas& named, const std::string& name,
                          void (*describe_default)(Fields&)) {
  if (named.try_emplace(name).second) {
    SchemaWriter fields(named, name);
    describe_default(fields);
    named[name] = fields.finish();
  }
  return reference(name);
}

void SchemaWriter::visit(const Field& field) {
  auto schema = field.type.schema(named_);
  if (field.presence == Presence::defaulted) {
    auto value = field.type.write(field.value);
    if (!value.is_object()) schema["default"] = std::move(value);
  }
  add(field.name, std::move(schema));
  if (field.presence == Presence::required) required_.emplace_back(field.name);
}

void SchemaWriter::words(std::string_view name, std::span<const std::string_view> texts) {
  add(name, {{"type", "string"}, {"enum", json::array(texts.begin(), texts.end())}});
  required_.emplace_back(name);
}

void SchemaWriter::bytes(std::string_view name, std::string&) {
  add(name, type_schema("string"));
  add(std::string(name) + "_base64", {{"type", "string"}, {"contentEncoding", "base64"}});
}

void SchemaWriter::bytes(std::string_view name, std::optional<std::string>&) {
  std::string value;
  bytes(name, value);
}

bool SchemaWriter::json_bytes(std::string_view name, std::string&) {
  std::string value;
  bytes(name, value);
  add(name, {});  // any value
  return true;
}

void SchemaWriter::time(std::string_view name, std::string_view delay_name,
                        std::optional<TimePoint>&) {
  add(name, Codec<TimePoint>::schema(named_));
  add(delay_name, Codec<Millis>::schema(named_));
}

void SchemaWriter::time(std::string_view name, std::string_view delay_name, TimePoint&) {
  std::optional<TimePoint> value;
  time(name, delay_name, value);
}

void SchemaWriter::fence(Fence& value) {
  required("lease_id", value.lease_id);
  required("lease_epoch", value.lease_epoch);
  required("attempt_id", value.attempt_id);
}

void SchemaWriter::fence(std::optional<Fence>&) {
  std::optional<LeaseId> lease_id;
  std::optional<LeaseEpoch> lease_epoch;
  std::optional<AttemptId> attempt_id;
  optional("lease_id", lease_id);
  optional("lease_epoch", lease_epoch);
  optional("attempt_id", attempt_id);
}

void SchemaWriter::group(std::string_view name, const Describe& describe_fields) {
  SchemaWriter inner(named_, owner_);
  describe_fields(inner);
  add(name, inner.finish());
}

void SchemaWriter::add(std::string_view name, json::object schema) {
  properties_[name] = described(owner_, name, std::move(schema));
}

json::object SchemaWriter::finish() {
  json::object schema{{"type", "object"}, {"properties", std::move(properties_)}};
  if (!required_.empty()) schema["required"] = std::move(required_);
  return schema;
}

}  // namespace ff::http
