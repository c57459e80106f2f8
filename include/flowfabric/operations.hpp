// Everything that can be asked of an engine, as data: an operation is a struct that names its reply.
// The same structs travel through C++, HTTP and the store.
#pragma once

#include <flowfabric/audit.hpp>
#include <flowfabric/budgets.hpp>
#include <flowfabric/caller.hpp>
#include <flowfabric/control.hpp>
#include <flowfabric/executions.hpp>
#include <flowfabric/flows.hpp>
#include <flowfabric/lanes.hpp>
#include <flowfabric/open_flows.hpp>
#include <flowfabric/quotas.hpp>
#include <flowfabric/secrets.hpp>
#include <flowfabric/service.hpp>
#include <flowfabric/steps.hpp>
#include <flowfabric/streams.hpp>
#include <flowfabric/suspensions.hpp>
#include <flowfabric/work.hpp>
#include <flowfabric/workers.hpp>
