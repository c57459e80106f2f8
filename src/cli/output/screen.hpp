// Properties of an output: a terminal of some size, or a pipe or file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <unistd.h>

namespace ff::cli {

struct Screen {
  bool terminal = false;
  bool colours = false;
  std::size_t width = std::string_view::npos;  // in characters; npos: any
  std::size_t height = 24;
};

// COLUMNS says how wide it is, or else the terminal itself; without either nothing limits a line.
// Colours only on a terminal, and not with NO_COLOR or TERM=dumb.
Screen screen_of(int file);
inline Screen standard_output() { return screen_of(STDOUT_FILENO); }

enum class Colour : std::uint8_t { none, bold, dim, red, green, yellow, blue };
std::string coloured(std::string_view text, Colour colour);

}  // namespace ff::cli
