// The table of settings in docs/configuration.md.
#pragma once

#include <string>

namespace ff::cli {

std::string settings_doc();

}  // namespace ff::cli
