#include "cli/engine.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "store/embedded/backup.hpp"
#include "store/open_store.hpp"

namespace ff::cli {

Result<std::shared_ptr<Engine>> open_engine(const Settings& settings) {
  const auto& url = settings.text(Setting::url);
  if (url.starts_with("embedded:")) {
    const auto store = store::parse_embedded(url);
    if (!store) return std::unexpected(store.error());
    std::error_code ignored;
    if (!std::filesystem::exists(embedded::database_directory(store->directory), ignored))
      return fail(Errc::invalid_input,
                  fmt::format("there is no store in {}; ff server --store embedded:DIR makes one",
                              store->directory.string()));
  }
  return ff::open(url);
}

}  // namespace ff::cli
