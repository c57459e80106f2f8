// Handlers by kind.
#pragma once

#include <flowfabric/worker.hpp>

namespace ff {

using Handlers = std::map<std::string, Handler>;  // "": for all other kinds

// Calls the handler of the task's kind. An exception becomes an outcome, and so does a missing handler: the
// execution is for another worker.
Outcome call_handler(const Handlers& handlers, const std::string& worker, Task& task);

// Of a handler that runs again because signals have satisfied its suspension, and suspends in the same way:
// it would do so for ever.
Outcome no_progress();

}  // namespace ff
