#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/engine.hpp"

namespace ff::cli {
namespace {

std::string line(std::string_view text) { return printable(text, std::string::npos); }

void print(const Why& why) {
  fmt::print("{}\n", line(why.summary));
  for (const auto& obstacle : why.obstacles) {
    fmt::print("\n{}: {}\n", to_string(obstacle.reason), line(obstacle.detail));
    if (!obstacle.remedy.empty()) fmt::print("  {}\n", line(obstacle.remedy));
  }
}

}  // namespace

Run setup_why(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  arguments.examples("  ff why ID\n  ff why ID --json | jq -r '.obstacles[].remedy'");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto why = ask<ExplainExecution>(context, *request);
    FF_TRY(why);
    if (context.json)
      print_json(http::to_fields(*why));
    else
      print(*why);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
