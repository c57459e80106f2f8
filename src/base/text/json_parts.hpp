// Slices of JSON text.
#pragma once

#include <string_view>

namespace ff {

// The texts of the values in a JSON object or list, one after the other. The text must be valid JSON and outlive
// this.
class JsonParts {
 public:
  explicit JsonParts(std::string_view text);

  // Without the space around it. Empty: there are no more.
  std::string_view next();

 private:
  void skip(std::size_t size) { rest_.remove_prefix(size); }
  void skip_all(std::string_view characters);

  bool is_object_ = false;
  std::string_view rest_;
};

}  // namespace ff
