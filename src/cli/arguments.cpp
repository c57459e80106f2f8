#include "cli/arguments.hpp"

#include <charconv>

#include <CLI/CLI.hpp>

namespace ff::cli {
namespace {

// What is wrong with a number of seconds; empty if nothing is.
std::string check_seconds(const std::string& text) {
  double seconds = 0;
  const auto end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, seconds);
  const bool in_range = seconds >= 0 && seconds <= 86'400;  // false for nan
  if (failed == std::errc{} && rest == end && in_range) return "";
  return "'" + text + "' is not a number of seconds from 0 to 86400";
}

}  // namespace

void Arguments::positional(const char* name, std::string& value, const char* help, Need need) {
  app_.add_option(name, value, help)->required(need == Need::required);
}

void Arguments::option(const char* name, std::string& value, const char* help,
                       const char* variable) {
  auto* option = app_.add_option(name, value, help)->capture_default_str();
  if (variable) option->envname(variable);
}

void Arguments::option(const char* name, std::int32_t& value, const char* help) {
  app_.add_option(name, value, help)->capture_default_str();
}

void Arguments::seconds(const char* name, double& value, const char* help) {
  app_.add_option(name, value, help)
      ->check(CLI::Validator(check_seconds, "SECONDS"))
      ->capture_default_str();
}

void Arguments::flag(const char* name, bool& value, const char* help) {
  app_.add_flag(name, value, help);
}

void Arguments::examples(const char* text) { app_.footer(std::string("Examples:\n") + text); }

}  // namespace ff::cli
