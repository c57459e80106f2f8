#include "cli/output/help.hpp"

#include <algorithm>

#include "cli/output/screen.hpp"

namespace ff::cli {

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  constexpr std::size_t page_width = 100;
  constexpr std::size_t text_width_min = 30;
  const auto page = std::min(standard_output().width, page_width);
  const auto names = get_column_width();
  return wrapped(Formatter::make_option_desc(option),
                 std::max(page > names ? page - names : 0, text_width_min));
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  while (text.size() > width) {
    auto blank = text.rfind(' ', width);
    if (blank == std::string_view::npos) blank = text.find(' ');
    if (blank == std::string_view::npos) break;
    lines += std::string(text.substr(0, blank)) + "\n";
    text.remove_prefix(blank + 1);
  }
  return lines + std::string(text);
}

}  // namespace ff::cli
