// A file of settings:
//
//   # a comment
//   store = embedded:/var/lib/flowfabric
//   listen = 127.0.0.1:9090
//
// A value may stand in double quotes.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string_view>

#include "cli/input/settings.hpp"

namespace ff::cli {

// `name` is how messages call the file. Fails with invalid_input and FILE:LINE for a line that is no
// setting, an unknown or repeated one, a secret, or a wrong value.
Result<std::map<Setting, SettingValue>> parse_config(std::string_view text, std::string_view name);

// The file that is read when none is named: $XDG_CONFIG_HOME/flowfabric/ff.conf (~/.config without that
// variable) or else /etc/flowfabric/ff.conf. Empty if there is neither.
std::filesystem::path default_config_file(
    const std::function<std::optional<std::string>(const std::string& name)>& variable);

Result<std::map<Setting, SettingValue>> read_config(const std::filesystem::path& file);

}  // namespace ff::cli
