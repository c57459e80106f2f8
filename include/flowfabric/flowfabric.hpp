// All that a program needs to submit and run executions. Those who use coroutines also include
// <flowfabric/engine.hpp> and <flowfabric/wait.hpp>.
#pragma once

#include <flowfabric/client.hpp>
#include <flowfabric/flow.hpp>
#include <flowfabric/open.hpp>
#include <flowfabric/worker.hpp>
