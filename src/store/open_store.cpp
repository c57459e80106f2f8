#include "store/open_store.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "store/embedded/embedded_store.hpp"

namespace ff::store {

Result<std::unique_ptr<Store>> open_store(std::string_view url,
                                          std::shared_ptr<const Clock> clock) {
  constexpr std::string_view scheme = "embedded:";
  if (url.starts_with(scheme) && url.size() > scheme.size())
    return ff::embedded::EmbeddedStore::open(
        {.directory = url.substr(scheme.size()), .clock = std::move(clock)});
  return fail(Errc::invalid_input,
              fmt::format("'{}' is not the URL of a store; one looks like embedded:./ff-data",
                          printable(url)));
}

}  // namespace ff::store
