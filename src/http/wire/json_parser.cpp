#include "http/wire/json_parser.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>

#include "base/text/utf8.hpp"

namespace ff::http {
namespace {

namespace json = boost::json;
using boost::system::error_code;

// A batch has fewer, even if every execution has all tags and capabilities that it may have.
constexpr std::size_t values_max = 1'000'000;

// As json::parse(), with a limit on the number of values and without silently dropped members.
class ValueBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  ValueBuilder() { stack_.reset(json::make_shared_resource<json::monotonic_resource>()); }

  json::value release() { return stack_.release(); }
  const std::string& refusal() const { return refusal_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
  bool on_number_part(json::string_view, error_code&) { return true; }

  bool on_object_begin(error_code& failed) {
    first_keys_.push_back(keys_.size());
    return count(failed);
  }
  bool on_object_end(std::size_t size, error_code& failed) {
    stack_.push_object(size);
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(first_keys_.back());
    std::sort(first, keys_.end());
    const auto twice = std::adjacent_find(first, keys_.end());
    if (twice != keys_.end())
      return refuse(fmt::format("'{}' is given twice in one object", printable(*twice)), failed);
    keys_.erase(first, keys_.end());
    first_keys_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    key_ += part;
    return true;
  }
  bool on_key(json::string_view rest, std::size_t, error_code&) {
    stack_.push_key(rest);
    key_ += rest;
    keys_.push_back(std::exchange(key_, {}));
    return true;
  }

  bool on_array_begin(error_code& failed) { return count(failed); }
  bool on_array_end(std::size_t size, error_code&) {
    stack_.push_array(size);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view rest, std::size_t, error_code& failed) {
    stack_.push_string(rest);
    return count(failed);
  }
  bool on_int64(std::int64_t number, json::string_view, error_code& failed) {
    stack_.push_int64(number);
    return count(failed);
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code& failed) {
    stack_.push_uint64(number);
    return count(failed);
  }
  bool on_double(double number, json::string_view, error_code& failed) {
    stack_.push_double(number);
    return count(failed);
  }
  bool on_bool(bool value, error_code& failed) {
    stack_.push_bool(value);
    return count(failed);
  }
  bool on_null(error_code& failed) {
    stack_.push_null();
    return count(failed);
  }

 private:
  bool count(error_code& failed) {
    if (++values_ <= values_max) return true;
    return refuse(fmt::format("it has more than {} values", values_max), failed);
  }
  bool refuse(std::string why, error_code& failed) {
    refusal_ = std::move(why);
    failed = make_error_code(boost::system::errc::invalid_argument);
    return false;
  }

  json::value_stack stack_;
  std::size_t values_ = 0;
  std::string key_;                      // the parts of the one being read
  std::vector<std::string> keys_;        // of all objects that have begun and not ended
  std::vector<std::size_t> first_keys_;  // of each of these objects, in `keys_`
  std::string refusal_;
};

}  // namespace

namespace {

// Lines and columns are counted from 1, in bytes; the offset from 0.
std::string place_text(std::string_view before) {
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto newline = before.rfind('\n');
  const auto column = newline == before.npos ? before.size() + 1 : before.size() - newline;
  return fmt::format("line {}, column {} (offset {})", line, column, before.size());
}

}  // namespace

Result<json::object> parse_json_object(std::string_view text, std::string_view name) {
  json::basic_parser<ValueBuilder> parser(json::parse_options{});
  error_code failed;
  const auto parsed = parser.write_some(false, text.data(), text.size(), failed);
  if (!failed && parsed < text.size()) failed = json::make_error_code(json::error::extra_data);
  if (failed) {
    const auto& refusal = parser.handler().refusal();
    return fail(Errc::invalid_json, fmt::format("{} is not valid JSON: {} at {}", printable(name),
                                                refusal.empty() ? failed.message() : refusal,
                                                place_text(text.substr(0, parsed))));
  }
  auto value = parser.handler().release();
  if (!value.is_object())
    return fail(Errc::invalid_json, fmt::format("{} must be a JSON object", printable(name)));
  return std::move(value.get_object());
}

}  // namespace ff::http
