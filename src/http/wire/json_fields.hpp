// JSON objects to structs and back, and their schemas, from one description of the fields.
//
//   void describe(Fields& fields, Renew& renew) {
//     fields.required("id", renew.id);
//     fields.defaulted("lease_ttl_ms", renew.lease_ttl);
//   }
//
// A FieldReader fills a struct from an object through its description, a FieldWriter makes the object, a
// SchemaWriter (schema.hpp) the object's schema. A description is compiled once for all of them, in a .cpp
// file that includes json_codec.hpp.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "base/try.hpp"

namespace ff::http {

namespace json = boost::json;

// Where a value comes from, and so how it is read: in a URL every value is text, in JSON a number is a
// number. What is unknown in a request is refused; in a reply it is left to newer clients.
struct Source {
  enum Kind { json, url, reply };
  Kind kind;
  std::string_view text = {};  // the JSON that the value was parsed from, if it is at hand

  constexpr Source(Kind of_kind, std::string_view of_text = {}) : kind(of_kind), text(of_text) {}
  friend constexpr bool operator==(const Source& source, Kind kind) { return source.kind == kind; }
};

// The fields of a request, by their source.
struct RequestFields {
  json::object url;
  json::object body;
  std::string text = {};  // the JSON of the body
};

// The structs that schemas refer to by name.
using NamedSchemas = std::map<std::string, json::object>;

template <class T>
struct
    Codec;  // write(value) → json::value; read(json::value, Source) → Result<T>; schema(NamedSchemas&)

// The codec of a type, for code that does not know the type.
struct ValueType {
  json::value (*write)(const void* value);
  Result<void> (*read)(const json::value& from, Source source, void* value);
  json::object (*schema)(NamedSchemas& named);
};

template <class T>
inline constexpr ValueType value_type{
    .write = [](const void* value) -> json::value {
      return Codec<T>::write(*static_cast<const T*>(value));
    },
    .read = [](const json::value& from, Source source, void* value) -> Result<void> {
      auto decoded = Codec<T>::read(from, source);
      FF_TRY(decoded);
      *static_cast<T*>(value) = std::move(*decoded);
      return {};
    },
    .schema = &Codec<T>::schema};

// Visits the fields of a struct.
class Fields {
 public:
  enum class Presence { required, defaulted, optional };
  struct Field {
    std::string_view name;
    Presence presence;
    void* value;  // if its presence is optional: the std::optional
    const ValueType& type;
  };

  template <class T>
  void required(std::string_view name, T& value) {
    visit({name, Presence::required, &value, value_type<T>});
  }
  // Absent: `value` stays as it is.
  template <class T>
  void defaulted(std::string_view name, T& value) {
    visit({name, Presence::defaulted, &value, value_type<T>});
  }
  template <class T>
  void optional(std::string_view name, std::optional<T>& value) {
    visit({name, Presence::optional, &value, value_type<std::optional<T>>});
  }
  // Left out while it has its usual value: servers that do not know the field would refuse it.
  template <class T>
  void unless_usual(std::string_view name, T& value, const T& usual) {
    std::optional<T> given;
    if (value != usual) given = value;
    optional(name, given);
    if (given) value = std::move(*given);
  }

  // A field that always has this value.
  virtual void constant(std::string_view name, std::string_view value) = 0;

  // Text as NAME, or any bytes as NAME_base64. Absent: `value` stays as it is.
  virtual void bytes(std::string_view name, std::string& value) = 0;
  virtual void bytes(std::string_view name, std::optional<std::string>& value) = 0;

  // The same, with their type as content_type. They may also be any other JSON value: then they are its JSON
  // text exactly as it was sent, of type application/json unless content_type says otherwise.
  template <class Bytes>
  void typed_bytes(std::string_view name, Bytes& value, std::optional<ContentType>& type) {
    std::string text;
    const bool is_json = json_bytes(name, text);
    if (is_json)
      value = std::move(text);
    else
      bytes(name, value);
    optional("content_type", type);
    if (is_json && !type) type = json_content_type();
  }

  // A time as NAME, or how long from now on as DELAY_NAME.
  virtual void time(std::string_view name, std::string_view delay_name, TimePoint& value) = 0;
  virtual void time(std::string_view name, std::string_view delay_name,
                    std::optional<TimePoint>& value) = 0;

  // The three fields of a fence, all of them; or none, if it is optional.
  virtual void fence(Fence& value) = 0;
  virtual void fence(std::optional<Fence>& value) = 0;

  // An object whose fields belong to the struct around it. Absent: they stay as they are.
  using Describe = std::function<void(Fields&)>;
  virtual void group(std::string_view name, const Describe& describe_fields) = 0;

 protected:
  ~Fields() = default;

 private:
  virtual void visit(const Field& field) = 0;
  // True if the field is a JSON value that is no text, which `text` then gets.
  virtual bool json_bytes(std::string_view name, std::string& text) = 0;
  static ContentType json_content_type();
};

template <class T>
concept Described = requires(Fields& fields, T& value) {
  describe(fields, value);
};

// The fault of a value, seen from outside: `name` is the field that has it, or the element as [N]. Gives
// paths such as executions[3].kind.
Error inside(std::string_view name, Error cause);

// The first thing that is wrong is kept; the rest is then skipped.
class FieldReader final : public Fields {
 public:
  // The objects must outlive it.
  FieldReader(const json::object& url, const json::object& body, Source source)
      : url_(url), body_(body), source_(source) {}

  void constant(std::string_view name, std::string_view value) override;
  void bytes(std::string_view name, std::string& value) override;
  void bytes(std::string_view name, std::optional<std::string>& value) override;
  void time(std::string_view name, std::string_view delay_name, TimePoint& value) override;
  void time(std::string_view name, std::string_view delay_name,
            std::optional<TimePoint>& value) override;
  void fence(Fence& value) override;
  void fence(std::optional<Fence>& value) override;
  void group(std::string_view name, const Describe& describe_fields) override;

  Result<void> finish();

 private:
  struct Found {
    const json::value* value;
    Source source;
  };

  void visit(const Field& field) override;
  bool json_bytes(std::string_view name, std::string& text) override;
  // False if there is no such field.
  bool read(const Field& field);
  bool has(std::string_view name) const;
  bool has_fence() const;
  std::optional<Found> take(std::string_view name);
  std::string_view text_of(json::object::const_iterator member) const;  // of the body
  void refuse(Errc code, std::string_view field, std::string message);
  void refuse(std::string_view field, Error cause);
  void refuse_both(std::string_view name, std::string_view other);

  const json::object& url_;
  const json::object& body_;
  Source source_;  // of the body
  std::vector<const json::key_value_pair*> taken_;
  std::optional<Error> error_;
};

// Only looks at the values.
class FieldWriter final : public Fields {
 public:
  void word(std::string_view name, std::string_view value) { object_[name] = value; }
  void write_bytes(std::string_view name, const std::string& value);
  void constant(std::string_view name, std::string_view value) override { word(name, value); }
  void bytes(std::string_view name, std::string& value) override { write_bytes(name, value); }
  void bytes(std::string_view name, std::optional<std::string>& value) override;
  void time(std::string_view name, std::string_view delay_name, TimePoint& value) override;
  void time(std::string_view name, std::string_view delay_name,
            std::optional<TimePoint>& value) override;
  void fence(Fence& value) override;
  void fence(std::optional<Fence>& value) override;
  void group(std::string_view name, const Describe& describe_fields) override;

  json::object finish() { return std::move(object_); }

 private:
  void visit(const Field& field) override;
  bool json_bytes(std::string_view, std::string&) override { return false; }

  json::object object_;
};

template <Described T>
void write_fields(FieldWriter& fields, const T& value) {
  describe(fields, const_cast<T&>(value));  // a description serves readers, too
}

template <Described T>
json::object to_fields(const T& value) {
  FieldWriter fields;
  write_fields(fields, value);
  return fields.finish();
}

template <Described T>
Result<T> from_fields(const json::object& url, const json::object& body, Source source) {
  T value;
  FieldReader reader(url, body, source);
  describe(reader, value);
  FF_TRY(reader.finish());
  return value;
}

template <Described T>
Result<T> from_fields(const RequestFields& fields) {
  return from_fields<T>(fields.url, fields.body, {Source::json, fields.text});
}

template <Described T>
Result<T> from_reply(const json::object& reply) {
  return from_fields<T>({}, reply, Source::reply);
}

}  // namespace ff::http
