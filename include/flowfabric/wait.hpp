// Waiting for the end of an execution in a coroutine, for longer than one call to the engine may wait.
#pragma once

#include <flowfabric/engine.hpp>

namespace ff {

// The result of an execution, waiting for it up to `timeout`, also while the engine cannot be reached.
// Fails with execution_failed if it ended without one, with execution_not_terminal if it has not ended.
Async<std::string> wait_for_result(Engine& engine, ExecutionId id, Millis timeout);

// The same with the result's content type.
Async<Bytes> wait_for_result_bytes(Engine& engine, ExecutionId id, Millis timeout);

// The same for an execution's end, whichever it is.
Async<ExecutionInfo> wait_for_end(Engine& engine, ExecutionId id, Millis timeout);

// A flow at its end, or as it is when the time is over.
Async<FlowInfo> wait_for_flow(Engine& engine, FlowId id, Millis timeout);

}  // namespace ff
