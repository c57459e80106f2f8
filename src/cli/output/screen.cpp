#include "cli/output/screen.hpp"

#include <cstdlib>

#include <sys/ioctl.h>

#include <fmt/format.h>

#include "cli/input/number.hpp"

namespace ff::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string_view code(Colour colour) {
  switch (colour) {
    case Colour::none: return "0";
    case Colour::bold: return "1";
    case Colour::dim: return "2";
    case Colour::red: return "31";
    case Colour::green: return "32";
    case Colour::yellow: return "33";
    case Colour::blue: return "34";
  }
  return "";
}

}  // namespace

Screen screen_of(int file) {
  Screen screen;
  screen.terminal = ::isatty(file) != 0;
  if (screen.terminal) {
    winsize size{};
    const bool known = ::ioctl(file, TIOCGWINSZ, &size) == 0;
    screen.width = known && size.ws_col > 0 ? size.ws_col : 80;
    if (known && size.ws_row > 0) screen.height = size.ws_row;
    screen.colours = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  }
  constexpr NumberRange widths{1, 100'000};
  if (const auto columns = parse_number(variable("COLUMNS"), widths))
    screen.width = static_cast<std::size_t>(*columns);
  return screen;
}

std::string coloured(std::string_view text, Colour colour) {
  if (colour == Colour::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code(colour), text);
}

}  // namespace ff::cli
