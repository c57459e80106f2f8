// Places among the frames of an attempt, as the published contract writes them.
#pragma once

#include <flowfabric/error.hpp>

#include <compare>
#include <cstdint>
#include <string>

namespace ff {

// Of a frame: `<ms>-<seq>`, larger than those of the frames before.
struct FrameId {
  std::uint64_t ms = 0;   // when it was appended, never earlier than the frame before
  std::uint64_t seq = 0;  // its number in the stream
  auto operator<=>(const FrameId&) const = default;
};

// One of `start` or `-`, `end` or `+`, `<ms>`, `<ms>-<seq>`.
class FrameCursor {
 public:
  FrameCursor() = default;
  static Result<FrameCursor> parse(std::string text);
  static FrameCursor start() { return {"-", {}, {}}; }
  static FrameCursor end() { return {"+", last_id, last_id}; }
  static FrameCursor at(FrameId id);

  const std::string& str() const { return text_; }
  // A time or an id, not one of the two ends.
  bool is_concrete() const { return text_ != "-" && text_ != "+"; }
  // The first and the last id that it stands for.
  FrameId first() const { return first_; }
  FrameId last() const { return last_; }
  bool operator==(const FrameCursor&) const = default;

 private:
  static constexpr FrameId last_id{UINT64_MAX, UINT64_MAX};
  FrameCursor(std::string text, FrameId first, FrameId last)
      : text_(std::move(text)), first_(first), last_(last) {}

  std::string text_ = "-";
  FrameId first_;
  FrameId last_;
};

}  // namespace ff
