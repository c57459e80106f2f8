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
#include "http/problem.hpp"

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
  // `fields` must outlive it.
  FieldReader(const json::object& url, const json::object& body, Source source)
      : url_(url), body_(body), source_(source) {}

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

  // What it is is known by then.
  void constant(std::string_view name, std::string_view) {
    std::string text;
    required(name, text);
  }

  // Text as NAME, or any bytes as NAME_base64. Absent: `value` stays as it is.
  void bytes(std::string_view name, std::string& value);
  void bytes(std::string_view name, std::optional<std::string>& value);

  // The three fields of a fence, all of them; or none, if it is optional.
  void fence(Fence& value);
  void fence(std::optional<Fence>& value);

  // An object whose fields belong to the struct around it. Absent: they stay as they are.
  template <class Describe>
  void group(std::string_view name, Describe describe_fields) {
    const auto field = take(name);
    if (!field || error_) return;
    if (!field->value->is_object())
      return refuse(name, wrong_type("an object", *field->value).error());
    static const json::object nothing;
    FieldReader inner(nothing, field->value->get_object(), source_);
    describe_fields(inner);
    if (auto finished = inner.finish(); !finished) refuse(name, std::move(finished.error()));
  }

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
  bool has_fence() const;
  std::optional<Field> take(std::string_view name);
  void refuse(Errc code, std::string_view field, std::string message);
  void refuse(std::string_view field, Error cause);

  const json::object& url_;
  const json::object& body_;
  Source source_;  // of the body
  std::vector<const json::key_value_pair*> taken_;
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
  void word(std::string_view name, std::string_view value) { object_[name] = value; }
  void constant(std::string_view name, std::string_view value) { word(name, value); }
  void bytes(std::string_view name, const std::string& value);
  void bytes(std::string_view name, const std::optional<std::string>& value) {
    if (value) bytes(name, *value);
  }
  void fence(const Fence& value);
  void fence(const std::optional<Fence>& value) {
    if (value) fence(*value);
  }

  template <class Describe>
  void group(std::string_view name, Describe describe_fields) {
    FieldWriter inner;
    describe_fields(inner);
    object_[name] = inner.finish();
  }

  json::object finish() { return std::move(object_); }

 private:
  json::object object_;
};

template <class T>
Result<T> from_fields(const json::object& url, const json::object& body, Source source) {
  T value;
  FieldReader reader(url, body, source);
  describe(reader, value);
  if (auto finished = reader.finish(); !finished) return std::unexpected(finished.error());
  return value;
}

template <class T>
Result<T> from_fields(const RequestFields& fields) {
  return from_fields<T>(fields.url, fields.body, Source::json);
}

template <class T>
Result<T> from_reply(const json::object& reply) {
  return from_fields<T>({}, reply, Source::reply);
}

template <class T>
json::object to_fields(const T& value) {
  FieldWriter fields;
  describe(fields, value);
  return fields.finish();
}

// A struct inside another.
template <class T>
requires requires(FieldWriter& fields, const T& value) { describe(fields, value); }
struct Codec<T> {
  static json::value write(const T& value) { return to_fields(value); }
  static Result<T> read(const json::value& value, Source source) {
    if (const auto* object = value.if_object()) return from_fields<T>({}, *object, source);
    const auto object = read_object(value, source);
    if (!object) return std::unexpected(object.error());
    return from_fields<T>({}, *object, Source::json);
  }
};

// One item of a batch: {"status": "ok", …}, or {"status": "error", "error": …} with a problem.
template <class T>
struct Codec<Result<T>> {
  static json::value write(const Result<T>& result) {
    FieldWriter fields;
    fields.word("status", result ? "ok" : "error");
    if (result) describe(fields, *result);
    auto object = fields.finish();
    if (!result) object["error"] = to_problem(result.error());
    return object;
  }
  static Result<Result<T>> read(const json::value& value, Source source) {
    const auto* object = value.if_object();
    const auto* error = object ? object->if_contains("error") : nullptr;
    if (!error) {
      auto read = Codec<T>::read(value, source);
      if (!read) return std::unexpected(read.error());
      return Result<T>(std::move(*read));
    }
    auto parsed = error->is_object() ? from_problem(error->get_object()) : std::nullopt;
    if (!parsed) return fail(Errc::invalid_input, "must be a reply or an error");
    return Result<T>(std::unexpected(std::move(*parsed)));
  }
};

}  // namespace ff::http
