// JSON Merge Patch (RFC 7396) on JSON text. Scalars and lists stay the text that they were, so that numbers keep all
// their digits; objects are read only as far as patches reach into them. lib/streams/merge_patch.lua does the same.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ff::core {

struct JsonText {
  std::size_t members = 0;  // of all its objects
};

// Checks that a text is one JSON value with at most `depth_max` objects and lists inside each other; the error says
// why it is not.
std::expected<JsonText, std::string> check_json(std::string_view text, std::size_t depth_max);

// A document that patches are merged into. Document and patches are valid JSON and outlive this.
class JsonDocument {
 public:
  explicit JsonDocument(std::string_view text);

  // A patch that is not an object replaces the document, as the RFC says.
  void merge(std::string_view patch) { merge_into(root_, patch); }

  std::string text() const;

 private:
  struct Object;
  struct Value {
    std::string_view text;
    std::shared_ptr<Object> object = {};  // once it was read; then the text counts for nothing
  };
  struct Member {
    std::string_view name;  // with its quotes
    Value value;
    bool is_erased = false;
  };
  struct Object {
    std::vector<Member> members;
    std::unordered_map<std::string, std::size_t> places;  // by the name without escapes

    void put(std::string_view name, std::string_view text);
    Value& at(std::string_view name);
    void erase(std::string_view name);
  };

  static Object read_object(std::string_view text);
  static void merge_into(Value& target, std::string_view patch);
  static void write(const Value& value, std::string& out);

  Value root_;
};

}  // namespace ff::core
