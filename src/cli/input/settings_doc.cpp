#include "cli/input/settings_doc.hpp"

#include <fmt/format.h>

#include "cli/input/settings.hpp"

namespace ff::cli {

std::string settings_doc() {
  std::string doc = "| setting | variable | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const auto& setting : settings_table()) {
    const auto name = setting.secret ? "" : fmt::format("`{}`", setting.name);
    const auto value =
        setting.default_value.empty() ? "" : fmt::format("`{}`", setting.default_value);
    const auto old =
        setting.old_variable.empty() ? "" : fmt::format(" (or `{}`)", setting.old_variable);
    doc += fmt::format("| {} | `{}`{} | {} | {} |\n", name, setting.variable, old, value,
                       setting.meaning);
  }
  return doc;
}

}  // namespace ff::cli
