// Events by the tags of what they are about.
#pragma once

#include <flowfabric/executions.hpp>

#include "store/store.hpp"

namespace ff {

// Keeps the events of executions and flows that have the tag ("key=value") at present.
asio::awaitable<void> keep_tagged(store::Store& store, std::string_view tag,
                                  std::vector<Event>& events);

}  // namespace ff
