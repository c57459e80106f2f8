#include "cli/input/config_file.hpp"

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/input/files.hpp"

namespace ff::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// One line that is neither empty nor a comment; what is wrong with it is said without its place.
Result<std::pair<Setting, std::string>> parse_line(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos)
    return fail(Errc::invalid_input,
                "this line is not a setting; one looks like: url = http://127.0.0.1:9090");
  const auto name = trimmed(line.substr(0, equals));
  const auto found = std::ranges::find(settings_table(), name, &SettingInfo::name);
  if (found == settings_table().end())
    return fail(Errc::invalid_input,
                fmt::format("there is no setting '{}'; ff config shows them all", printable(name)));
  if (found->secret)
    return fail(Errc::invalid_input,
                fmt::format("{} is secret and can only be given as {}", name, found->variable));
  std::string value(unquoted(trimmed(line.substr(equals + 1))));
  if (auto checked = found->check(value); !checked)
    return fail(Errc::invalid_input, fmt::format("{}: {}", name, checked.error().message));
  return std::pair{found->setting, std::move(value)};
}

}  // namespace

Result<std::map<Setting, SettingValue>> parse_config(std::string_view text, std::string_view name) {
  std::map<Setting, SettingValue> values;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;

    const auto where = fmt::format("{}:{}", name, number);
    auto parsed = parse_line(line);
    if (!parsed)
      return fail(Errc::invalid_input, fmt::format("{}: {}", where, parsed.error().message));
    const auto& [setting, value] = *parsed;
    const auto [earlier, is_new] =
        values.emplace(setting, SettingValue{value, SettingSource::file, where});
    if (!is_new)
      return fail(Errc::invalid_input, fmt::format("{}: {} is already set at {}", where,
                                                   info(setting).name, earlier->second.where));
  }
  return values;
}

std::filesystem::path default_config_file(
    const std::function<std::optional<std::string>(const std::string& name)>& variable) {
  const std::filesystem::path inside = "flowfabric/ff.conf";
  std::vector<std::filesystem::path> candidates;
  if (const auto config = variable("XDG_CONFIG_HOME"); config && !config->empty())
    candidates.push_back(*config / inside);
  else if (const auto home = variable("HOME"); home && !home->empty())
    candidates.push_back(std::filesystem::path(*home) / ".config" / inside);
  candidates.push_back("/etc" / inside);
  std::error_code ignored;
  for (const auto& candidate : candidates)
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  return {};
}

Result<std::map<Setting, SettingValue>> read_config(const std::filesystem::path& file) {
  constexpr std::size_t config_bytes_max = 64 * 1024;
  const auto text = read_file(file, config_bytes_max);
  FF_TRY(text);
  return parse_config(*text, file.string());
}

}  // namespace ff::cli
