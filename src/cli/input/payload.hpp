// Bytes that a command sends, and secrets that it must not show.
#pragma once

#include "cli/input/arguments.hpp"

namespace ff::cli {

// The payload of a submit or a signal: an argument, a file, or standard input ("-").
struct PayloadOption {
  std::string text;
  std::string file;

  void add_to(Arguments& arguments, const char* help, const char* file_help);
  Result<std::string> read(std::size_t bytes_max) const;
};

// A waitpoint's token: itself, a link with the token in its fragment, "-" for standard input, or @FILE. Process
// lists show arguments, so the last two are for machines that others use, too.
Result<std::string> read_token(const std::string& given);

}  // namespace ff::cli
