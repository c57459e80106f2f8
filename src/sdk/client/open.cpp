#include <flowfabric/open.hpp>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text/redact.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "engine/local_engine.hpp"
#include "http/client/remote_engine.hpp"
#include "store/open_store.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff {

Result<std::shared_ptr<Engine>> open(std::string_view url, OpenOptions options) {
  const bool embedded = url.starts_with("embedded:");
  const bool remote_url = url.starts_with("http:") || url.starts_with("https:");
  if (!embedded && !remote_url && !valkey_store::is_valkey_url(url))
    return fail(
        Errc::invalid_input,
        fmt::format("'{}' is not the URL of an engine; one looks like http://127.0.0.1:9090, "
                    "embedded:./ff-data or valkey://127.0.0.1:6379",
                    printable(without_password(url))));
  if (remote_url) {
    auto remote = http::RemoteEngine::open(url, options);
    FF_TRY(remote);
    return std::move(*remote);
  }
  // On Valkey, servers look after what nobody waits for; in an embedded store there is nobody else.
  const bool looks_after_all = embedded || options.background;
  auto store = store::open_store(
      url, {.clock = std::make_shared<SystemClock>(), .looks_after_all = looks_after_all});
  FF_TRY(store);
  return std::make_shared<LocalEngine>(std::move(*store),
                                       LocalEngineOptions{.scan = looks_after_all});
}

}  // namespace ff
