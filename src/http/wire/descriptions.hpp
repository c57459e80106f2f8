// Descriptions of fields, for the OpenAPI document.
#pragma once

#include <string_view>

namespace ff::http {

struct FieldName {
  std::string_view owner;  // the struct it is in
  std::string_view name;
  std::string_view type;  // in JSON
};

// A sentence about a field; empty if its name says enough.
std::string_view description_of(const FieldName& field);

}  // namespace ff::http
