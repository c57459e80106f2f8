#include "valkey/protocol/write_batch.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace ff::valkey {
namespace {

void append_count(std::string& to, char kind, std::size_t count) {
  std::array<char, 24> text;
  text[0] = kind;
  char* end = std::to_chars(text.data() + 1, text.data() + text.size(), count).ptr;
  *end++ = '\r';
  *end++ = '\n';
  to.append(text.data(), end);
}

}  // namespace

void WriteBatch::add(std::span<const std::string> command) {
  const auto before = text_.size();
  append_count(text_, '*', command.size());
  for (const auto& argument : command) {
    append_count(text_, '$', argument.size());
    if (argument.size() <= copied_bytes_max) {
      text_ += argument;
    } else {
      large_.push_back({text_.size(), argument});
      bytes_ += argument.size();
    }
    text_ += "\r\n";
  }
  bytes_ += text_.size() - before;
}

const std::vector<boost::asio::const_buffer>& WriteBatch::buffers() {
  buffers_.clear();
  std::size_t begin = 0;
  for (const auto& large : large_) {
    buffers_.emplace_back(text_.data() + begin, large.text_end - begin);
    buffers_.emplace_back(large.argument.data(), large.argument.size());
    begin = large.text_end;
  }
  buffers_.emplace_back(text_.data() + begin, text_.size() - begin);
  return buffers_;
}

void WriteBatch::clear() {
  if (text_.capacity() > kept_bytes_max) text_ = {};
  text_.clear();
  large_.clear();
  bytes_ = 0;
}

}  // namespace ff::valkey
