#include "cli/output/frame_text.hpp"

#include <array>

#include "base/text/utf8.hpp"

namespace ff::cli {

std::string for_terminal(std::string_view bytes) {
  std::string text;
  for (const char byte : to_valid_utf8(std::string(bytes), bytes.size() * 3)) {
    const auto code = static_cast<unsigned char>(byte);
    const bool is_control = code < 0x20 || code == 0x7f;
    if (is_control && byte != '\n' && byte != '\t')
      text += '?';
    else
      text += byte;
  }
  return text;
}

std::string newest_line(const std::vector<Frame>& frames, std::size_t bytes_max) {
  std::string text;
  for (const auto& frame : frames)
    if (frame.kind == FrameKind::data) text += frame.bytes;
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const auto before = text.find_last_of("\r\n", end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  auto line = text.substr(begin, end + 1 - begin);
  if (line.size() > bytes_max) line = line.substr(0, bytes_max) + "…";
  return for_terminal(line);
}

Colour colour_of_attempt(std::uint32_t attempt) {
  constexpr std::array others{Colour::yellow, Colour::blue, Colour::green};
  return attempt == 0 ? Colour::none : others[(attempt - 1) % others.size()];
}

}  // namespace ff::cli
