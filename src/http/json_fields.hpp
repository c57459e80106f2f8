// JSON objects to structs and back, from one description of the fields.
//
//   template <class V, Is<Renew> T>
//   void describe(V& fields, T& renew) {
//     fields.required("id", renew.id);
//     fields.defaulted("lease_ttl_ms", renew.lease_ttl);
//   }
//
// A FieldReader fills a struct from an object through its description, a FieldWriter makes the object.
#pragma once

#include <flowfabric/error.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "http/json_codec.hpp"

namespace ff::http {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// What a request says, by where it says it.
struct RequestFields {
  json::object url;
  json::object body;
};

// The first thing that is wrong is kept; the rest is then skipped.
class FieldReader {
 public:
  // A request's unknown fields are refused. A reply's are left to newer clients.
  explicit FieldReader(RequestFields fields) : fields_(std::move(fields)), strict_(true) {}
  explicit FieldReader(json::object reply)
      : fields_({.url = {}, .body = std::move(reply)}), strict_(false) {}

  template <class T>
  void required(std::string_view name, T& value) {
    if (!read(name, value)) refuse(Errc::invalid_input, name, fmt::format("{} is missing", name));
  }

  // Absent: `value` stays as it is.
  template <class T>
  void defaulted(std::string_view name, T& value) {
    read(name, value);
  }

  template <class T>
  void optional(std::string_view name, std::optional<T>& value) {
    if (T present; read(name, present)) value = std::move(present);
  }

  // Text as NAME, or any bytes as NAME_base64.
  void bytes(std::string_view name, std::string& value);

  // The three fields of a fence, all of them.
  void fence(Fence& value);

  Result<void> finish();

 private:
  struct Field {
    const json::value* value;
    Source source;
  };

  // False if there is no such field.
  template <class T>
  bool read(std::string_view name, T& value) {
    const auto field = take(name);
    if (!field) return false;
    if (error_) return true;
    auto decoded = Codec<T>::read(*field->value, field->source);
    if (decoded)
      value = std::move(*decoded);
    else
      refuse(name, std::move(decoded.error()));
    return true;
  }

  bool has(std::string_view name) const;
  std::optional<Field> take(std::string_view name);
  void refuse(Errc code, std::string_view field, std::string message);
  void refuse(std::string_view field, Error cause);

  RequestFields fields_;
  bool strict_;
  std::vector<std::string> taken_;
  std::optional<Error> error_;
};

class FieldWriter {
 public:
  template <class T>
  void required(std::string_view name, const T& value) {
    object_[name] = Codec<T>::write(value);
  }
  template <class T>
  void defaulted(std::string_view name, const T& value) {
    required(name, value);
  }
  template <class T>
  void optional(std::string_view name, const std::optional<T>& value) {
    if (value) required(name, *value);
  }
  void bytes(std::string_view name, const std::string& value);
  void fence(const Fence& value);

  json::object finish() { return std::move(object_); }

 private:
  json::object object_;
};

// `fields` are a request's, or the object of a reply.
template <class T, class Fields>
Result<T> from_fields(Fields fields) {
  T value;
  FieldReader reader(std::move(fields));
  describe(reader, value);
  if (auto finished = reader.finish(); !finished) return std::unexpected(finished.error());
  return value;
}

template <class T>
json::object to_fields(const T& value) {
  FieldWriter fields;
  describe(fields, value);
  return fields.finish();
}

// A struct inside a reply.
template <class T>
requires requires(FieldWriter& fields, const T& value) { describe(fields, value); }
struct Codec<T> {
  static json::value write(const T& value) { return to_fields(value); }
  static Result<T> read(const json::value& value, Source) {
    if (!value.is_object()) return wrong_type("an object", value);
    return from_fields<T>(value.get_object());
  }
};

}  // namespace ff::http
