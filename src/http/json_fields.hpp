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

// The first thing that is wrong is kept; the rest is then skipped.
class FieldReader {
 public:
  enum class Unknown { refuse, ignore };  // a server refuses what it does not know, a client goes on

  FieldReader(json::object object, Spelling spelling) : object_(std::move(object)), spelling_(spelling) {}

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

  Result<void> finish(Unknown unknown);

 private:
  // False if there is no such field (or something was wrong before).
  template <class T>
  bool read(std::string_view name, T& value) {
    const auto* field = take(name);
    if (!field || error_) return error_.has_value();
    auto decoded = Codec<T>::read(*field, spelling_);
    if (decoded)
      value = std::move(*decoded);
    else
      refuse(Errc::invalid_input, name, fmt::format("{}: {}", name, decoded.error().message));
    return true;
  }

  const json::value* take(std::string_view name);
  void refuse(Errc code, std::string_view field, std::string message);

  json::object object_;
  Spelling spelling_;
  std::vector<std::string_view> taken_;
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

template <class T>
Result<T> from_fields(json::object object, Spelling spelling, FieldReader::Unknown unknown) {
  T value;
  FieldReader fields(std::move(object), spelling);
  describe(fields, value);
  if (auto finished = fields.finish(unknown); !finished) return std::unexpected(finished.error());
  return value;
}

template <class T>
json::object to_fields(const T& value) {
  FieldWriter fields;
  describe(fields, value);
  return fields.finish();
}

// A struct inside a struct.
template <class T>
  requires requires(FieldWriter& fields, const T& value) { describe(fields, value); }
struct Codec<T> {
  static json::value write(const T& value) { return to_fields(value); }
  static Result<T> read(const json::value& value, Spelling spelling) {
    if (!value.is_object()) return wrong_type("an object", value);
    return from_fields<T>(value.get_object(), spelling, FieldReader::Unknown::ignore);
  }
};

}  // namespace ff::http
