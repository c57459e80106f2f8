#include "valkey/protocol/reply.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"

namespace ff::valkey {
namespace {

std::string array_text(const std::vector<Reply>& replies) {
  std::string text = "[";
  for (const auto& reply : replies) {
    if (text.size() > 1) text += ", ";
    text += to_text(reply);
  }
  return text + "]";
}

}  // namespace

std::string to_text(const Reply& reply) {
  return std::visit(Overloaded{[](const Nil&) -> std::string { return "(nil)"; },
                               [](std::int64_t number) { return fmt::format("{}", number); },
                               [](const std::string& text) { return fmt::format("\"{}\"", text); },
                               [](const ReplyError& error) { return "(error) " + error.text; },
                               [](const std::vector<Reply>& all) { return array_text(all); }},
                    reply.value);
}

}  // namespace ff::valkey
