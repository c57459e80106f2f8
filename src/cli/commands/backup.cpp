#include <fmt/format.h>

#include "cli/options.hpp"
#include "sdk/blocking.hpp"
#include "store/embedded/backup.hpp"
#include "store/open_store.hpp"

namespace ff::cli {

Run setup_backup(Arguments& arguments) {
  struct Given {
    EngineOption engine;
    std::string name;
  };
  auto given = std::make_shared<Given>();
  arguments.positional("name", given->name, "The name of the backup", Arguments::Need::required);
  given->engine.add_to(arguments);
  arguments.examples("  ff backup monday        (prints the directory, on the server's machine)");

  return [given]() -> Result<ExitCode> {
    const auto name = BackupName::parse(given->name);
    if (!name) return std::unexpected(name.error());
    const auto engine = given->engine.open();
    if (!engine) return std::unexpected(engine.error());
    const auto saved = run_blocking(**engine, Backup{*name});
    if (!saved) return std::unexpected(saved.error());
    fmt::print("{}\n", saved->directory);
    return ExitCode::ok;
  };
}

Run setup_restore(Arguments& arguments) {
  struct Given {
    std::string backup;
    std::string store = "embedded:./ff-data";
  };
  auto given = std::make_shared<Given>();
  arguments.positional("backup", given->backup, "The directory of the backup",
                       Arguments::Need::required);
  arguments.option("--store", given->store, "The new store: embedded:DIR", "FF_STORE");
  arguments.examples("  ff restore ff-data/backups/monday --store embedded:./restored");

  return [given]() -> Result<ExitCode> {
    const auto url = store::parse_embedded(given->store);
    if (!url) return std::unexpected(url.error());
    if (auto restored = embedded::restore_backup(given->backup, url->directory); !restored)
      return std::unexpected(restored.error());
    fmt::print("restored into {}; verify it with: ff check {}\n", url->directory.string(),
               url->directory.string());
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
