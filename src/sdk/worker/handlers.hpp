// Handlers by kind.
#pragma once

#include <flowfabric/worker.hpp>

namespace ff {

using Handlers = std::map<std::string, Handler>;  // "": for all other kinds

// Calls the handler of the task's kind. An exception becomes an outcome, and so does a missing handler: the
// execution is for another worker.
Outcome call_handler(const Handlers& handlers, const std::string& worker, Task& task);

}  // namespace ff
