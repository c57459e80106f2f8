#include "store/embedded/tools/backup.hpp"

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/output/output.hpp"
#include "store/open_store.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::cli {

Run setup_backup(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("name", *request, "name", "NAME", "The name of the backup");
  arguments.engine();
  arguments.examples("  ff backup monday        (prints the directory, on the server's machine)");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto saved = ask<Backup>(context, *request);
    FF_TRY(saved);
    if (context.json)
      print_json(http::to_fields(*saved));
    else
      fmt::print("{}\n", saved->directory);
    return ExitCode::ok;
  };
}

Run setup_restore(Arguments& arguments) {
  auto backup = std::make_shared<std::string>();
  arguments.positional("backup", *backup, "The directory of the backup", Arguments::Need::required,
                       "DIR");
  arguments.settings({Setting::store});
  arguments.examples("  ff restore ff-data/backups/monday --store embedded:./restored");
  return [backup](const Context& context) -> Result<ExitCode> {
    const auto& store = context.settings.text(Setting::store);
    if (valkey_store::is_valkey_url(store))
      return fail(Errc::invalid_input,
                  "ff restore is for embedded stores (--store embedded:DIR); a Valkey is restored "
                  "from its own files, as its documentation says");
    const auto url = store::parse_embedded(store);
    FF_TRY(url);
    FF_TRY(embedded::restore_backup(*backup, url->directory));
    const auto directory = url->directory.string();
    if (context.json)
      print_json({{"directory", directory}});
    else
      fmt::print("restored into {0}; verify it with: ff check {0}\n", directory);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
