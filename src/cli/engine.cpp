#include "cli/engine.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/input/files.hpp"
#include "store/embedded/tools/backup.hpp"
#include "store/open_store.hpp"

namespace ff::cli {

Result<std::shared_ptr<Engine>> open_engine(const Settings& settings) {
  const auto& url = settings.text(Setting::url);
  if (url.starts_with("embedded:")) {
    const auto store = store::parse_embedded(url);
    FF_TRY(store);
    std::error_code ignored;
    if (!std::filesystem::exists(embedded::database_directory(store->directory), ignored))
      return fail(Errc::invalid_input,
                  fmt::format("there is no store in {}; ff server --store embedded:DIR makes one",
                              store->directory.string()));
  }
  auto options = open_options(settings);
  FF_TRY(options);
  return ff::open(url, std::move(*options));
}

Result<OpenOptions> open_options(const Settings& settings) {
  OpenOptions options{.token = settings.text(Setting::token),
                      .ca_file = settings.text(Setting::ca_file)};
  const auto& token_file = settings.text(Setting::token_file);
  if (options.token.empty() && !token_file.empty()) {
    constexpr std::size_t token_file_bytes_max = 4096;
    auto token = read_file(token_file, token_file_bytes_max);
    FF_TRY(token);
    token->erase(token->find_last_not_of(" \r\n\t") + 1);
    options.token = std::move(*token);
  }
  return options;
}

}  // namespace ff::cli
