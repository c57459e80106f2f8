// Whether JSON is what a schema says, as far as the API's own document says it.
#pragma once

#include <string>

#include <fmt/format.h>
#include <boost/json.hpp>

namespace ff::http::test {

namespace json = boost::json;

class SchemaCheck {
 public:
  explicit SchemaCheck(const json::object& document)
      : schemas_(document.at("components").as_object().at("schemas").as_object()) {}

  // Empty if it is; else what is wrong, and where.
  std::string operator()(const json::value& value, const json::object& schema,
                         const std::string& at = "it") const {
    if (const auto* alternatives = schema.if_contains("oneOf")) {
      std::string wrong;
      int right = 0;
      for (const auto& each : alternatives->as_array()) {
        const auto why = (*this)(value, each.as_object(), at);
        if (why.empty()) ++right;
        wrong += why + "; ";
      }
      return right == 1 ? "" : fmt::format("{} is {} of the alternatives: {}", at, right, wrong);
    }
    if (const auto* parts = schema.if_contains("allOf"))
      for (const auto& each : parts->as_array())
        if (auto wrong = (*this)(value, each.as_object(), at); !wrong.empty()) return wrong;
    if (schema.contains("$ref")) return (*this)(value, resolve(schema), at);
    if (const auto* type = schema.if_contains("type"))
      if (!has_type(value, type->as_string()))
        return fmt::format("{} is no {}", at, std::string_view(type->as_string()));
    if (const auto* words = schema.if_contains("enum"))
      if (std::ranges::find(words->as_array(), value) == words->as_array().end())
        return fmt::format("{} is none of the words", at);
    if (const auto* minimum = schema.if_contains("minimum"))
      if (value.to_number<double>() < minimum->to_number<double>())
        return fmt::format("{} is too small", at);
    if (const auto* array = value.if_array()) return check_items(*array, schema, at);
    if (const auto* object = value.if_object()) return check_members(*object, schema, at);
    return "";
  }

  // The schema that a `$ref` points to; a schema without one is returned unchanged.
  const json::object& resolve(const json::object& schema) const {
    const auto* reference = schema.if_contains("$ref");
    if (!reference) return schema;
    const std::string_view name = reference->as_string();
    return schemas_.at(name.substr(name.rfind('/') + 1)).as_object();
  }

 private:
  static bool has_type(const json::value& value, std::string_view type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_bool();
    if (type == "integer") return value.is_int64() || value.is_uint64();
    return type == "number" && value.is_number();
  }
  std::string check_items(const json::array& array, const json::object& schema,
                          const std::string& at) const {
    if (const auto* items = schema.if_contains("items"))
      for (const auto& each : array)
        if (auto wrong = (*this)(each, items->as_object(), at + "[]"); !wrong.empty()) return wrong;
    return "";
  }
  std::string check_members(const json::object& object, const json::object& schema,
                            const std::string& at) const {
    if (const auto* names = schema.if_contains("required"))
      for (const auto& name : names->as_array())
        if (!object.contains(name.as_string()))
          return fmt::format("{} lacks {}", at, std::string_view(name.as_string()));
    const auto* properties = schema.if_contains("properties");
    const auto* others = schema.if_contains("additionalProperties");
    for (const auto& member : object) {
      const auto* known = properties ? properties->as_object().if_contains(member.key()) : nullptr;
      const auto inner = at + "." + std::string(member.key());
      if (!known && others && others->is_bool() && !others->as_bool()) return inner + " is unknown";
      const auto* its = known ? known : others;
      if (!its || !its->is_object()) continue;
      if (auto wrong = (*this)(member.value(), its->as_object(), inner); !wrong.empty())
        return wrong;
    }
    return "";
  }

  const json::object& schemas_;
};

}  // namespace ff::http::test
