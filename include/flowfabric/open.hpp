// Opening an engine by its URL.
#pragma once

#include <flowfabric/error.hpp>

#include <memory>
#include <string_view>

namespace ff {

class Engine;

// embedded:DIR      the engine in this process, on files in DIR (made if missing)
// http://HOST:PORT  a FlowFabric server
// The engine stops when the last reference goes.
Result<std::shared_ptr<Engine>> open(std::string_view url);

}  // namespace ff
