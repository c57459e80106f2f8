#include <fmt/format.h>

#include "base/text/redact.hpp"
#include "cli/input/settings_doc.hpp"
#include "cli/output/output.hpp"

namespace ff::cli {
namespace {

constexpr std::array config_columns{FieldColumn{"name"}, FieldColumn{"value"},
                                    FieldColumn{"source"}, FieldColumn{"where"}};

const char* name_of(SettingSource source) {
  switch (source) {
    case SettingSource::flag: return "flag";
    case SettingSource::variable: return "variable";
    case SettingSource::file: return "file";
    case SettingSource::default_value: return "default";
  }
  return "";
}

json::object fields_of(const SettingInfo& info, const SettingValue& value) {
  const bool hidden = info.secret && !value.text.empty();
  return {{"name", info.name},
          {"value", hidden ? "(set)" : without_password(value.text)},
          {"source", name_of(value.source)},
          {"where", value.where},
          {"variable", info.variable},
          {"meaning", info.meaning}};
}

}  // namespace

Run setup_config(Arguments& arguments) {
  auto markdown = std::make_shared<bool>(false);
  arguments.flag("--markdown", *markdown, "Print the table of docs/configuration.md instead");
  for (const auto& row : settings_table()) arguments.settings({row.setting});
  arguments.examples("  ff config\n  FF_URL=http://10.0.0.7:9090 ff config --json");
  return [markdown](const Context& context) -> Result<ExitCode> {
    if (*markdown) {
      fmt::print("{}", settings_doc());
      return ExitCode::ok;
    }
    std::vector<json::object> rows;
    for (const auto& row : settings_table())
      rows.push_back(fields_of(row, context.settings.value(row.setting)));
    print_rows(context, config_columns, rows);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
