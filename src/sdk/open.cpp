#include <flowfabric/open.hpp>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "engine/local_engine.hpp"
#include "http/remote_engine.hpp"
#include "store/open_store.hpp"

namespace ff {

Result<std::shared_ptr<Engine>> open(std::string_view url, OpenOptions options) {
  if (!url.starts_with("embedded:") && !url.starts_with("http:") && !url.starts_with("https:"))
    return fail(
        Errc::invalid_input,
        fmt::format("'{}' is not the URL of an engine; one looks like http://127.0.0.1:9090 or "
                    "embedded:./ff-data",
                    printable(url)));
  if (url.starts_with("http")) {
    auto remote = http::RemoteEngine::open(url, options);
    if (!remote) return std::unexpected(remote.error());
    return std::move(*remote);
  }
  auto store = store::open_store(url, std::make_shared<SystemClock>());
  if (!store) return std::unexpected(store.error());
  return std::make_shared<LocalEngine>(std::move(*store));
}

}  // namespace ff
