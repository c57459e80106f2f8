#include "cli/input/payload.hpp"

#include <cstdio>

#include "base/try.hpp"
#include "cli/input/files.hpp"

namespace ff::cli {
namespace {

constexpr std::size_t token_bytes_max = 4096;

}  // namespace

void PayloadOption::add_to(Arguments& arguments, const char* help, const char* file_help) {
  arguments.positional("payload", text, help, Arguments::Need::optional);
  arguments.option("--file", file, "FILE", file_help);
}

Result<std::string> PayloadOption::read(std::size_t bytes_max) const {
  if (!file.empty() && !text.empty())
    return fail(Errc::invalid_input, "give the payload as an argument or as --file, not both");
  if (!file.empty()) return read_file(file, bytes_max);
  if (text == "-") return read_all(stdin, "standard input", bytes_max);
  return text;
}

Result<std::string> read_token(const std::string& given) {
  Result<std::string> token = given;
  if (given == "-") token = read_all(stdin, "standard input", token_bytes_max);
  if (given.starts_with('@')) token = read_file(given.substr(1), token_bytes_max);
  FF_TRY(token);
  if (const auto fragment = token->find('#'); fragment != std::string::npos)
    token->erase(0, fragment + 1);
  const auto last = token->find_last_not_of(" \r\n\t");
  token->erase(last == std::string::npos ? 0 : last + 1);
  if (token->empty()) return fail(Errc::invalid_input, "the token is empty");
  return token;
}

}  // namespace ff::cli
