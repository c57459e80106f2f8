// The layout of --help.
#pragma once

#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace ff::cli {

// Descriptions stay in their column, however narrow the terminal.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
};

// Newlines in place of blanks, so that no line is longer than `width` unless a word is.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace ff::cli
