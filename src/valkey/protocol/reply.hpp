// Replies of a Valkey server, as data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ff::valkey {

struct ReplyError {
  std::string text;  // "ERR …", "NOSCRIPT …": without the '-'
  bool operator==(const ReplyError&) const = default;
};

struct Nil {
  bool operator==(const Nil&) const = default;
};

struct Reply {
  // A status and a bulk string are both text.
  std::variant<Nil, std::int64_t, std::string, ReplyError, std::vector<Reply>> value;

  bool is_nil() const { return std::holds_alternative<Nil>(value); }
  // Null if it is something else.
  const std::string* as_text() const { return std::get_if<std::string>(&value); }
  std::string* as_text() { return std::get_if<std::string>(&value); }
  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&value); }
  const std::vector<Reply>* as_array() const { return std::get_if<std::vector<Reply>>(&value); }
  std::vector<Reply>* as_array() { return std::get_if<std::vector<Reply>>(&value); }
  const ReplyError* as_error() const { return std::get_if<ReplyError>(&value); }

  bool operator==(const Reply& other) const { return value == other.value; }
};

// For a person: (nil), 7, "text", (error) ERR …, [1, "a"].
std::string to_text(const Reply& reply);

}  // namespace ff::valkey
